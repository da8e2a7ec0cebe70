import { type FreshLocation, isFresh, type KnownObservation } from "#control-plane/outages/state/locations.ts";
import type {
  Observation,
  Status,
  StateSettings,
  MonitorState,
  SoftState,
  LocationState,
} from "#control-plane/outages/state/state.ts";
import type { FailingLocation, StateEvent } from "#control-plane/outages/state/events.ts";

/** The votes of the fresh locations. A location whose newest verdict is not confirmed votes for neither. */
export interface Votes {
  /** Number of fresh locations. */
  readonly fresh: number;
  readonly down: readonly FreshLocation[];
  readonly up: readonly FreshLocation[];
}

/** Several configured locations: fewer fresh ones than this are no evidence. */
const MIN_FRESH = 2;

/** Counts the votes. */
export function castVotes(fresh: readonly FreshLocation[], { failures, successes }: Confirmation): Votes {
  return {
    fresh: fresh.length,
    down: fresh.filter(({ known }) => known.verdict === "down" && known.streak >= failures),
    up: fresh.filter(({ known }) => known.verdict === "up" && known.streak >= successes),
  };
}

/** Reports whether `down` of `fresh` locations are enough for an outage. */
export function meetsQuorum({ quorum }: Pick<StateSettings, "quorum">, down: number, fresh: number): boolean {
  if (fresh === 0) return false;
  return quorum === "majority" ? 2 * down > fresh : down >= Math.min(quorum, fresh);
}

/** Reports whether so many fresh locations are evidence. One of several is, if it is the sole eligible one. */
export function isEnough({ locations }: Pick<StateSettings, "locations">, fresh: number, isSole: boolean): boolean {
  return fresh >= (isSole ? 1 : Math.min(MIN_FRESH, locations.length));
}

/**
 * Decides the status. Without enough fresh locations it is unknown.
 * A quorum of failures is an outage; otherwise a strict majority of successes is up; otherwise, for example if the votes
 * are even, the status stays as it was.
 */
export function decideStatus(
  settings: Pick<StateSettings, "locations" | "quorum">,
  before: Status,
  { fresh, down, up }: Votes,
  isSole: boolean,
): Status {
  if (!isEnough(settings, fresh, isSole)) return "unknown";
  if (meetsQuorum(settings, down.length, fresh)) return "down";
  return 2 * up.length > fresh ? "up" : before;
}

/** Without a history nothing can be confirmed. */
const UNCONFIRMED: Confirmation = { failures: 1, successes: 1 };

/**
 * Decides the status of a monitor that has no history by one check from each location. If only one of several says
 * something about the target, that counts (`isSole`): there will be no other.
 */
export function decideAtOnce(
  settings: Pick<StateSettings, "locations" | "quorum">,
  checks: readonly Pick<Observation, "location" | "verdict" | "beganAt" | "fault">[],
): { readonly status: Status; readonly isSole: boolean } {
  const fresh = checks.flatMap(({ location, verdict, beganAt: at, fault }) =>
    verdict === "unknown" ? [] : [{ location, known: { verdict, at, since: at, streak: 1, fault } }],
  );
  const isSole = fresh.length === 1 && settings.locations.length > 1;
  return { status: decideStatus(settings, "unknown", castVotes(fresh, UNCONFIRMED), isSole), isSole };
}

/** How many checks in a row a location needs before its verdict is a vote. */
export interface Confirmation {
  readonly failures: number;
  readonly successes: number;
}

/** Failures in a row that count while a monitor is flapping. */
const FAILURES_WHILE_FLAPPING = 3;

/** Further checks that must fail at a location whose failure alone is a quorum of several. */
const RETRIES_OF_ONE = 1;

/** Least number of further checks that must fail at the sole eligible location. */
const RETRIES_OF_SOLE = 2;

/**
 * Returns the confirmation that a monitor needs. Several locations confirm each other, but for a quorum of one, which
 * one of them confirms itself by a further check; a single one confirms itself by its retries, and by two at least if
 * it is the sole eligible one of several. Successes need confirmation only after an outage. While a monitor is
 * flapping, failures need more confirmation, unless further observations cannot be requested.
 */
