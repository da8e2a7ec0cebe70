import { ok } from "#shared/contracts/outcome.ts";
import { monitorDomain as contract } from "#shared/monitor-checks/monitor-domain.ts";
import { findRegistrationFault } from "#shared/monitor-checks/registration.ts";
import { answerWith } from "#probe-agent/monitor-checks/answer.ts";
import { implement } from "#probe-agent/tools/implement.ts";
import { whois } from "#probe-agent/tools/whois/whois.ts";

/** Asks the registry about a domain. A registry that does not answer is a failure. */
export const monitorDomain = implement(contract, async (net, params) => {
  const asked = await whois.run(net, { host: params.domain });
  if (asked.status !== "ok") return asked;
  const fault = findRegistrationFault(asked.data, net.now());
  const finding = {
    fault: fault === null ? null : { stage: "response" as const, reason: fault.reason, message: fault.message },
    responseMs: asked.data.elapsed_ms,
    httpStatus: null,
    phases: null,
  };
  // The unprocessed answer is large, and of no use to monitors.
  return ok(
    await answerWith(finding, params, () => Promise.resolve({ ...asked.data, raw: null, raw_truncated: false })),
  );
});
