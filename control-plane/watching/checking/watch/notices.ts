import type { NewEvent } from "#control-plane/notify/events/event.ts";
import { toMonitorEvent } from "#control-plane/notify/events/monitor-event.ts";
import { describeCause } from "#control-plane/outages/incidents/cause/describe.ts";
import { describeFailing, describeFirstTries } from "#control-plane/outages/state/advisory.ts";
import type { FailingLocation } from "#control-plane/outages/state/events.ts";
import { failingLocations } from "#control-plane/outages/state/failing.ts";
import type { Notice } from "#control-plane/outages/state/hold-notices.ts";
import type { MonitorState } from "#control-plane/outages/state/state.ts";
import type { Outage, OutageFacts } from "#control-plane/watching/checking/watch/outage.ts";
import { kindOf } from "#control-plane/outages/kinds/kinds.ts";

/** How long a mail about a new outage waits for its evidence, milliseconds. */
const EVIDENCE_WAIT_MS = 10_000;

/** Describes a notice as an event, with the addresses that are mailed. */
export function toNewEvent(
  monitor: OutageFacts,
  notice: Notice,
  { state, outage, writtenAt }: { readonly state: MonitorState; readonly outage: Outage; readonly writtenAt: Date },
): NewEvent {
  const { checkType, settings } = monitor;
  const event =
    notice.kind === "advisory" || notice.kind === "first_tries"
      ? advisoryEvent(monitor, notice, state)
      : changeEvent(monitor, notice, state, outage);
  const isMailed = settings.notify_email && (event.type !== "monitor.advisory" || settings.notify_advisories);
  if (!isMailed) return event;
  const mailed = { ...event, mailTo: settings.notify_emails };
  // Only what probes see now takes time to gather.
  const isAwaited = notice.kind === "down" && outage.isOpened && kindOf(checkType).evidence.gathers === "looks";
  return isAwaited ? { ...mailed, mailWaitsUntil: new Date(writtenAt.getTime() + EVIDENCE_WAIT_MS) } : mailed;
}

type AdvisoryNotice = Extract<Notice, { readonly kind: "advisory" | "first_tries" }>;

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
      : notice.kind === "unwatched"
        ? describeLack(notice.silent)
        : (outage.incident?.cause ?? describeUnsteady(notice, state)),
    causeNow: isOutage ? null : (outage.incident?.causeNow ?? null),
    failing: isOutage ? failing : [],
    responseMs: notice.kind === "degraded" ? notice.responseMs : null,
    limitMs: notice.kind === "degraded" ? monitor.settings.degraded_ms : null,
  });
}

function advisoryEvent(monitor: OutageFacts, { kind, at, failing }: AdvisoryNotice, state: MonitorState): NewEvent {
  const advisory = kind === "advisory" ? describeFailing(state) : describeFirstTries(state);
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
  const advisory = notice.kind === "degraded" && notice.responseMs === null ? describeFirstTries(state) : null;
  return advisory === null ? null : { code: "first_tries", message: advisory.message };
}

function previousOf(notice: Notice, { status, lastKnown }: MonitorState): "up" | "down" | "unknown" {
  if (notice.kind === "unwatched") return lastKnown ?? "unknown";
  return "previous" in notice ? notice.previous : status;
}

/** Says which results a monitor lacks. */
function describeLack(silent: readonly string[]): { readonly code: string; readonly message: string } {
  return { code: "no_results", message: `No recent result has come from ${silent.join(", ")}` };
}

function failingNow({ locations, alone }: MonitorState): readonly FailingLocation[] {
  return failingLocations(
    Array.from(locations, ([location, known]) => ({ location, known })),
    alone,
  );
}
