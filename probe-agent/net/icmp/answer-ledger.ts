/**
 * Records when this process last used up an answer of each router, over all its traces. Routers limit the errors they
 * send, most to one per second and client (RFC 1812 section 4.3.2.8; Linux icmp_ratelimit). Times are monotonic
 * milliseconds at which the probes left.
 */
export interface AnswerLedger {
  /** Records a probe that left at `at` and that took an answer of this address, or will take one. */
  note(ip: string, at: number): void;
  /** Reports whether another probe than the one sent at `at` was recorded in the second before it. */
  isTaken(ips: readonly string[], at: number): boolean;
  /** Returns the last time recorded for any of these addresses, or -Infinity if there is none. */
  lastOf(ips: readonly string[]): number;
}

/** A router that answers once per second answers a probe that leaves this long after the last one, in milliseconds. */
const LIMIT_MS = 1_000;
// A probe of another trace can overtake one that left just before it.
const OVERTAKING_MS = 20;
const MOST_ADDRESSES = 1_024;
const MOST_TIMES = 64;

/** Creates an empty ledger. It keeps only the newest addresses, and the newest times of each. */
export function createAnswerLedger(): AnswerLedger {
  const times = new Map<string, number[]>();
  const of = (ips: readonly string[]): readonly number[] => ips.flatMap((ip) => times.get(ip) ?? []);
  return {
    note(ip, at) {
      const known = times.get(ip) ?? [];
      times.delete(ip);
      times.set(ip, known.includes(at) ? known : [...known, at].slice(-MOST_TIMES));
      const [oldest] = times.keys();
      if (times.size > MOST_ADDRESSES && oldest !== undefined) times.delete(oldest);
    },
    isTaken: (ips, at) => of(ips).some((other) => other !== at && other > at - LIMIT_MS && other < at + OVERTAKING_MS),
    lastOf: (ips) => of(ips).reduce((last, at) => Math.max(last, at), -Infinity),
  };
}
