import { createHash } from "node:crypto";
import { unreachableReason } from "#probe-agent/analysis/network/icmp-unreachable.ts";
import type { LossEvidence } from "#probe-agent/port/packets.ts";

/** One hop as far as the path's own figures need it: who answered, null for silence. */
export interface PathHop {
  readonly replies: readonly { readonly ip: string | null }[];
}

/** A hop with what its probes say about loss. */
export interface ProbedHop extends PathHop {
  readonly evidence: LossEvidence;
}

/** Echo requests to a target that answers them. No router limits these: what is lost of them was lost on the path. */
export interface EchoEvidence {
  readonly sampled: number;
  readonly lost: number;
  /** The target answered the trace with ICMP errors, which hosts limit as routers do. */
  readonly isTargetLimited: boolean;
}

const NO_ECHOES: EchoEvidence = { sampled: 0, lost: 0, isTargetLimited: false };

/**
 * Loss on the way to each hop and back, percent: 100 where nothing answered, null where it cannot be determined. Every probe to
 * a hop behind passes here, so that hops behind tell loss from a limit on a router's own answers: loss goes on behind it.
 * `reached`: the last hop is the target.
 */
export function hopLoss(
  hops: readonly ProbedHop[],
  reached: boolean,
  echoes: EchoEvidence = NO_ECHOES,
): readonly (number | null)[] {
  const losses: (number | null)[] = [];
  const behind = { sampled: echoes.sampled, lost: echoes.lost, isUncertain: false };
  const isDecisive = (index: number): boolean =>
    reached && index === hops.length - 1 && !(echoes.isTargetLimited && echoes.sampled > 0);
  for (const [index, { replies, evidence }] of [...hops.entries()].toReversed()) {
    if (replies.every(({ ip }) => ip === null)) {
      losses.push(100);
      continue;
    }
    const own = ownLoss(evidence);
    const loss = isDecisive(index) ? own : lossOnWay(own, evidence.sampled, behind);
    losses.push(loss === null ? null : Math.round(loss * 100_000) / 1_000);
    // A hop that limits its answers says nothing about those before it; one that may have lost some leaves them in doubt.
    if (loss === null && evidence.lost > 0) behind.isUncertain = true;
    if (loss === null || loss !== own) continue;
    behind.sampled += evidence.sampled;
    behind.lost += evidence.lost;
  }
  return losses.toReversed();
}

interface Behind extends Pick<LossEvidence, "sampled" | "lost"> {
  readonly isUncertain: boolean;
}

function ownLoss({ sampled, lost, unclear }: LossEvidence): number | null {
  return sampled === 0 || unclear > 0 ? null : lost / sampled;
}

const DEVIATIONS = 2;
/** A chance that is taken for none, and probes behind for each of the hop's own that it takes to speak of it. */
const CHANCE = 0.05;
const TIMES_BEHIND = 2;

function lossOnWay(own: number | null, sampled: number, behind: Behind): number | null {
  if (own === 0) return 0;
  if (behind.lost === 0 && behind.isUncertain) return null;
  if (own === null) return behind.lost === 0 && behind.sampled >= ENOUGH_BEHIND ? 0 : null;
  if (behind.lost === 0) {
    // What the hop lost would have been lost behind it too, but for a chance.
    const isLimit = behind.sampled >= TIMES_BEHIND * sampled && (1 - own) ** behind.sampled < CHANCE;
    return isLimit ? 0 : null;
  }
  const share = behind.lost / behind.sampled;
  const deviation = Math.sqrt((share * (1 - share)) / sampled);
  return own > share + DEVIATIONS * deviation ? share : own;
}

/** Answers to so many probes that passed here, and not one lost, leave no room for loss that is worth a figure. */
const ENOUGH_BEHIND = 6;

/** A hop with what its answers were. */
interface AnsweredHop {
  readonly hop: number;
  readonly replies: readonly {
    readonly ip: string | null;
    readonly icmpType: number | null;
    readonly icmpCode: number | null;
  }[];
}

/** Who refused to go on, and why. */
interface Refusal {
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
