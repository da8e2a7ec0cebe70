import type { StateEvent } from "#control-plane/outages/state/events.ts";
import { failingLocations, freshLocations } from "#control-plane/outages/state/locations.ts";
import { RECHECK_MS, type Recheck, isBeingConfirmed } from "#control-plane/outages/state/rechecks.ts";
import type { StateSettings, SilencedNotice, MonitorState } from "#control-plane/outages/state/state.ts";
import type { Transition } from "#control-plane/outages/state/transition.ts";
import { meetsQuorum } from "#control-plane/outages/state/votes.ts";

/** An event to send to people. The other events are only recorded. */
export type Notice = Extract<
  StateEvent,
  {
    readonly kind:
      | "down"
      | "up"
      | "degraded"
      | "recovered_speed"
      | "reminder"
      | "advisory"
      | "soft_state"
      | "no_data"
      | "data_returned"
      | "flapping_notice";
  }
>;

/** What can silence notices, at the time of the transition. */
export interface SilenceContext {
  /** Whether a maintenance window covers the monitor. */
  readonly maintenance: boolean;
  /** What is known about the monitor that it depends on. */
  readonly dependency: Dependency;
}

/** A transition with the notices to send. Its state and rechecks replace those of the transition. */
interface NoticedTransition extends Transition {
  readonly notices: readonly Notice[];
}

/** How long a notice waits for a dependency that fails to be confirmed, in milliseconds: three checks that time out. */
const MOST_FAILING_MS = 60_000;
/** How long it waits for a check of the dependency that is due, in milliseconds. */
const MOST_DUE_MS = 15_000;
/** Pause between two looks at a monitor whose notice waits, in milliseconds. */
const LOOK_MS = 2_000;

/**
 * Decides which events of a transition become notices.
 *
 * 1. While there is a reason, the notice of a new outage is silenced. Reminders, slowness and advisories are dropped. A
 *    monitor that still has no data, or is still flapping, when the reason has ended is reported then. An outage whose
 *    notice is sent ends a slowness that was sent: the end of the outage is the end of both. After one whose notice was
 *    dropped, the slowness that was sent continues, or its end is sent.
 * 2. The end of an outage drops its silenced notice. If the notice was sent, the end is sent too, whatever the reason:
 *    every receiver gets both or neither.
 * 3. If both fail at the same time, the dependency can be confirmed later. While it fails or is about to be checked, a
 *    new notice waits and the monitor is looked at again, for a limited time. If the dependency turns out to be down,
 *    rule 1 applies; if not, the notice is sent at once.
 * 4. When the reason has ended, the failing locations are checked again at once, and for a minute those again whose
 *    checks gave no verdict. If a quorum of checks that began after it fails, the notice is sent, and the reminders
 *    count from then.
 *
 * Call it if the transition has events or `silenced` is not null before or after it.
 */
export function silenceNotices(
  settings: StateSettings,
  { state, events, rechecks }: Transition,
  context: SilenceContext,
  now: number,
): NoticedTransition {
  const reason = context.maintenance ? "maintenance" : context.dependency === "down" ? "dependency" : null;
  const notices: Notice[] = [];
  const release = (silenced: SilencedNotice, from: MonitorState): NoticedTransition => {
    const remindAt = settings.repeatMs === null ? null : now + settings.repeatMs;
    const released = describeOutage(settings, from, silenced, now);
    return {
      state: { ...from, silenced: null, remindAt, isDegradedReported: false },
      events,
      rechecks,
      notices: [...notices, released],
    };
  };
  let { silenced, isDegradedReported, noData, flappingNotifiedAt } = state;
  for (const event of events) {
    if (event.kind === "down" && event.isNotice) {
      const { previous } = event;
      if (reason !== null) silenced = { reason, previous, endedAt: null };
      else if (isUndecided(context.dependency, now, now)) silenced = { reason: "undecided", previous, silencedAt: now };
      else {
        notices.push(event);
        isDegradedReported = false;
      }
    } else if (event.kind === "up" && event.isNotice) {
      if (silenced === null) notices.push(event);
      silenced = null;
    } else if (event.kind === "degraded") {
      if (reason === null && !isDegradedReported) notices.push(event);
      isDegradedReported ||= reason === null;
    } else if (event.kind === "recovered_speed") {
      if (isDegradedReported) notices.push(event);
      isDegradedReported = false;
    } else if (event.kind === "advisory" || event.kind === "soft_state") {
      if (event.isNew && reason === null) notices.push(event);
    } else if (event.kind === "reminder" && reason === null && silenced === null) {
      notices.push(event);
    } else if (event.kind === "no_data" && reason === null) {
      notices.push(event);
      noData = { since: event.since, isNotified: true };
    } else if (event.kind === "flapping_notice" && (reason === null || event.phase === "ends")) {
      notices.push(event);
      flappingNotifiedAt = event.phase === "ends" ? null : now;
    } else if (event.kind === "data_returned") {
      notices.push(event);
    }
  }
  const next = { ...state, silenced, isDegradedReported, noData, flappingNotifiedAt };
  if (silenced === null) return { state: next, events, rechecks, notices };
  if (reason !== null) {
    return {
      state: { ...next, silenced: { reason, previous: silenced.previous, endedAt: null } },
      events,
      rechecks,
      notices,
    };
  }
  if (silenced.reason === "undecided") {
    if (!isUndecided(context.dependency, silenced.silencedAt, now)) return release(silenced, next);
    return { state: next, events, rechecks: [...rechecks, ...lookAgain(settings, next, rechecks, now)], notices };
  }
  if (silenced.endedAt === null) {
    const asked = join(rechecks, askFailing(settings, next, now, now));
    return { state: { ...next, silenced: { ...silenced, endedAt: now } }, events, rechecks: asked, notices };
  }
  if (!stillFails(settings, next, silenced.endedAt, now)) {
    const isRecent = isBeingConfirmed({ at: silenced.endedAt }, now);
    const asked = isRecent ? askFailing(settings, next, silenced.endedAt, now) : [];
    return { state: next, events, rechecks: join(rechecks, asked), notices };
  }
  return release(silenced, next);
}

