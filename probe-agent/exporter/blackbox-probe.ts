import { failed } from "#shared/contracts/outcome.ts";
import { blackboxProbe as contract } from "#shared/blackbox/contract.ts";
import { readSentModule } from "#shared/blackbox/read-modules.ts";
import { withHostname } from "#shared/blackbox/with-hostname.ts";
import { implement } from "#probe-agent/tools/implement.ts";

/** Runs a module that the control plane sends. Its options are read again, so that a job cannot name a file of this host. */
export const blackboxProbe = implement(contract, async (net, { options, target, hostname, timeout_ms: timeout }) => {
  const read = readSentModule("module", options);
  const module = "fault" in read ? read.fault : withHostname(read, hostname);
  if (typeof module === "string")
    return failed("request", "probe", "invalid_module", `the probe refused it: ${module}`);
  if (net.blackbox === null) return failed("request", "probe", "incapable", "this probe does not run modules");
  return await net.blackbox.probe({ module, target, timeoutMs: Math.min(timeout, net.remainingMs()) });
});
