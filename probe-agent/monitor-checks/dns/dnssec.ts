import { failed, ok, type Outcome } from "#shared/outcome.ts";
import type { MonitorFault } from "#shared/monitor-checks/define.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { dns } from "#shared/tools/dns.ts";
import { printable } from "#probe-agent/analysis/text/printable.ts";
import type { DnsAnswer } from "#probe-agent/port/dns.ts";

type Dnssec = NonNullable<ResultOf<typeof dns>["dnssec"]>;

/** What DNSSEC must say about an answer. */
type DnssecRule = "ignore" | "not_bogus" | "secure";

/**
 * Reports whether the answer must be validated to decide about the rule. A resolver that validates sets AD, or fails for
 * bogus data; one that does not validate passes signatures on. An answer without signatures cannot be bogus.
 */
export function needsValidation(rule: DnssecRule, answer: DnsAnswer): boolean {
  if (rule === "ignore") return false;
  if (answer.status === "SERVFAIL") return true;
  if (answer.flags.ad) return false;
  return rule === "secure" || [...answer.answers, ...answer.authority].some(({ type }) => type === "RRSIG");
}

const MAX_REASON = 300;

/** Returns the fault of a verdict against the rule; null if there is none. Fails if there is no verdict. */
export function examineDnssec(rule: DnssecRule, { status, reasons }: Dnssec): Outcome<MonitorFault | null> {
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