/** Reports whether a notice that was silenced at `silencedAt` still waits for the dependency's next checks. */
function isUndecided(dependency: Dependency, silencedAt: number, now: number): boolean {
  const silencedMs = now - silencedAt;
  // The clock was set back: nothing is known about the time that has passed.
  if (silencedMs < 0) return false;
  return (
    (dependency === "failing" && silencedMs < MOST_FAILING_MS) || (dependency === "due" && silencedMs < MOST_DUE_MS)
  );
}

/** Plans the next look at a monitor whose notice waits: a check at one location, if none is planned. */
function lookAgain(
  settings: StateSettings,
  state: MonitorState,
  rechecks: readonly Recheck[],
  now: number,
): readonly Recheck[] {
  if (rechecks.length > 0) return [];
  const [failing] = failingLocations(freshLocations(settings, state.locations, now));
  const location = failing?.location ?? settings.locations[0];
  return location === undefined ? [] : [{ location, at: now + LOOK_MS }];
}

/** Plans a check of each location that fails and has given no verdict since a time. */
function askFailing(settings: StateSettings, state: MonitorState, since: number, now: number): readonly Recheck[] {
  if (state.status !== "down") return [];
  const fresh = freshLocations(settings, state.locations, now);
  const failing = failingLocations(fresh.filter(({ known }) => known.at <= since));
  return failing.map(({ location }) => ({ location, at: now + RECHECK_MS }));
}

/** Adds checks of locations that have none planned yet. */
function join(rechecks: readonly Recheck[], more: readonly Recheck[]): readonly Recheck[] {
  const isPlanned = (location: string): boolean => rechecks.some((recheck) => recheck.location === location);
  return [...rechecks, ...more.filter(({ location }) => !isPlanned(location))];
}

/**
 * Reports whether checks that began at `since` or later confirm the outage. A passive monitor has no checks: it fails
 * until it reports a success.
 */
function stillFails(settings: StateSettings, state: MonitorState, since: number, now: number): boolean {
  if (state.status !== "down") return false;
  const fresh = freshLocations(settings, state.locations, now);
  const failing = fresh.filter(({ known }) => known.verdict === "down" && (settings.isPassive || known.at >= since));
  return meetsQuorum(settings, failing.length, fresh.length);
}

function describeOutage(
  settings: StateSettings,
  state: MonitorState,
  { previous }: SilencedNotice,
  now: number,
): Notice {
  const failing = failingLocations(freshLocations(settings, state.locations, now), state.sole);
  return { kind: "down", at: now, startedAt: state.knownSince ?? now, previous, isNotice: true, failing };
}

/**
 * What a monitor knows about the one that it depends on. down: its outage is confirmed. failing: a check has failed, and
 * further ones decide. due: it is being checked, or will be in a moment. fine: anything else, also if there is none.
 */
export type Dependency = "down" | "failing" | "due" | "fine";

/** The facts about the monitor that another one depends on. Times are Unix milliseconds. */
interface DependencyFacts {
  readonly state: Pick<MonitorState, "status" | "failing" | "locations">;
  /** Whether a check of it runs now. */
  readonly isChecked: boolean;
  /** When its next check is due; null: none is planned. */
  readonly dueAt: number | null;
}

/** A check that is due within this time can still be waited for, in milliseconds. */
const SOON_MS = 10_000;

/** Judges the monitor that another one depends on. Locations that keep failing while others succeed do not decide. */
export function judgeDependency({ state, isChecked, dueAt }: DependencyFacts, now: number): Dependency {
  if (state.status === "down") return "down";
  const isFailing = Array.from(state.locations).some(
    ([location, known]) =>
      known.verdict === "down" && !state.failing.includes(location) && isBeingConfirmed(known, now),
  );
  if (isFailing) return "failing";
  return isChecked || (dueAt !== null && dueAt <= now + SOON_MS) ? "due" : "fine";
}
