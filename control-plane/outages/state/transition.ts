import {
  findEligible,
  findSole,
  freshLocations,
  type FreshLocation,
  addVerdict,
  dropUnjudged,
  isNews,
  keepVerdicts,
  type KnownObservation,
  failingLocations,
  nextFailing,
} from "#control-plane/outages/state/locations.ts";
import {
  confirmationFor,
  castVotes,
  decideStatus,
  isEnough,
  type Votes,
  nextSoftState,
  nextUnsteady,
  hasEndedDegraded,
  nextSpeed,
} from "#control-plane/outages/state/votes.ts";
import {
  type StateEvent,
  type FailingLocation,
  addChange,
  areFlapping,
  flappingNotice,
  recentChanges,
  nextNoData,
} from "#control-plane/outages/state/events.ts";
import type {
  Observation,
  MonitorState,
  Status,
  DatedLocation,
  SilencedNotice,
  LocationState,
  StateSettings,
} from "#control-plane/outages/state/state.ts";
import { planRechecks, repeatRecheck, type Recheck } from "#control-plane/outages/state/rechecks.ts";

/** What follows from an observation or from time. */
export interface Transition {
  readonly state: MonitorState;
  /**
   * In this order: the change of status, flapping, failing locations, soft states, speed, reminder, no data.
   */
  readonly events: readonly StateEvent[];
  /** Extra checks to schedule, each location once. */
  readonly rechecks: readonly Recheck[];
}

/**
 * Computes what an observation changes; null: what time alone changes. `now` is the time of the transition in Unix
 * milliseconds; it can step in both directions. An observation without news (see isNews) only lets time pass; if its
 * probe failed, it can be repeated. The caller sets `incidentId` of the new state when it opens an incident for a down
 * event; a transition that ends the outage clears it.
 */
export function transition(
  settings: StateSettings,
  state: MonitorState,
  observation: Observation | null,
  now: number,
): Transition {
  const hasNews = observation !== null && isNews(settings, state.locations, observation, now);
  return hasNews
    ? advance(settings, state, { news: observation, other: null }, now)
    : advance(settings, state, { news: null, other: observation }, now);
}

function advance(
  settings: StateSettings,
  stored: MonitorState,
  observed: { readonly news: KnownObservation | null; readonly other: Observation | null },
  now: number,
): Transition {
  const { news: observation, other } = observed;
  const before = boundTimes(stored, now);
  const eligible = findEligible(settings, before, observed, now);
  const known = dropUnjudged(keepVerdicts(eligible.locations, before.locations), other);
  const softState = observation === null ? undefined : nextSoftState(settings, before, observation, now);
  const locations = observation === null ? known : addVerdict(settings, known, observation, now, softState);
  const sole = findSole(settings, before, eligible, locations, now);
  const fresh = freshLocations(settings, locations, now);
  const recent = recentChanges(before.changes, now);
  const conditions = { isFlapping: areFlapping(recent), isSole: sole !== null };
  const needed = confirmationFor(settings, before.lastKnown, conditions);
  const votes = castVotes(fresh, needed);

  const status = decideStatus(settings, before.status, votes, sole !== null);
  const lastKnown = status === "unknown" ? before.lastKnown : status;
  const hasData = settings.isPassive || isEnough(settings, fresh.length, sole !== null);
  const silent = silentLocations(settings, fresh);
  const evidence = { votes, failing: failingLocations(fresh, sole), silent: status === "unknown" ? silent : [] };
  const failedAt = newestFailure(before.failedAt, observation, now);
  const change = describeChange({ ...before, failedAt }, status, evidence, now);
  const hasTurned = before.lastKnown !== null && lastKnown !== before.lastKnown;
  const changes = hasTurned ? addChange(recent, now) : recent;
  const isFlapping = areFlapping(changes);
  const lost = before.failing.filter((one) => settings.locations.includes(one) && !eligible.locations.includes(one));
  const knownSince = change === null ? before.knownSince : change.knownSince;
  const found = { status, knownSince, fresh, sole, lost };
  const { failing, event: failingEvent } = nextFailing(settings, before, found, now);
  const { unsteady, event: softStateEvent } = nextUnsteady(before, found, now);
  const speed = nextSpeed(settings, before, { status, isUnsteady: unsteady.length > 0 }, observation);
  const { noData, event: dataEvent } = nextNoData(before, { hasData, silent }, now);
  const { remindAt, isDue } = nextReminder(settings, before, { status, lastKnown }, now);

  const events: StateEvent[] = [];
  if (change !== null) events.push(change.event);
  if (isFlapping !== before.isFlapping) events.push({ kind: "flapping", at: now, isFlapping });
  const notice = flappingNotice(before, isFlapping, now);
  if (notice !== null) events.push(notice);
  if (failingEvent !== null) events.push(failingEvent);
  if (softStateEvent !== null) events.push(softStateEvent);
  if (speed.isDegraded && !before.isDegraded) {
    events.push({ kind: "degraded", at: now, responseMs: unsteady.length > 0 ? null : (observation?.responseMs ?? 0) });
  }
  if (hasEndedDegraded(settings, before, status, speed)) events.push({ kind: "recovered_speed", at: now });
  if (isDue) events.push({ kind: "reminder", at: now });
  if (dataEvent !== null) events.push(dataEvent);

  const state: MonitorState = {
    status,
    lastKnown,
    changedAt: change === null ? before.changedAt : now,
    knownSince,
    failedAt,
    isDegraded: speed.isDegraded,
    isDegradedReported: before.isDegradedReported,
    slowStreak: speed.slowStreak,
    changes,
    isFlapping,
    flappingNotifiedAt: isFlapping ? before.flappingNotifiedAt : null,
    failing,
    unsteady,
    remindAt,
    silenced: before.silenced,
    incidentId: lastKnown === "down" ? before.incidentId : null,
    locations,
    offline: eligible.offline,
    sole,
    noData,
  };
  const rechecks =
    observation !== null
      ? planRechecks(settings, { state, wasDown: before.lastKnown === "down" }, observation, needed, now)
      : other?.verdict === "unknown"
        ? repeatRecheck(settings, state, other.location, needed, now)
        : [];
  return { state, events, rechecks };
}

