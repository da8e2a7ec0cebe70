import type { TraceReply } from "#probe-agent/port/packets.ts";

/** Meaning of an answer for the path: a router on it, the target, or a router that refuses to forward. */
export type Passage = "passing" | "reached" | "unreachable";

/** A probe of a trace. `at` is the time at which it left, in monotonic milliseconds. */
export interface Probe {
  readonly ttl: number;
  readonly at: number;
  /**
   * Whether the probe was sent to distinguish loss from a limit on answers: so late after the last answer that a limit
   * does not suppress its answer.
   */
  readonly isTrial: boolean;
  reply: TraceReply | null;
  passage: Passage | null;
  /** TTL that was left when the answer quoted the probe. Null while there is no answer, or if it quotes nothing. */
  ttlLeft: number | null;
}

const SILENCE: TraceReply = { ip: null, rttMs: null, icmpType: null, icmpCode: null };

/** Returns one reply for each query, or for each probe if fewer were sent: first the answers in order, then silence. */
export function repliesOf(sent: readonly Probe[], queries: number): readonly TraceReply[] {
  const answers = sent.flatMap((probe) => probe.reply ?? []).slice(0, queries);
  const rows = Math.min(queries, sent.length);
  return [...answers, ...Array.from({ length: rows - answers.length }, () => SILENCE)];
}

/** Counts the probes of a hop. A probe in flight does not count, except at a hop that never answered. */
export function countsOf(
  probes: readonly Probe[],
  now: number,
  silentAfterMs: number,
): { readonly sent: number; readonly roundTripsMs: readonly number[] } {
  const roundTripsMs = probes.flatMap(({ reply }) => reply?.rttMs ?? []);
  const silent = probes.filter(({ reply, at }) => reply === null && now >= at + silentAfterMs).length;
  return { sent: roundTripsMs.length === 0 ? probes.length : roundTripsMs.length + silent, roundTripsMs };
}
