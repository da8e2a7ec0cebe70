import type { NewEvent } from "#control-plane/events/event.ts";
import { toMonitorEvent } from "#control-plane/events/monitor-event.ts";
import { describeCause } from "#control-plane/incidents/cause/describe.ts";
import type { FailingLocation } from "#control-plane/monitors/state/events.ts";
import type { Notice } from "#control-plane/monitors/state/hold-notices.ts";
import type { MonitorState } from "#control-plane/monitors/state/state.ts";
import type { Outage, OutageFacts } from "#control-plane/monitors/watch/outage.ts";

/** Describes a notice as an event, with the addresses that are mailed. */
export function toNewEvent(
  monitor: OutageFacts,
  notice: Notice,
  { state, outage }: { readonly state: MonitorState; readonly outage: Outage },
): NewEvent {
  const { id, accountId, name, url, checkType, settings } = monitor;
  const failing = notice.kind === "down" ? notice.failing : failingNow(state);
  const isOutage = notice.kind === "down" || notice.kind === "reminder";
  const startedAt =
    notice.kind === "down" ? notice.startedAt : (outage.incident?.startedAt.getTime() ?? state.knownSince);
  const event = toMonitorEvent({
    kind: notice.kind,
    accountId,
    monitor: { id, name, url, check_type: checkType },
    at: notice.at,
    previous: "previous" in notice ? notice.previous : state.status,
    startedAt: isOutage || notice.kind === "up" ? startedAt : null,
    recoveredAt: notice.kind === "up" ? notice.recoveredAt : null,
    incidentId: outage.openId ?? outage.incident?.id ?? null,
    cause: isOutage ? describeCause(monitor, failing) : (outage.incident?.cause ?? null),
    failing: isOutage ? failing : [],
    responseMs: notice.kind === "degraded" ? notice.responseMs : null,
    isFlapping: state.isFlapping,
  });
  return settings.notify_email ? { ...event, mailTo: settings.notify_emails } : event;
}

function failingNow({ locations }: MonitorState): readonly FailingLocation[] {
  return Array.from(locations, ([location, { verdict, fault, since }]) => ({ location, verdict, fault, since })).filter(
    ({ verdict }) => verdict === "down",
  );
}
