import type { ResultOf } from "#shared/tools/define.ts";
import type { check } from "#shared/tools/check.ts";
import { toMicroseconds } from "#probe-agent/analysis/statistics.ts";
import type { ConnectAttempt, IpVersion } from "#probe-agent/port/address.ts";
import type { Hop } from "#probe-agent/port/http.ts";

type Families = ResultOf<typeof check>["families"];
type Row = Families["ipv4"];

/** What is known of a host's addresses and of the connections to them. */
interface FamilyFacts extends Pick<Hop, "addresses" | "blocked" | "unanswered" | "attempts"> {
  /** The connection to the family that was not used; null where it was not tried to an end, undefined: not asked for. */
  readonly otherFamily?: ConnectAttempt | null;
}

/** Reads from the connections made whether each family can be connected to. */
export function familiesOf(facts: FamilyFacts): Families {
  return { ipv4: familyOf(4, facts), ipv6: familyOf(6, facts) };
}

function familyOf(
  version: IpVersion,
  { addresses, blocked, unanswered, attempts = [], otherFamily }: FamilyFacts,
): Row {
  const own = [...attempts, ...(otherFamily ? [otherFamily] : [])].filter(({ address }) => address.version === version);
  const stood = own.find(({ failure }) => failure === null);
  if (stood !== undefined) {
    return { status: "ok", reason: null, ip: stood.address.ip, connect_ms: toMicroseconds(stood.ms) };
  }
  // A failure of the target's own tells more than one of this probe.
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
