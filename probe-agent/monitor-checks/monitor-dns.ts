import { failed, ok, type Outcome } from "#shared/contracts/outcome.ts";
import type { MonitorFault } from "#shared/monitor-checks/define.ts";
import { monitorDns as contract } from "#shared/monitor-checks/monitor-dns.ts";
import type { ParamsOf, ResultOf } from "#shared/tools/define.ts";
import type { dns } from "#shared/tools/dns.ts";
import { followCnames } from "#probe-agent/analysis/dns/cname-chain.ts";
import { printable } from "#probe-agent/analysis/text/printable.ts";
import { answerWith } from "#probe-agent/monitor-checks/answer.ts";
import { examineRecords } from "#probe-agent/monitor-checks/dns/condition.ts";
import { examineName, lookupFailure } from "#probe-agent/monitor-checks/dns/status.ts";
import type { DnsAnswer } from "#probe-agent/port/dns.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import { reportLookup } from "#probe-agent/tools/dns/report.ts";
import { determineStatus } from "#probe-agent/tools/dns/status.ts";
import { implement } from "#probe-agent/tools/implement.ts";

type Params = ParamsOf<typeof contract>;
type Dnssec = NonNullable<ResultOf<typeof dns>["dnssec"]>;

/** What DNSSEC must say about an answer. */
type DnssecRule = "ignore" | "not_bogus" | "secure";

/** Time of the check that is kept for further questions and the answer, in milliseconds. */
const RESERVE_MS = 100;
const MAX_REASON = 300;

/** Looks up one record type at the agent's resolvers. A resolver that does not answer is a failure. */
export const monitorDns = implement(contract, async (net, params) => {
  const { domain, type, dnssec: rule } = params;
  const startedAt = net.monotonic();
  const observedAt = net.now();
  const answer = await net.dns.query({
    name: domain,
    type,
    dnssecOk: rule !== "ignore",
    checkingDisabled: rule === "ignore",
    timeoutMs: Math.max(0, net.remainingMs() - RESERVE_MS),
  });
  const dnssec = needsValidation(rule, answer) ? await validate(net, params, answer) : null;
  const examined = examineAnswer(params, answer, dnssec);
  if (examined.status !== "ok") return examined;
  const finding = { fault: examined.data, responseMs: answer.rttMs ?? 0, httpStatus: null, phases: null };
  return ok(
    await answerWith(finding, params, () => {
      const answers = [{ type, answer }];
      const report = reportLookup({ domain, answers, dnssec, circle: null, server: null, observedAt });
      return Promise.resolve({ ...report, elapsed_ms: Math.round(net.monotonic() - startedAt) });
    }),
  );
});

/** Validates an answer, and an answer without the resolver's validation if the resolver failed. */
function validate(net: Net, { domain, type }: Params, answer: DnsAnswer): Promise<Dnssec> {
  return determineStatus(net, domain, [{ type, answer }], {});
}

function examineAnswer(params: Params, answer: DnsAnswer, dnssec: Dnssec | null): Outcome<MonitorFault | null> {
  const { domain, type, dnssec: rule } = params;
  // Bogus data makes a validating resolver fail, so this verdict explains the failure.
  if (dnssec?.status === "bogus") return examineDnssec(rule, dnssec);
  const failure = lookupFailure(domain, answer);
  if (failure !== null) return failure;
  const absent = examineName(domain, answer);
  if (absent !== null) return ok(absent);
  const chain = followCnames(domain, type, answer.answers);
  if (chain.loop) {
    return ok({ stage: "dns", reason: "alias_loop", message: `the aliases (CNAME) of ${domain} lead in a circle` });
  }
  const signing = dnssec === null ? ok(null) : examineDnssec(rule, dnssec);
  if (signing.status !== "ok" || signing.data !== null) return signing;
  return ok(examineRecords(params, chain.records));
}

/**
 * Reports whether the answer must be validated to decide about the rule. A resolver that validates sets AD, or fails for
 * bogus data; one that does not validate passes signatures on. An answer without signatures cannot be bogus.
 */
function needsValidation(rule: DnssecRule, answer: DnsAnswer): boolean {
  if (rule === "ignore") return false;
  if (answer.status === "SERVFAIL") return true;
  if (answer.flags.ad) return false;
  return rule === "secure" || [...answer.answers, ...answer.authority].some(({ type }) => type === "RRSIG");
}

/** Returns the fault of a verdict against the rule; null if there is none. Fails if there is no verdict. */
function examineDnssec(rule: DnssecRule, { status, reasons }: Dnssec): Outcome<MonitorFault | null> {
  const why = printable(reasons[0] ?? "no reason is known", MAX_REASON);
  if (status === "bogus") {
    return ok({ stage: "dns", reason: "dnssec_bogus", message: `DNSSEC validation fails: ${why}` });
  }
  if (rule !== "secure" || status === "secure") return ok(null);
  if (status === "indeterminate") {
    return failed("dns", "probe", "dnssec_indeterminate", `the probe could not validate the answer: ${why}`);
  }
  return ok({ stage: "dns", reason: "dnssec_insecure", message: `the answer is not protected by DNSSEC: ${why}` });
}
