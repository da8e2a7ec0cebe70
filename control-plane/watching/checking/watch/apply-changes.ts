import { applyToIncidents, type Outage, type OutageFacts } from "#control-plane/watching/checking/watch/outage.ts";
import type { Transaction } from "#control-plane/core/database/connect.ts";
import type { Events } from "#control-plane/notify/events/events.ts";
import { addStatusChanges } from "#control-plane/outages/history/record.ts";
import { areCovered } from "#control-plane/outages/maintenance/coverage/coverage.ts";
import { noteAccountChanged } from "#control-plane/core/page-changes.ts";
import { statusChangedAt, type FailingLocation } from "#control-plane/outages/state/events.ts";
import { type Dependency, silenceNotices, type Notice } from "#control-plane/outages/state/notices.ts";
import type { Recheck } from "#control-plane/outages/state/rechecks.ts";
import type { StateSettings, MonitorState } from "#control-plane/outages/state/state.ts";
import type { Transition } from "#control-plane/outages/state/transition.ts";
import { kindOf } from "#control-plane/outages/kinds/kinds.ts";
import type { NewEvent } from "#control-plane/notify/events/event.ts";
import { toMonitorEvent } from "#control-plane/notify/events/monitor-event.ts";
import { describeCause } from "#control-plane/outages/incidents/cause/describe.ts";
import { describeFailing, describeSoftStates } from "#control-plane/outages/state/votes.ts";
import { failingLocations } from "#control-plane/outages/state/locations.ts";

/** Orders evidence for outages whose incidents this transaction opened. */
type RequestEvidence = (
  tx: Transaction,
  outages: readonly {
    readonly incidentId: number;
    readonly cause: { readonly code: string; readonly message: string };
    readonly confirmedAt: Date;
    readonly monitor: OutageFacts;
  }[],
) => Promise<void>;

/** What changes are applied with. */
export interface ApplyDeps {
  readonly events: Events;
  readonly requestEvidence: RequestEvidence;
}

/** A transition of a monitor whose state is locked, with the facts on which its notices depend. */
export interface MonitorChange {
  readonly monitor: OutageFacts & {
    readonly tags: readonly string[];
    /** The monitor it depends on; null: none. */
    readonly dependsOn: number | null;
  };
  readonly settings: StateSettings;
  /** The state from which the transition begins. */
  readonly before: MonitorState;
  readonly transition: Transition;
  /** What is known about the monitor that it depends on. */
  readonly dependency: Dependency;
  /** Time of the transition, Unix milliseconds: that of a missed ping can lie before the time at which it is written. */
  readonly now: number;
}

/** What is to be written after a change. */
export interface AppliedChange {
  /** The state to write, with its incident. */
  readonly state: MonitorState;
  /** Extra checks to schedule, including those that silenced notices wait for. */
  readonly rechecks: readonly Recheck[];
}

/**
 * Does all that follows from transitions of different monitors but for writing their states: status changes, incidents,
 * events and deliveries. The number of statements does not grow with the number of monitors, as far as their outages
 * begin and end (see applyToIncidents). The accounts and the states of the monitors must be locked, in the order of all
 * writers (see lockMonitors). `writtenAt` is the present time. The result has the order of the changes.
 */
export async function applyChanges(
  tx: Transaction,
  { events, requestEvidence }: ApplyDeps,
  changes: readonly MonitorChange[],
  writtenAt: Date,
): Promise<readonly AppliedChange[]> {
  if (new Set(changes.map(({ monitor }) => monitor.id)).size < changes.length) {
    throw new Error("two changes of one monitor cannot be applied together");
  }
  const covered = await areCovered(
    tx,
    changes.map(({ monitor: { id, accountId, tags }, now }) => ({ accountId, monitorId: id, tags, at: new Date(now) })),
  );
  const noticed = changes.map((change, index) => {
    const { monitor, settings, before, transition, dependency, now } = change;
    return {
      monitor,
      before,
      noticed: silenceNotices(settings, transition, { maintenance: covered[index] === true, dependency }, now),
      suppressedBy: dependency === "down" ? monitor.dependsOn : null,
      at: new Date(now),
    };
  });
  await addStatusChanges(tx, noticed.flatMap(listStatusChanges), writtenAt);
  const outages = await applyToIncidents(tx, noticed);
  const applied = noticed.map((change, index) => ({ ...change, outage: outages[index] ?? NO_OUTAGE }));
  await requestEvidence(tx, applied.flatMap(listOpened));
  await noteAccountChanged(
    tx,
    changes.map(({ monitor }) => monitor.accountId),
  );
  await events.publish(
    tx,
    applied.flatMap(({ monitor, noticed: { state, notices }, outage }) =>
      notices.map((notice) => toNewEvent(monitor, notice, { state, outage, writtenAt })),
    ),
  );
  return applied.map(({ noticed: { state, rechecks }, outage }) => {
    return { state: { ...state, incidentId: outage.openId }, rechecks };
  });
}

const NO_OUTAGE: Outage = { openId: null, incident: null, isOpened: false };

/** Lists the incident that a transition opened, if it did, and its kind has evidence. */
function listOpened({
  monitor,
  outage: { incident, isOpened },
}: {
  readonly monitor: OutageFacts;
  readonly outage: Outage;
}) {
  const isGathered = kindOf(monitor.checkType).evidence.gathers !== "nothing";
  if (!isOpened || incident === null || !isGathered) return [];
  const { id: incidentId, cause, confirmedAt } = incident;
  return { incidentId, cause: cause ?? { code: "unknown", message: "" }, confirmedAt, monitor };
}

