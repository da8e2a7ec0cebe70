import type { IpVersion } from "#probe-agent/port/address.ts";

/** Smallest MTU that a link can have: RFC 791 section 3.1, RFC 8200 section 5. */
const LEAST_MTU = { 4: 68, 6: 1_280 } as const;
/** MTUs of real links: RFC 1191 section 7.1, and those of tunnels over Ethernet. */
const LADDER = [
  296, 508, 576, 1_006, 1_280, 1_400, 1_420, 1_440, 1_452, 1_460, 1_472, 1_480, 1_492, 1_500, 2_002, 4_352, 8_166,
  9_000, 17_914, 32_000, 65_535,
];
const FIRST_ANSWER_MS = 1_000;
const [LEAST_PATIENCE_MS, MOST_PATIENCE_MS] = [150, 600];

/** Interval of a search in octets. `small` is the size of the packet that tests whether the target answers. */
interface MtuBounds {
  readonly small: number;
  /** 0 until a packet has passed. */
  readonly largestPassed: number;
  readonly smallestFailed: number;
}

/**
 * Returns the size to try next: the middle one of the known MTUs in the interval, otherwise the middle of the interval.
 * Null if the interval is empty.
 */
export function sizeBetween({ small, largestPassed, smallestFailed }: MtuBounds): number | null {
  const rungs = LADDER.filter((rung) => rung > Math.max(largestPassed, small) && rung < smallestFailed);
  if (rungs.length > 0) return rungs[Math.floor(rungs.length / 2)] ?? null;
  return smallestFailed - largestPassed > 1 ? Math.floor((largestPassed + smallestFailed) / 2) : null;
}

/** Reports whether an MTU reported by a router can be true: a link can have it, and it is in the interval. */
export function isPlausibleMtu(version: IpVersion, mtu: number, bounds: Omit<MtuBounds, "small">): boolean {
  return mtu >= LEAST_MTU[version] && mtu < bounds.smallestFailed && mtu > bounds.largestPassed;
}

/**
 * Returns how long to wait for an echo in milliseconds: three round trips within limits, or 1 s while no round trip is
 * known.
 */
export function echoPatienceMs(rttMs: number | null): number {
  return rttMs === null ? FIRST_ANSWER_MS : Math.min(MOST_PATIENCE_MS, Math.max(LEAST_PATIENCE_MS, 3 * rttMs));
}
