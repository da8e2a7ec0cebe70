import { createHash } from "node:crypto";
import { unreachableReason } from "#probe-agent/analysis/unreachable.ts";

/** One hop as far as the path's own figures need it: who answered, null for silence. */
export interface PathHop {
  readonly replies: readonly { readonly ip: string | null }[];
}

/** What was sent to a hop and came back from it. */
export interface HopCounts {
  readonly sent: number;
  readonly roundTripsMs: readonly number[];
}

/**
 * Loss at each hop, percent. Routers answer about themselves less often than they forward: a hop that answered at all
 * cannot have lost more than the best hop behind it did, so its missing replies beyond that are its own rate limit.
 * A hop that never answered shows 100. `counts`, a row a hop, is given where the path's end answers all it gets: then
 * every packet lost counts; else what was asked again and answered in the end was a limit.
 */
export function hopLoss(hops: readonly PathHop[], counts?: readonly HopCounts[]): readonly number[] {
  const losses: number[] = [];
  let least = 100;
  for (const [index, { replies }] of [...hops.entries()].toReversed()) {
    const silent = replies.filter(({ ip }) => ip === null).length;
    const { sent, received } = countOf(counts?.[index]) ?? { sent: replies.length, received: replies.length - silent };
    const own = silent === replies.length || sent === 0 ? 100 : ((sent - received) / sent) * 100;
    if (own < 100) least = Math.min(least, own);
    losses.push(own < 100 ? Math.round(least * 1_000) / 1_000 : 100);
  }
  return losses.toReversed();
}

function countOf(counts: HopCounts | undefined): { readonly sent: number; readonly received: number } | null {
  return counts === undefined ? null : { sent: counts.sent, received: counts.roundTripsMs.length };
}

/** A hop with what its answers were. */
export interface AnsweredHop {
  readonly hop: number;
  readonly replies: readonly {
    readonly ip: string | null;
    readonly icmpType: number | null;
    readonly icmpCode: number | null;
  }[];
}

/** Who refused to go on, and why. */
export interface Refusal {
  readonly hop: number;
  readonly ip: string;
  readonly icmp_type: number;
  readonly icmp_code: number;
  readonly reason: string;
}

/** The router that ended a path which did not reach its target; null where none said so. */
export function refusalOf(version: 4 | 6, hops: readonly AnsweredHop[]): Refusal | null {
  const last = hops.at(-1);
  for (const { ip, icmpType, icmpCode } of last?.replies ?? []) {
    if (last === undefined || ip === null || icmpType === null || icmpCode === null) continue;
    const reason = unreachableReason(version, icmpType, icmpCode);
    if (reason !== null) return { hop: last.hop, ip, icmp_type: icmpType, icmp_code: icmpCode, reason };
  }
  return null;
}

/**
 * A short name of the route: the first 16 hex digits of the SHA-256 of its hops, one a line, each its distinct
 * addresses in text order joined by commas, or * for silence.
 */
export function pathHash(hops: readonly PathHop[]): string {
  const lines = hops.map(({ replies }) => {
    const addresses = new Set(replies.flatMap(({ ip }) => ip ?? []));
    return addresses.size === 0 ? "*" : [...addresses].toSorted().join(",");
  });
  return createHash("sha256").update(lines.join("\n")).digest("hex").slice(0, 16);
}
