import { findAble, findAlone } from "#control-plane/outages/state/able.ts";
import { boundTimes } from "#control-plane/outages/state/clock-steps.ts";
import { confirmationFor } from "#control-plane/outages/state/confirmation.ts";
import { hasEndedDegraded, nextSpeed } from "#control-plane/outages/state/degraded.ts";
import type { StateEvent } from "#control-plane/outages/state/events.ts";
import { failingLocations, nextFailing } from "#control-plane/outages/state/failing.ts";
import { nextFirstTries, nextUnsteady } from "#control-plane/outages/state/first-tries.ts";
import { addChange, areFlapping, flappingNotice, recentChanges } from "#control-plane/outages/state/flapping.ts";
import { freshLocations, type FreshLocation } from "#control-plane/outages/state/freshness.ts";
import type { Observation } from "#control-plane/outages/state/observation.ts";
import { newestFailure } from "#control-plane/outages/state/outage-times.ts";
import { planRechecks, repeatRecheck, type Recheck } from "#control-plane/outages/state/rechecks.ts";
import type { StateSettings } from "#control-plane/outages/state/settings.ts";
import type { MonitorState, Status } from "#control-plane/outages/state/state.ts";
import { describeChange } from "#control-plane/outages/state/status-change.ts";
import {
  addVerdict,
  dropUnjudged,
  isNews,
  keepVerdicts,
  type KnownObservation,
} from "#control-plane/outages/state/verdicts.ts";
import { nextUnwatched } from "#control-plane/outages/state/unwatched.ts";
import { castVotes, decideStatus, isEnough } from "#control-plane/outages/state/votes.ts";

/** What follows from an observation or from time. */
export interface Transition {
  readonly state: MonitorState;
  /**
   * In this order: the change of status, flapping, failing locations, first tries, speed, reminder, lack of results.
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
  const able = findAble(settings, before, observed, now);
  const known = dropUnjudged(keepVerdicts(able.locations, before.locations), other);
  const firstTries = observation === null ? undefined : nextFirstTries(settings, before, observation, now);
  const locations = observation === null ? known : addVerdict(settings, known, observation, now, firstTries);
  const alone = findAlone(settings, before, able, locations, now);
  const fresh = freshLocations(settings, locations, now);
  const recent = recentChanges(before.changes, now);
  const conditions = { isFlapping: areFlapping(recent), isAlone: alone !== null };
  const needed = confirmationFor(settings, before.lastKnown, conditions);
  const votes = castVotes(fresh, needed);

  const status = decideStatus(settings, before.status, votes, alone !== null);
  const lastKnown = status === "unknown" ? before.lastKnown : status;
  const isWatched = settings.isPassive || isEnough(settings, fresh.length, alone !== null);
  const silent = silentLocations(settings, fresh);
  const evidence = { votes, failing: failingLocations(fresh, alone), silent: status === "unknown" ? silent : [] };
  const failedAt = newestFailure(before.failedAt, observation, now);
  const change = describeChange({ ...before, failedAt }, status, evidence, now);
  const hasTurned = before.lastKnown !== null && lastKnown !== before.lastKnown;
  const changes = hasTurned ? addChange(recent, now) : recent;
  const isFlapping = areFlapping(changes);
  const lost = before.failing.filter((one) => settings.locations.includes(one) && !able.locations.includes(one));
  const knownSince = change === null ? before.knownSince : change.knownSince;
  const found = { status, knownSince, fresh, alone, lost };
  const { failing, event: failingEvent } = nextFailing(settings, before, found, now);
  const { unsteady, event: triesEvent } = nextUnsteady(before, found, now);
  const speed = nextSpeed(settings, before, { status, isUnsteady: unsteady.length > 0 }, observation);
  const { unwatched, event: watchEvent } = nextUnwatched(before, { isWatched, silent }, now);
  const { remindAt, isDue } = nextReminder(settings, before, { status, lastKnown }, now);

  const events: StateEvent[] = [];
  if (change !== null) events.push(change.event);
  if (isFlapping !== before.isFlapping) events.push({ kind: "flapping", at: now, isFlapping });
  const told = flappingNotice(before, isFlapping, now);
  if (told !== null) events.push(told);
  if (failingEvent !== null) events.push(failingEvent);
  if (triesEvent !== null) events.push(triesEvent);
  if (speed.isDegraded && !before.isDegraded) {
    events.push({ kind: "degraded", at: now, responseMs: unsteady.length > 0 ? null : (observation?.responseMs ?? 0) });
  }
  if (hasEndedDegraded(settings, before, status, speed)) events.push({ kind: "recovered_speed", at: now });
  if (isDue) events.push({ kind: "reminder", at: now });
  if (watchEvent !== null) events.push(watchEvent);

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
    flappingToldAt: isFlapping ? before.flappingToldAt : null,
    failing,
    unsteady,
    remindAt,
    held: before.held,
    incidentId: lastKnown === "down" ? before.incidentId : null,
    locations,
    blind: able.blind,
    alone,
    unwatched,
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
