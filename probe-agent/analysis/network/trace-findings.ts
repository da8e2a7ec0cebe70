import { adviseOn, finding, type AdviceTable, type FindingDraft } from "#probe-agent/analysis/text/findings.ts";
import { sortFindings, type Finding } from "#shared/contracts/findings.ts";
import type { TraceResult } from "#shared/tools/trace-result.ts";

/** Fields of a trace that findings use. */
export type TraceFacts = Pick<TraceResult, "unreachable" | "path_mtu">;

/** Severity and advice for each kind of finding. */
const TRACE_ADVICE = {
  "route-refused": {
    severity: "critical",
    how: "Check the route and the firewall rules on this router, or contact the network that operates it.",
    reference: "https://www.rfc-editor.org/rfc/rfc1812#section-5.2.7.1",
  },
  "mtu-black-hole": {
    severity: "critical",
    how: "Allow ICMP 'fragmentation needed' and 'packet too big' through the firewalls, or clamp the TCP MSS.",
    reference: "https://www.rfc-editor.org/rfc/rfc8899",
  },
} as const satisfies AdviceTable<string>;

type Draft = FindingDraft<keyof typeof TRACE_ADVICE>;

/** Returns findings for a router that refuses to forward packets and for large packets that are lost, worst first. */
export function traceFindings({ unreachable, path_mtu: mtu }: TraceFacts): Finding[] {
  const found: Draft[] = [];
  if (unreachable !== null) {
    const { hop, ip, reason } = unreachable;
    found.push(
      finding(
        "route-refused",
        `hop ${hop}`,
        `${ip} at hop ${hop} refuses to forward packets to the target: ${reason.replaceAll("_", " ")}.`,
      ),
    );
  }
  if (mtu?.black_hole === true) {
    const size = mtu.bytes === null ? "" : ` Packets of up to ${mtu.bytes} bytes pass.`;
    found.push(
      finding(
        "mtu-black-hole",
        "path_mtu",
        `Large packets are lost on the path and no router reports it, so transfers can hang.${size}`,
      ),
    );
  }
  return sortFindings(adviseOn(TRACE_ADVICE, found, null));
}
