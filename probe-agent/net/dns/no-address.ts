import { failed, type Failed } from "#shared/contracts/outcome.ts";
import type { DnsAnswer } from "#probe-agent/port/dns.ts";

// Extended DNS Errors (RFC 8914, IANA registry) that report a fault of the zone or its servers:
// DNSSEC faults (1, 2, 5 to 12, 27), no reachable authority, network error to it, invalid data from it.
const TARGETS_FAULT = new Set([1, 2, 5, 6, 7, 8, 9, 10, 11, 12, 22, 23, 24, 27]);

/**
 * Returns why a name has no address, from the answers to A and AAAA. NXDOMAIN applies to all types, so it decides
 * first. Then missing answers decide, worst first. A name with answers for both types and no address is `no_address`.
 */
export function whyNoAddress(answers: readonly DnsAnswer[]): Failed {
  const having = (status: string): DnsAnswer | undefined => answers.find((answer) => answer.status === status);
  if (having("NXDOMAIN") !== undefined) {
    return failed("dns", "target", "nxdomain", "The name does not exist (NXDOMAIN)");
  }
  if (having("TIMEOUT") !== undefined) {
    return failed("dns", "resolver", "timeout", "The resolver did not answer in time");
  }
  if (answers.some(({ flags }) => flags.tc)) {
    return failed("dns", "resolver", "timeout", "The resolver truncated its answer and did not answer over TCP");
  }
  if (having("REFUSED") !== undefined) {
    return failed("dns", "resolver", "refused", "The resolver refused to answer (REFUSED)");
  }
  const broken = answers.find((answer) => answer.status !== "NOERROR");
  if (broken === undefined) return failed("dns", "target", "no_address", "The name has no address");
  const blamed = broken.ede.find((error) => TARGETS_FAULT.has(error.code));
  const detail = blamed === undefined ? "" : `, extended error ${blamed.code} ${blamed.text}`.trimEnd();
  return failed(
    "dns",
    blamed === undefined ? "resolver" : "target",
    "servfail",
    `The resolver could not answer (${broken.status}${detail})`,
  );
}
