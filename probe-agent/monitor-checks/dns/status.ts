import { failed, type Failed } from "#shared/contracts/outcome.ts";
import type { MonitorFault } from "#shared/monitor-checks/define.ts";
import { extendedErrorName } from "#probe-agent/analysis/dns/extended-errors.ts";
import type { DnsAnswer } from "#probe-agent/port/dns.ts";

/** Status of an answer that says that the name does not exist; YXDOMAIN: it is too long after a DNAME. */
const ABSENT: Readonly<Record<string, string>> = {
  NXDOMAIN: "the name does not exist",
  YXDOMAIN: "an alias (DNAME) makes the name too long",
};

/** Returns the fault of a name that does not exist; null for other answers. */
export function examineName(domain: string, { status }: DnsAnswer): MonitorFault | null {
  const words = ABSENT[status];
  if (words === undefined) return null;
  return { stage: "dns", reason: status.toLowerCase(), message: `${status} for ${domain}: ${words}` };
}

/** Returns the failure of a look-up without a usable answer; null if there is one. */
export function lookupFailure(domain: string, answer: DnsAnswer): Failed | null {
  const { status, server, unreachable, flags } = answer;
  switch (status) {
    case "NOERROR":
      // An answer that was truncated and could not be fetched over TCP is no answer (RFC 2181 section 9).
      if (!flags.tc) return null;
      return ofResolver("timeout", `resolver ${server} truncated its answer and did not answer over TCP`);
    case "NXDOMAIN":
    case "YXDOMAIN":
      return null;
    case "TIMEOUT":
      return ofResolver(
        "timeout",
        unreachable === null || unreachable === undefined
          ? `resolver ${server} did not answer in time`
          : `resolver ${server} cannot be reached (${unreachable})`,
      );
    case "INVALID_NAME":
      return failed("dns", "target", "invalid_name", `${domain} is not a valid DNS name`);
    case "MALFORMED":
      return ofResolver("malformed", `the answer of resolver ${server} is not a DNS message`);
    default:
      return ofResolver(
        status.toLowerCase(),
        `${status} for ${domain} from resolver ${server}${describeErrors(answer)}`,
      );
  }
}

function ofResolver(reason: string, message: string): Failed {
  return failed("dns", "resolver", reason, message);
}

const MAX_TEXT = 120;

/** Describes the first extended error (RFC 8914); empty if the resolver sent none. */
function describeErrors({ ede: [first] }: DnsAnswer): string {
  if (first === undefined) return "";
  const name = extendedErrorName(first.code) ?? `extended error ${first.code}`;
  return `: ${name}${first.text === "" ? "" : ` (${first.text.slice(0, MAX_TEXT)})`}`;
}
