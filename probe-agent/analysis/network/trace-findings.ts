import { sortFindings, type Finding } from "#shared/findings.ts";
import type { TraceResult } from "#shared/tools/trace-result.ts";

/** Fields of a trace that findings use. */
export type TraceFacts = Pick<TraceResult, "unreachable" | "path_mtu">;

/** Returns findings for a router that refuses to forward packets and for large packets that are lost, worst first. */
export function traceFindings({ unreachable, path_mtu: mtu }: TraceFacts): Finding[] {
  const found: Finding[] = [];
  if (unreachable !== null) {
    const { hop, ip, reason } = unreachable;
    found.push({
      id: "route-refused",
      severity: "critical",
      message: `${ip} at hop ${hop} refuses to forward packets to the target: ${reason.replaceAll("_", " ")}.`,
      how: "Check the route and the firewall rules on this router, or contact the network that operates it.",
      reference: "https://www.rfc-editor.org/rfc/rfc1812#section-5.2.7.1",
      where: `hop ${hop}`,
    });
  }
  if (mtu?.black_hole === true) {
    const size = mtu.bytes === null ? "" : ` Packets of up to ${mtu.bytes} bytes pass.`;
    found.push({
      id: "mtu-black-hole",
      severity: "critical",
      message: `Large packets are lost on the path and no router reports it, so transfers can hang.${size}`,
      how: "Allow ICMP 'fragmentation needed' and 'packet too big' through the firewalls, or clamp the TCP MSS.",
      reference: "https://www.rfc-editor.org/rfc/rfc8899",
      where: "path_mtu",
    });
  }
  return sortFindings(found);
}
