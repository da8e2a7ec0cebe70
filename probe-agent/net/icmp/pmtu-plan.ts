import type { IpVersion } from "#probe-agent/port/address.ts";
import type { PathMtu } from "#probe-agent/port/packets.ts";

/** What to do next: send an IP packet of so many octets, wait until then, or end. */
export type MtuStep =
  | { readonly do: "send"; readonly size: number }
  | { readonly do: "wait"; readonly until: number }
  | { readonly do: "end" };

/** The memory and judgement of a search for a path's MTU, without any I/O; times are monotonic milliseconds. */
export interface MtuPlan {
  next(now: number): MtuStep;
  sent(size: number, at: number): void;
  /** An echo of this size came back. */
  passed(size: number, at: number): void;
  /** A router could not send one of this size on; `mtu` is what it says of its next link, 0 where it says nothing. */
  refused(size: number, mtu: number, by: string): void;
  /** The own interface does not take it. */
  unsendable(size: number): void;
  /** The verdict so far. */
  verdict(): PathMtu;
}

/** A packet that every path passes, to hear whether the target answers echoes at all. */
export const SMALL_PACKET = { 4: 84, 6: 104 } as const;
/** What no link may fall below: RFC 791 section 3.1, RFC 8200 section 5. */
const LEAST_MTU = { 4: 68, 6: 1_280 } as const;
/** MTUs of real links: RFC 1191 section 7.1, and those of tunnels over Ethernet. */
const LADDER = [
  296, 508, 576, 1_006, 1_280, 1_400, 1_420, 1_440, 1_452, 1_460, 1_472, 1_480, 1_492, 1_500, 2_002, 4_352, 8_166,
  9_000, 17_914, 32_000, 65_535,
];
const MOST_PACKETS = 28;
/** A router that has used up its burst of errors says nothing for a second. */
const SECOND_TRY_MS = 1_050;
/** Two of each size while searching, so that a lost one decides nothing. */
const TWIN_GAP_MS = 10;
const TRIES = 2;
const FIRST_ANSWER_MS = 1_000;
const [LEAST_PATIENCE_MS, MOST_PATIENCE_MS] = [150, 600];

/** Begins a search below the MTU of the own interface. */
export function createMtuPlan(version: IpVersion, interfaceMtu: number): MtuPlan {
  const small = Math.min(SMALL_PACKET[version], interfaceMtu);
  let largestPassed = 0;
  let ceiling = interfaceMtu;
  let smallestFailed = interfaceMtu + 1;
  let candidate = interfaceMtu;
  let reporter: string | null = null;
  let reported = false;
  let vanished = false;
  let packets = 0;
  let tries = 0;
  let lastAt = -Infinity;
  let smallTries = 0;
  let smallSentAt = 0;
  let rttMs: number | null = null;

  const patienceMs = (): number =>
    rttMs === null ? FIRST_ANSWER_MS : Math.min(MOST_PATIENCE_MS, Math.max(LEAST_PATIENCE_MS, 3 * rttMs));
  const tryNext = (size: number | null, byReport: boolean): void => {
    candidate = size ?? largestPassed;
    reported = byReport;
    tries = 0;
  };
  /** The middle one of the known MTUs in between, else the middle. */
  const between = (): number | null => {
    const rungs = LADDER.filter((rung) => rung > Math.max(largestPassed, small) && rung < smallestFailed);
    if (rungs.length > 0) return rungs[Math.floor(rungs.length / 2)] ?? null;
    return smallestFailed - largestPassed > 1 ? Math.floor((largestPassed + smallestFailed) / 2) : null;
  };
  const found = (): boolean => candidate <= largestPassed;

  return {
    next(now) {
      if (smallTries === 0) return { do: "send", size: small };
      if (found() || packets >= MOST_PACKETS) return { do: "end" };
      if (tries < TRIES) {
        const due = tries === 0 ? now : lastAt + (vanished ? TWIN_GAP_MS : SECOND_TRY_MS);
        if (due > now) return { do: "wait", until: due };
        return { do: "send", size: smallTries <= tries && largestPassed === 0 ? small : candidate };
      }
      const givenUpAt = lastAt + patienceMs();
      if (now < givenUpAt) return { do: "wait", until: givenUpAt };
      if (largestPassed === 0) return { do: "end" };
      vanished = true;
      smallestFailed = Math.min(smallestFailed, candidate);
      tryNext(between(), false);
      return found() ? { do: "end" } : { do: "send", size: candidate };
    },
    sent(size, at) {
      packets += 1;
      if (size === small) {
        smallTries += 1;
        smallSentAt = at;
      }
      if (size !== candidate) return;
      tries += 1;
      lastAt = at;
    },
    passed(size, at) {
      if (size === small) rttMs ??= at - smallSentAt;
      largestPassed = Math.max(largestPassed, size);
      if (!found() || reported || largestPassed >= ceiling) return;
      tryNext(between(), false);
    },
    refused(size, mtu, by) {
      // Below what has passed, it is a lie or the past.
      if (size <= largestPassed || size > interfaceMtu) return;
      reporter = by;
      smallestFailed = Math.min(smallestFailed, size);
      if (candidate < smallestFailed) return;
      const believable = mtu >= LEAST_MTU[version] && mtu < smallestFailed && mtu > largestPassed;
      tryNext(believable ? mtu : between(), believable);
    },
    unsendable(size) {
      if (size <= largestPassed || size >= smallestFailed) return;
      smallestFailed = size;
      ceiling = size - 1;
      tryNext(between(), false);
    },
    verdict() {
      // Cut short before anything but the small packet passed, the search has found nothing.
      const known = largestPassed > 0 && (largestPassed > small || found());
      return {
        bytes: known ? largestPassed : null,
        limitedBy: reporter,
        blackHole: vanished && largestPassed > 0 && reporter === null,
        method: !known ? null : largestPassed === ceiling ? "interface" : reported ? "reported" : "search",
      };
    },
  };
}