/** Lists the locations without a fresh verdict. */
function silentLocations(settings: StateSettings, fresh: readonly FreshLocation[]): readonly string[] {
  return settings.locations.filter((configured) => !fresh.some(({ location }) => location === configured));
}

/** The next reminder of an outage. */
interface Reminder {
  /** Unix milliseconds; null: none. */
  readonly remindAt: number | null;
  /** Whether one is due now. */
  readonly isDue: boolean;
}

const NO_REMINDER: Reminder = { remindAt: null, isDue: false };

/**
 * Returns the next reminder after a transition to `status`. Reminders follow the notice of the outage at equal pauses.
 * Those that were due while nothing was observed are not made up for. None is sent while the status is unknown.
 */
function nextReminder(
  { repeatMs }: StateSettings,
  { lastKnown: lastKnownBefore, remindAt }: Pick<MonitorState, "lastKnown" | "remindAt">,
  { status, lastKnown }: { readonly status: Status; readonly lastKnown: MonitorState["lastKnown"] },
  now: number,
): Reminder {
  if (repeatMs === null || lastKnown !== "down") return NO_REMINDER;
  const isNew = lastKnownBefore !== "down";
  // The pause may have become shorter, or the clock may have been set back.
  const dueAt = isNew ? now + repeatMs : Math.min(remindAt ?? Infinity, now + repeatMs);
  if (status !== "down" || now < dueAt) return { remindAt: dueAt, isDue: false };
  const missed = Math.floor((now - dueAt) / repeatMs);
  return { remindAt: dueAt + (missed + 1) * repeatMs, isDue: true };
}

/** A change of status. */
interface StatusChange {
  readonly event: StateEvent;
  /** When the new last known status began. */
  readonly knownSince: number | null;
}

/** What a change of status is made of. */
interface Evidence {
  readonly votes: Votes;
  readonly failing: readonly FailingLocation[];
  /** Configured locations without a fresh verdict. */
  readonly silent: readonly string[];
}

/** Describes the change to another status; null if the status stays. Times are Unix milliseconds. */
function describeChange(
  before: MonitorState,
  status: Status,
  { votes, failing, silent }: Evidence,
  now: number,
): StatusChange | null {
  const { status: previous, lastKnown } = before;
  if (status === "down" && previous !== "down") {
    const isNotice = lastKnown !== "down";
    const startedAt = isNotice ? outageStart(before, votes) : (before.knownSince ?? now);
    return { event: { kind: "down", at: now, startedAt, previous, isNotice, failing }, knownSince: startedAt };
  }
  if (status === "up" && previous !== "up") {
    const recoveredAt = recoveryStart(before, votes, now);
    const event: StateEvent = { kind: "up", at: now, recoveredAt, previous, isNotice: lastKnown === "down" };
    return { event, knownSince: lastKnown === "up" ? before.knownSince : recoveredAt };
  }
  if (status === "unknown" && previous !== "unknown") {
    return { event: { kind: "unknown", at: now, previous, silent }, knownSince: before.knownSince };
  }
  return null;
}