export function confirmationFor(
  { locations, quorum, retries, recovery, isPassive }: StateSettings,
  lastKnown: MonitorState["lastKnown"],
  { isFlapping, isSole }: { readonly isFlapping: boolean; readonly isSole: boolean },
): Confirmation {
  const retriesOfSeveral = quorum === 1 ? RETRIES_OF_ONE : 0;
  const ownRetries = isSole ? Math.max(RETRIES_OF_SOLE, retries) : locations.length === 1 ? retries : retriesOfSeveral;
  const failures = ownRetries + 1;
  return {
    failures: isFlapping && !isPassive ? Math.max(failures, FAILURES_WHILE_FLAPPING) : failures,
    successes: lastKnown === "down" ? recovery : 1,
  };
}

/** Planned checks in a row that failed and passed on the re-check, after which a location is named. */
const RUN = 3;

/**
 * Returns the soft state of a location after an observation. A planned check that fails adds to it, and one that is
 * good ends it; so do a failure that lasts until the next planned check, a silence and an outage. Re-checks do not
 * change it.
 */
export function nextSoftState(
  settings: StateSettings,
  { lastKnown, locations }: Pick<MonitorState, "lastKnown" | "locations">,
  { location, verdict, beganAt, fault, isRecheck }: KnownObservation,
  now: number,
): SoftState | undefined {
  if (settings.isPassive || lastKnown === "down") return undefined;
  const stored = locations.get(location);
  const known = stored !== undefined && isFresh(settings, stored, now) ? stored : undefined;
  if (isRecheck) return known?.softState;
  if (verdict === "up" || known?.verdict === "down") return undefined;
  const { failed = 0, since = Math.min(beganAt, now) } = known?.softState ?? {};
  return { failed: failed + 1, since, fault };
}

/** Returns how many planned checks in a row failed at a location and passed on the re-check. */
function countPassed({ verdict, softState }: LocationState): number {
  const failed = softState?.failed ?? 0;
  return verdict === "up" ? failed : Math.max(0, failed - 1);
}

/** Reports whether an observation is the re-check that passes after a planned check that failed. */
export function recoversFromSoftState(before: MonitorState, after: MonitorState, location: string): boolean {
  const known = after.locations.get(location);
  return known !== undefined && countPassed(known) > countPassed(before.locations.get(location) ?? known);
}

/** The locations that stay in a soft state, and the event if they have changed; null: no event. */
interface UnsteadyChange {
  readonly unsteady: readonly string[];
  readonly event: StateEvent | null;
}

/**
 * Returns the locations that stay in a soft state after a transition. An outage names none: what was counted before it
 * says nothing about the time after it.
 */
export function nextUnsteady(
  before: MonitorState,
  { status, knownSince, fresh }: { status: Status; knownSince: number | null; fresh: readonly FreshLocation[] },
  now: number,
): UnsteadyChange {
  if (status === "unknown") return { unsteady: before.unsteady, event: null };
  if (status === "down") return { unsteady: [], event: null };
  const failing = fresh
    .filter(({ known }) => countPassed(known) >= RUN && (knownSince === null || known.at > knownSince))
    .map(({ location, known }): FailingLocation => {
      return { location, fault: known.softState?.fault ?? null, since: known.softState?.since ?? known.since };
    });
  const unsteady = failing.map(({ location }) => location);
  const isSame = unsteady.length === before.unsteady.length && unsteady.every((one) => before.unsteady.includes(one));
  const isNew = before.unsteady.length === 0;
  return { unsteady, event: isSame ? null : { kind: "soft_state", at: now, failing, isNew } };
}

/**
 * What people should know about a monitor that is up: locations that fail while others succeed, or stay in a soft
 * state.
 */
export interface Advisory {
  readonly since: Date;
  readonly locations: readonly string[];
  readonly message: string;
}

type AdvisoryState = Pick<MonitorState, "status" | "failing" | "unsteady" | "locations">;

