import type { AnswerLedger } from "#probe-agent/net/icmp/answer-ledger.ts";
import { addressesOf } from "#probe-agent/net/icmp/trace/loss.ts";
import type { TraceTiming } from "#probe-agent/net/icmp/trace/trace-timing.ts";
import type { Passage, Probe } from "#probe-agent/net/icmp/trace/probe.ts";
import type { TraceReply } from "#probe-agent/port/packets.ts";

/** Everything that one trace has sent and received so far. Times are the caller's monotonic milliseconds. */
export interface TraceProgress {
  readonly timing: TraceTiming;
  readonly ledger: AnswerLedger;
  /** Probes by the caller's number. */
  readonly probes: Map<number, Probe>;
  /** Probes by TTL, in the order sent. */
  readonly byHop: readonly Probe[][];
  lastPacketAt: number;
  /** Highest TTL with an answer. One below the first hop while there is none. */
  farthestAnswer: number;
  /** Lowest TTL with which a probe gets to the target, as its answers show. Infinity until then. */
  target: number;
  /** Lowest TTL with which a probe gets to a router that refuses to forward it. Infinity until then. */
  wall: number;
  /** Longest round trip to the end of the path, in milliseconds. */
  endRttMs: number;
  /** First hop that answered one probe and left another unanswered. Trials start there. Infinity until then. */
  firstLoss: number;
}

/** Creates the progress of a trace that has sent nothing. */
export function createTraceProgress(timing: TraceTiming, ledger: AnswerLedger): TraceProgress {
  return {
    timing,
    ledger,
    probes: new Map(),
    byHop: Array.from({ length: timing.maxHops + 1 }, () => []),
    lastPacketAt: -Infinity,
    farthestAnswer: timing.firstHop - 1,
    target: Infinity,
    wall: Infinity,
    endRttMs: 0,
    firstLoss: Infinity,
  };
}

/**
 * Returns the TTL at which the path ends, or Infinity while it is unknown. An answer of the target overrides a router's
 * refusal.
 */
export function pathEnd({ target, wall }: TraceProgress): number {
  return target < Infinity ? target : wall;
}

/** Returns the farthest hop whose answer the trace waits for. */
export function lastHop(progress: TraceProgress): number {
  const { timing, farthestAnswer } = progress;
  return Math.min(pathEnd(progress), timing.maxHops, farthestAnswer + timing.silentHops);
}

/** Returns the farthest hop that can be probed. */
export function frontier(progress: TraceProgress): number {
  const { timing, farthestAnswer } = progress;
  return Math.min(pathEnd(progress), timing.maxHops, farthestAnswer + timing.lookahead);
}

/**
 * Returns the probes with a TTL beyond the end of the path. Empty for hops other than the last one. These probes met
 * that end, so each answer counts as one of the last hop and saves a packet.
 */
export function overshot(progress: TraceProgress, hop: number): readonly Probe[] {
  return hop === pathEnd(progress) ? progress.byHop.slice(hop + 1).flat() : [];
}

/** Returns the probes that count for a hop: its own probes, then the answered ones that overshot. */
export function probesOf(progress: TraceProgress, hop: number): readonly Probe[] {
  return [
    ...(progress.byHop[hop] ?? []),
    ...overshot(progress, hop).filter(({ reply, passage }) => reply !== null && passage !== "passing"),
  ];
}

/** Returns all probes sent to a hop, or past it to the end of the path, in the order sent. */
export function allProbesOf(progress: TraceProgress, hop: number): readonly Probe[] {
  const lost = overshot(progress, hop).filter(({ reply }) => reply === null);
  return [...probesOf(progress, hop), ...lost].toSorted((one, other) => one.at - other.at);
}

/** Records a probe that left. A trial uses up an answer of each router of its hop, so the ledger records it. */
export function recordProbe(
  progress: TraceProgress,
  number: number,
  sent: { readonly ttl: number; readonly at: number; readonly isTrial: boolean },
): void {
  const { ttl, at, isTrial } = sent;
  const probe: Probe = { ttl, at, isTrial, reply: null, passage: null, ttlLeft: null };
  if (isTrial) for (const ip of addressesOf(probesOf(progress, ttl))) progress.ledger.note(ip, at);
  progress.probes.set(number, probe);
  progress.byHop[ttl]?.push(probe);
  progress.lastPacketAt = at;
}

/** Answer to one probe. */
export interface ProbeAnswer {
  readonly reply: Omit<TraceReply, "rttMs">;
  readonly passage: Passage;
  /** TTL that was left when the answer quoted the probe. Null if it quotes nothing. */
  readonly ttlLeft: number | null;
  readonly at: number;
}

/** Records the answer to a probe. Returns false if the probe is unknown or already answered. */
export function recordAnswer(progress: TraceProgress, number: number, answer: ProbeAnswer): boolean {
  const { reply, passage, ttlLeft, at } = answer;
  const probe = progress.probes.get(number);
  if (probe === undefined || probe.reply !== null) return false;
  const rttMs = at - probe.at;
  probe.reply = { ...reply, rttMs };
  probe.passage = passage;
  probe.ttlLeft = ttlLeft;
  if (reply.ip !== null) progress.ledger.note(reply.ip, probe.at);
  progress.farthestAnswer = Math.max(progress.farthestAnswer, probe.ttl);
  if (passage !== "passing") progress.endRttMs = Math.max(progress.endRttMs, rttMs);
  progress.target = distanceOf(progress, "reached");
  progress.wall = distanceOf(progress, "unreachable");
  return true;
}

/**
 * Returns the lowest TTL with which a probe gets to the target or to a router that refuses, as the answers show.
 * Infinity if there are none. The end of the path limits its answers too, and may leave the nearest probe unanswered
 * and answer one that overshot. ICMP errors quote the probe as it arrived (RFC 792), so the TTL that was left shows by
 * how much it overshot. A quote with the whole TTL shows nothing, nor does one that a router's answer contradicts: some
 * hosts and middleboxes change what they quote (Malone and Luckie, "Analysis of ICMP Quotations", PAM 2007).
 */
function distanceOf({ timing, byHop }: TraceProgress, passage: "reached" | "unreachable"): number {
  const passed = byHop.findLastIndex((probes) => probes.some((probe) => probe.passage === "passing"));
  const distances = byHop.flat().flatMap((probe) => {
    if (probe.passage !== passage) return [];
    const { ttl, ttlLeft } = probe;
    if (ttlLeft === null || ttlLeft < 1 || ttlLeft >= ttl) return ttl;
    const distance = Math.max(timing.firstHop, ttl - ttlLeft + 1);
    return distance > passed ? distance : ttl;
  });
  return Math.min(...distances);
}