/** The facts about the time before a change of status. */
type Before = Pick<MonitorState, "lastKnown" | "changedAt" | "knownSince" | "failedAt" | "failing">;

/** Returns when the newest failing check began, after an observation; null if there is none. Times are Unix milliseconds. */
function newestFailure(failedAt: number | null, observed: KnownObservation | null, now: number): number | null {
  if (observed?.verdict !== "down") return failedAt;
  const at = Math.min(observed.beganAt, now);
  return failedAt === null ? at : Math.max(failedAt, at);
}

/**
 * Returns when an outage started: the first failing check of the locations that confirm it. A location that has been
 * failing while others succeeded does not date it back to a time when the monitor was up; if only such locations
 * confirm it, because others fell silent, it starts with the newest failing check. It never starts before the end of
 * the outage before it.
 */
function outageStart({ lastKnown, knownSince, failing }: Before, { down }: Votes): number {
  const wasFailing = (location: string): boolean => lastKnown === "up" && failing.includes(location);
  const joined = down.filter(({ location }) => !wasFailing(location));
  const first =
    joined.length > 0
      ? Math.min(...joined.map(({ known }) => known.since))
      : Math.max(...down.map(({ known }) => known.at));
  return lastKnown === "up" && knownSince !== null ? Math.max(first, knownSince) : first;
}

/**
 * Returns when a monitor recovered: the first good check, after its status last changed, of the locations that vote up; at
 * the end of an outage only those after its last failing check count, so that no check of it fails after its end.
 * Locations that were up all the time do not date it; if there are no others, because failing ones fell silent, it
 * recovers now.
 */
function recoveryStart({ lastKnown, changedAt, failedAt }: Before, { up }: Votes, now: number): number {
  const failed = lastKnown === "down" ? (failedAt ?? -Infinity) : -Infinity;
  const times = up
    .filter(({ known }) => changedAt === null || known.since >= changedAt)
    .map(({ known: { since, at } }) => (since > failed ? since : at))
    .filter((time) => time > failed);
  return times.length > 0 ? Math.min(...times) : now;
}

/**
 * Returns the state with no time after `now`. Times after it were written before the clock was set back: they become
 * `now`, so that a verdict stays fresh for no longer than usual and the order of times is kept. remindAt can lie ahead, and
 * so can the time since which a notice waits undecided: it is sent then.
 */
function boundTimes(state: MonitorState, now: number): MonitorState {
  if (!hasTimeAfter(state, now)) return state;
  const bound = (time: number): number => Math.min(time, now);
  const boundLocation = (known: LocationState): LocationState => ({
    ...known,
    at: bound(known.at),
    since: bound(known.since),
    ...(known.softState && { softState: { ...known.softState, since: bound(known.softState.since) } }),
  });
  const boundDated = (one: DatedLocation): DatedLocation => ({ ...one, at: bound(one.at) });
  return {
    ...state,
    changedAt: state.changedAt === null ? null : bound(state.changedAt),
    knownSince: state.knownSince === null ? null : bound(state.knownSince),
    failedAt: state.failedAt === null ? null : bound(state.failedAt),
    changes: state.changes.map(bound),
    flappingNotifiedAt: state.flappingNotifiedAt === null ? null : bound(state.flappingNotifiedAt),
    silenced: state.silenced === null ? null : boundSilenced(state.silenced, bound),
    locations: new Map(Array.from(state.locations, ([location, known]) => [location, boundLocation(known)])),
    offline: state.offline.map(boundDated),
    sole: state.sole === null ? null : boundDated(state.sole),
    noData: state.noData === null ? null : { ...state.noData, since: bound(state.noData.since) },
  };
}

function boundSilenced(silenced: SilencedNotice, bound: (time: number) => number): SilencedNotice {
  return silenced.reason === "undecided" || silenced.endedAt === null
    ? silenced
    : { ...silenced, endedAt: bound(silenced.endedAt) };
}

/** The other times are never later than one of these. */
function hasTimeAfter(state: MonitorState, now: number): boolean {
  const { changedAt, failedAt, flappingNotifiedAt, silenced, locations, offline, sole, noData } = state;
  const endedAt = silenced === null || silenced.reason === "undecided" ? null : silenced.endedAt;
  const times = [changedAt, failedAt, flappingNotifiedAt, endedAt, noData?.since ?? null];
  if (times.some((at) => at !== null && at > now)) return true;
  for (const { at } of locations.values()) if (at > now) return true;
  return (sole?.at ?? now) > now || offline.some(({ at }) => at > now);
}