/**
 * Describes what people should know about a monitor that is up: locations that keep failing, or else locations that
 * stay in a soft state; null if there are none.
 */
export function describeAdvisory(state: AdvisoryState): Advisory | null {
  if (state.status !== "up") return null;
  return describeFailing(state) ?? describeSoftStates(state);
}

/** Describes the locations that keep failing while the monitor is up; null if there are none. */
export function describeFailing({ failing, locations }: Pick<AdvisoryState, "failing" | "locations">): Advisory | null {
  if (failing.length === 0) return null;
  const known = failing.flatMap((location) => locations.get(location) ?? []);
  const since = Math.min(...known.map((location) => location.since));
  const cause = known.find(({ fault }) => fault !== null)?.fault?.message ?? "the check fails";
  return {
    since: new Date(since),
    locations: failing,
    message: `The check fails in ${failing.join(", ")} only: ${cause}`,
  };
}

/** Describes the locations that stay in a soft state; null if there are none. */
export function describeSoftStates({
  unsteady,
  locations,
}: Pick<AdvisoryState, "unsteady" | "locations">): Advisory | null {
  const known = unsteady.flatMap((location) => locations.get(location) ?? []);
  if (known.length === 0) return null;
  const states = known.flatMap(({ softState }) => softState ?? []);
  const times = Math.max(...known.map(countPassed));
  const cause = states.find(({ fault }) => fault !== null)?.fault?.message ?? "the check fails";
  return {
    since: new Date(Math.min(...states.map(({ since }) => since))),
    locations: unsteady,
    message: `The first try fails each time in ${unsteady.join(", ")}, ${times} times in a row: ${cause}`,
  };
}

/** How fast a monitor answers. */
type Speed = Pick<MonitorState, "isDegraded" | "slowStreak">;

/** Slow checks in a row that make a monitor degraded, and quick ones that end it. */
const SLOW_RUN = 3;

const NO_SPEED: Speed = { isDegraded: false, slowStreak: 0 };

/**
 * Returns the speed after an observation; null: only time has passed. Good planned checks of all locations count, in
 * the order of their arrival. A monitor that is down has no speed; one whose status is unknown keeps that of before.
 * One with a location that stays in a soft state (`isUnsteady`) is degraded too: its users have to try twice.
 */
export function nextSpeed(
  settings: StateSettings,
  before: MonitorState,
  { status, isUnsteady }: { readonly status: Status; readonly isUnsteady: boolean },
  observation: KnownObservation | null,
): Speed {
  const { degradedMs } = settings;
  if (status === "down" || degradedMs === null) return NO_SPEED;
  if (status === "unknown") return before;
  const { slowStreak, isDegraded } = addSpeed(degradedMs, before, observation);
  return { slowStreak, isDegraded: isDegraded || isUnsteady };
}

function addSpeed(degradedMs: number, before: Speed, observation: KnownObservation | null): Speed {
  if (observation === null || observation.verdict !== "up" || observation.isRecheck) return before;
  if (observation.responseMs === null) return before;
  const { slowStreak, isDegraded } = before;
  if (observation.responseMs > degradedMs) {
    const slow = Math.min(Math.max(slowStreak, 0) + 1, SLOW_RUN);
    return { isDegraded: isDegraded || slow === SLOW_RUN, slowStreak: slow };
  }
  const quick = Math.min(Math.max(-slowStreak, 0) + 1, SLOW_RUN);
  return { isDegraded: isDegraded && quick < SLOW_RUN, slowStreak: -quick };
}

/**
 * Reports whether a monitor that was degraded no longer is. A monitor that was down since it was reported as degraded is
 * no longer degraded once it is quick again, or no answer is too slow any more.
 */
export function hasEndedDegraded(
  { degradedMs }: StateSettings,
  before: Pick<MonitorState, "isDegraded" | "isDegradedReported">,
  status: Status,
  { isDegraded, slowStreak }: Speed,
): boolean {
  if (status !== "up" || isDegraded) return false;
  return before.isDegraded || (before.isDegradedReported && (degradedMs === null || slowStreak === -SLOW_RUN));
}
