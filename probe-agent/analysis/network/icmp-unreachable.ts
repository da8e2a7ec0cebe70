// Names of the reasons why a router or host does not deliver a packet, by code (IANA, ICMP and ICMPv6 parameters).
const UNREACHABLE_V4: Readonly<Record<number, string>> = {
  0: "net_unreachable",
  1: "host_unreachable",
  2: "protocol_unreachable",
  3: "port_unreachable",
  4: "fragmentation_needed",
  5: "source_route_failed",
  6: "net_unknown",
  7: "host_unknown",
  8: "source_host_isolated",
  9: "net_prohibited",
  10: "host_prohibited",
  11: "net_unreachable_for_tos",
  12: "host_unreachable_for_tos",
  13: "admin_prohibited",
  14: "host_precedence_violation",
  15: "precedence_cutoff",
};
const UNREACHABLE_V6: Readonly<Record<number, string>> = {
  0: "no_route",
  1: "admin_prohibited",
  2: "beyond_scope",
  3: "host_unreachable",
  4: "port_unreachable",
  5: "source_address_policy",
  6: "reject_route",
  7: "source_route_failed",
  8: "headers_too_long",
  9: "policy_rejected",
};

/** Returns the name of an ICMP error, "other" for an unnamed code, or null if the message is not such an error. */
export function unreachableReason(version: 4 | 6, type: number, code: number): string | null {
  if (version === 4) {
    if (type === 3) return UNREACHABLE_V4[code] ?? "other";
    return type === 12 ? "parameter_problem" : null;
  }
  if (type === 1) return UNREACHABLE_V6[code] ?? "other";
  if (type === 2) return "packet_too_big";
  return type === 4 ? "parameter_problem" : null;
}