/** Lists the change of status of a transition, if it has one. */
function listStatusChanges({
  monitor,
  before,
  noticed: { events, state },
}: {
  readonly monitor: OutageFacts;
  readonly before: MonitorState;
  readonly noticed: Transition;
}) {
  return events.flatMap((event) => {
    const changedAt = statusChangedAt(event, before);
    return changedAt === null ? [] : { monitorId: monitor.id, at: new Date(changedAt), status: state.status };
  });
}

/** How long a mail about a new outage waits for its evidence, milliseconds. */
const EVIDENCE_WAIT_MS = 10_000;

/** Describes a notice as an event, with the addresses that are mailed. */
function toNewEvent(
  monitor: OutageFacts,
  notice: Notice,
  { state, outage, writtenAt }: { readonly state: MonitorState; readonly outage: Outage; readonly writtenAt: Date },
): NewEvent {
  const { checkType, settings } = monitor;
  const event =
    notice.kind === "advisory" || notice.kind === "soft_state"
      ? advisoryEvent(monitor, notice, state)
      : changeEvent(monitor, notice, state, outage);
  const isMailed = settings.notify_email && (event.type !== "monitor.advisory" || settings.notify_advisories);
  if (!isMailed) return event;
  const mailed = { ...event, mailTo: settings.notify_emails };
  // Only what probes see now takes time to gather.
  const isAwaited = notice.kind === "down" && outage.isOpened && kindOf(checkType).evidence.gathers === "looks";
  return isAwaited ? { ...mailed, mailWaitsUntil: new Date(writtenAt.getTime() + EVIDENCE_WAIT_MS) } : mailed;
}

type AdvisoryNotice = Extract<Notice, { readonly kind: "advisory" | "soft_state" }>;

function changeEvent(
  monitor: OutageFacts,
  notice: Exclude<Notice, AdvisoryNotice>,
  state: MonitorState,
  outage: Outage,
): NewEvent {
  const failing = notice.kind === "down" ? notice.failing : failingNow(state);
  const isOutage = notice.kind === "down" || notice.kind === "reminder";
  const startedAt =
    notice.kind === "down" ? notice.startedAt : (outage.incident?.startedAt.getTime() ?? state.knownSince);
  return toMonitorEvent({
    ...commonFacts(monitor, notice, state),
    kind: notice.kind === "flapping_notice" ? "flapping" : notice.kind,
    ...(notice.kind === "flapping_notice" ? { phase: notice.phase } : {}),
    previous: previousOf(notice, state),
    startedAt: "since" in notice ? notice.since : isOutage || notice.kind === "up" ? startedAt : null,
    recoveredAt: notice.kind === "up" ? notice.recoveredAt : null,
    incidentId: outage.openId ?? outage.incident?.id ?? null,
    cause: isOutage
      ? describeCause(monitor, failing)
      : notice.kind === "no_data"
        ? describeLack(notice.silent)
        : (outage.incident?.cause ?? describeUnsteady(notice, state)),
    causeNow: isOutage ? null : (outage.incident?.causeNow ?? null),
    failing: isOutage ? failing : [],
    responseMs: notice.kind === "degraded" ? notice.responseMs : null,
    limitMs: notice.kind === "degraded" ? monitor.settings.degraded_ms : null,
  });
}

function advisoryEvent(monitor: OutageFacts, { kind, at, failing }: AdvisoryNotice, state: MonitorState): NewEvent {
  const advisory = kind === "advisory" ? describeFailing(state) : describeSoftStates(state);
  return toMonitorEvent({
    ...commonFacts(monitor, { at }, state),
    kind: "advisory",
    previous: "up",
    startedAt: null,
    recoveredAt: null,
    incidentId: null,
    cause: describeCause(monitor, failing),
    failing,
    responseMs: null,
    ...(advisory && { advisory }),
  });
}

function commonFacts(
  { id, accountId, name, url, checkType, settings }: OutageFacts,
  { at }: { at: number },
  state: MonitorState,
) {
  const { status: current, isFlapping } = state;
  const monitor = { id, name, url, check_type: checkType };
  return { accountId, monitor, at, current, port: settings.port, isFlapping };
}

/** Says why a monitor is degraded that is not slow. */
function describeUnsteady(notice: Notice, state: MonitorState): { code: string; message: string } | null {
  const advisory = notice.kind === "degraded" && notice.responseMs === null ? describeSoftStates(state) : null;
  return advisory === null ? null : { code: "first_tries", message: advisory.message };
}

function previousOf(notice: Notice, { status, lastKnown }: MonitorState): "up" | "down" | "unknown" {
  if (notice.kind === "no_data") return lastKnown ?? "unknown";
  return "previous" in notice ? notice.previous : status;
}

/** Says which results a monitor lacks. */
function describeLack(silent: readonly string[]): { readonly code: string; readonly message: string } {
  return { code: "no_results", message: `No recent result has come from ${silent.join(", ")}` };
}

function failingNow({ locations, sole }: MonitorState): readonly FailingLocation[] {
  return failingLocations(
    Array.from(locations, ([location, known]) => ({ location, known })),
    sole,
  );
}
