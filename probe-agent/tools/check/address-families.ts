import type { ResultOf } from "#shared/tools/define.ts";
import type { check } from "#shared/tools/check/contract.ts";
import { toMicroseconds } from "#probe-agent/analysis/network/statistics.ts";
import type { ConnectAttempt, IpVersion } from "#probe-agent/port/address.ts";
import type { Hop } from "#probe-agent/port/http.ts";

type Families = ResultOf<typeof check>["families"];
type Row = Families["ipv4"];

/** A host's addresses and the connections to them. */
interface FamilyFacts extends Pick<Hop, "addresses" | "blocked" | "unanswered" | "attempts"> {
  /**
   * Connection to the address family that was not used. null if it did not finish, undefined if it was not requested.
   */
  readonly otherFamily?: ConnectAttempt | null;
}

/** Reports whether each address family can be connected to, according to the connections made. */
export function reportFamilies(facts: FamilyFacts): Families {
  return { ipv4: reportFamily(4, facts), ipv6: reportFamily(6, facts) };
}

function reportFamily(
  version: IpVersion,
  { addresses, blocked, unanswered, attempts = [], otherFamily }: FamilyFacts,
): Row {
  const own = [...attempts, ...(otherFamily ? [otherFamily] : [])].filter(({ address }) => address.version === version);
  const connected = own.find(({ failure }) => failure === null);
  if (connected !== undefined) {
    return { status: "ok", reason: null, ip: connected.address.ip, connect_ms: toMicroseconds(connected.ms) };
  }
  // A failure of the target says more about the host than a failure of the probe.
  const failed = own.find(({ failure }) => failure?.source !== "probe") ?? own[0];
  if (failed?.failure) {
    const { source, reason } = failed.failure;
    if (source !== "probe") return row("failed", reason, failed.address.ip);
    return row("not_tried", reason === "unreachable" ? "no_route" : reason, failed.address.ip);
  }
  const isOf = (address: { readonly version: IpVersion }) => address.version === version;
  const untried = addresses.find(isOf);
  if (untried !== undefined)
    return row("not_tried", otherFamily === undefined ? "not_asked" : "out_of_time", untried.ip);
  const refused = blocked.find(isOf);
  if (refused !== undefined) return row("not_tried", "target_not_allowed", refused.ip);
  return unanswered?.includes(version) === true ? row("not_tried", "dns_failed", null) : row("absent", null, null);
}

function row(status: Row["status"], reason: string | null, ip: string | null): Row {
  return { status, reason, ip, connect_ms: null };
}
