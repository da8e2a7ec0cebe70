import type { IpVersion } from "#probe-agent/port/address.ts";
import type { PathMtu } from "#probe-agent/port/packets.ts";

/** Next step: send an IP packet of this many octets, wait until a time, or end. */
type MtuStep =
  | { readonly do: "send"; readonly size: number }
  | { readonly do: "wait"; readonly until: number }
  | { readonly do: "end" };

/** Decides the steps of a search for a path's MTU, without any I/O. Times are monotonic milliseconds. */
export interface MtuPlan {
  next(now: number): MtuStep;
  sent(size: number, at: number): void;
  /** Records that an echo of this size came back. */
  passed(size: number, at: number): void;
  /**
   * Records that a router could not forward this size. `mtu` is the MTU that it reports for its next link, 0 if it
   * reports none.
   */
  refused(size: number, mtu: number, by: string): void;
  /** Records that the local interface cannot send this size. */
  unsendable(size: number): void;
  /** Returns the result so far. */
  verdict(): PathMtu;
}

/** Size of a packet that every path passes. It shows whether the target answers echoes. */
export const SMALL_PACKET = { 4: 84, 6: 104 } as const;
const MOST_PACKETS = 28;
/** A router that has used up its burst of errors sends none for a second. In milliseconds. */
const SECOND_TRY_MS = 1_050;
/** Interval between the two echoes of each size, in milliseconds. Two are sent so that one lost packet decides nothing. */
const TWIN_GAP_MS = 10;
const TRIES = 2;

/** State of a search. Sizes are in octets, times in monotonic milliseconds. */
interface Search {
  readonly version: IpVersion;
  readonly interfaceMtu: number;
  readonly small: number;
  largestPassed: number;
  /** Largest size that the local interface sends. */
  ceiling: number;
  smallestFailed: number;
  /** Size that is currently tried. Equal to largestPassed when the search has ended. */
  candidate: number;
  reporter: string | null;
  /** Whether the candidate was reported by a router. */
  reported: boolean;
  /** Whether a size was lost without an error. */
  vanished: boolean;
  packets: number;
  tries: number;
  lastAt: number;
  smallTries: number;
  smallSentAt: number;
  rttMs: number | null;
}

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

/** Creates a search at and below the MTU of the local interface. */
export function createMtuPlan(version: IpVersion, interfaceMtu: number): MtuPlan {
  const search: Search = {
    version,
    interfaceMtu,
    small: Math.min(SMALL_PACKET[version], interfaceMtu),
    largestPassed: 0,
    ceiling: interfaceMtu,
    smallestFailed: interfaceMtu + 1,
    candidate: interfaceMtu,
    reporter: null,
    reported: false,
    vanished: false,
    packets: 0,
    tries: 0,
    lastAt: -Infinity,
    smallTries: 0,
    smallSentAt: 0,
    rttMs: null,
  };
  return {
    next: (now) => nextStep(search, now),
    sent: (size, at) => recordSent(search, size, at),
    passed: (size, at) => recordPassed(search, size, at),
    refused: (size, mtu, by) => recordRefused(search, size, mtu, by),
    unsendable: (size) => recordUnsendable(search, size),
    verdict: () => verdictOf(search),
  };
}

function nextStep(search: Search, now: number): MtuStep {
  if (search.smallTries === 0) return { do: "send", size: search.small };
  if (isOver(search) || search.packets >= MOST_PACKETS) return { do: "end" };
  const { tries, lastAt, largestPassed } = search;
  if (tries < TRIES) {
    const due = tries === 0 ? now : lastAt + (search.vanished ? TWIN_GAP_MS : SECOND_TRY_MS);
    if (due > now) return { do: "wait", until: due };
    const testsAnswer = search.smallTries <= tries && largestPassed === 0;
    return { do: "send", size: testsAnswer ? search.small : search.candidate };
  }
  const givenUpAt = lastAt + echoPatienceMs(search.rttMs);
  if (now < givenUpAt) return { do: "wait", until: givenUpAt };
  if (largestPassed === 0) return { do: "end" };
  search.vanished = true;
  search.smallestFailed = Math.min(search.smallestFailed, search.candidate);
  tryNext(search, sizeBetween(search), false);
  return isOver(search) ? { do: "end" } : { do: "send", size: search.candidate };
}

function isOver({ candidate, largestPassed }: Search): boolean {
  return candidate <= largestPassed;
}

function tryNext(search: Search, size: number | null, reported: boolean): void {
  search.candidate = size ?? search.largestPassed;
  search.reported = reported;
  search.tries = 0;
}

function recordSent(search: Search, size: number, at: number): void {
  search.packets += 1;
  if (size === search.small) {
    search.smallTries += 1;
    search.smallSentAt = at;
  }
  if (size !== search.candidate) return;
  search.tries += 1;
  search.lastAt = at;
}

function recordPassed(search: Search, size: number, at: number): void {
  if (size === search.small) search.rttMs ??= at - search.smallSentAt;
  search.largestPassed = Math.max(search.largestPassed, size);
  if (!isOver(search) || search.reported || search.largestPassed >= search.ceiling) return;
  tryNext(search, sizeBetween(search), false);
}

function recordRefused(search: Search, size: number, mtu: number, by: string): void {
  // A refusal of a size that has already passed is false or outdated.
  if (size <= search.largestPassed || size > search.interfaceMtu) return;
  search.reporter = by;
  search.smallestFailed = Math.min(search.smallestFailed, size);
  if (search.candidate < search.smallestFailed) return;
  const plausible = isPlausibleMtu(search.version, mtu, search);
  tryNext(search, plausible ? mtu : sizeBetween(search), plausible);
}

function recordUnsendable(search: Search, size: number): void {
  if (size <= search.largestPassed || size >= search.smallestFailed) return;
  search.smallestFailed = size;
  search.ceiling = size - 1;
  tryNext(search, sizeBetween(search), false);
}

function verdictOf(search: Search): PathMtu {
  const { largestPassed, small, ceiling, reporter, reported, vanished } = search;
  // A search that ends early, when only the small packet has passed, has no result.
  const known = largestPassed > 0 && (largestPassed > small || isOver(search));
  return {
    bytes: known ? largestPassed : null,
    limitedBy: reporter,
    blackHole: vanished && largestPassed > 0 && reporter === null,
    method: !known ? null : largestPassed === ceiling ? "interface" : reported ? "reported" : "search",
  };
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
