import type { Evidence } from "#control-plane/evidence/evidence.ts";
import { listEvidence } from "#control-plane/incident-pages/evidence-blocks.ts";
import type { Block, Page } from "#control-plane/incident-pages/page.ts";
import { cell, lines } from "#control-plane/incident-pages/text.ts";
import { writeDuration } from "#shared/text/duration.ts";
import type { showDetails } from "#control-plane/incidents/view.ts";
import { formatTime } from "#control-plane/mail/content/times.ts";
import { kindOf } from "#control-plane/kinds/kinds.ts";

/** An incident as its owner reads it. */
type ShownIncident = ReturnType<typeof showDetails>;

/** Lays out an incident: its state and name, its cause, since when, then what an engineer needs next. */
export function showIncidentPage(incident: ShownIncident, { expiresAt }: { readonly expiresAt: Date }): Page {
  const { monitor, cause, cause_now: causeNow, acknowledged, suppressed_by: holder, evidence } = incident;
  const isOpen = incident.resolved_at === null;
  const target = monitor?.url == null ? null : `${cell(monitor.url)} (${cell(monitor.check_type)})`;
  return {
    state: stateOf(incident),
    tone: isOpen ? "down" : "up",
    name: cell(monitor?.name || incident.title),
    sentences: [
      ...(cause === null ? [] : [cell(cause.message)]),
      ...(causeNow === null || causeNow.message === cause?.message ? [] : [`Now: ${cell(causeNow.message)}`]),
      describeTimes(incident),
      ...(acknowledged === null ? [] : [`Acknowledged by ${cell(acknowledged.by)} at ${timeOf(acknowledged.at)}`]),
    ],
    canAcknowledge: isOpen && acknowledged === null,
    facts: [
      ...(target === null ? [] : ([["Target", target]] as const)),
      ["Confirmed", timeOf(incident.confirmed_at)],
      ...(monitor === null ? [] : ([["Title", cell(incident.title)]] as const)),
      ...(holder === null ? [] : ([["Held back", `notices wait for monitor ${holder}, on which it depends`]] as const)),
    ],
    pictures: [],
    blocks: [
      ...listLocations(incident),
      // The port's type is open; what it returns for an incident is the stored evidence.
      ...(evidence === null ? [] : listEvidence(evidence as Evidence)),
      listTimeline(incident),
    ],
    footer: `Incident ${incident.id}. This page opens without signing in until ${formatTime(expiresAt)}: keep its address to yourself.`,
  };
}

function stateOf({ monitor, resolved_at: resolvedAt, recovered_at: recoveredAt, status }: ShownIncident): string {
  if (monitor === null) return `${status.charAt(0).toUpperCase()}${status.slice(1)}`;
  if (resolvedAt === null) return "Down";
  return recoveredAt === null ? "Ended" : "Recovered";
}

function describeTimes({ started_at: start, resolved_at: end, duration_seconds: seconds }: ShownIncident): string {
  const lasted = writeDuration(seconds);
  return end === null ? `Since ${timeOf(start)}, for ${lasted}` : `From ${timeOf(start)} to ${timeOf(end)}, ${lasted}`;
}

function listLocations({ locations, monitor }: ShownIncident): readonly Block[] {
  // Where there are none, the cause says all.
  if (locations.length === 0 || (monitor !== null && kindOf(monitor.check_type).locations === "none")) return [];
  const rows = locations.map(({ location, status, error }) => {
    return [cell(location), status === "down" ? "down" : "up again", error === null ? "" : cell(error.message)];
  });
  return [{ title: "Locations", isOpen: true, lines: [], columns: ["Location", "State", "Error"], rows }];
}

function listTimeline({ timeline }: ShownIncident): Block {
  const rows = timeline.map(({ at, by, text }) => [
    timeOf(at),
    by === null ? lines(text) : `${lines(text)} (${cell(by)})`,
  ]);
  return { title: "Timeline", isOpen: true, lines: [], columns: ["Time", "What"], rows };
}

function timeOf(text: string): string {
  return formatTime(new Date(text));
}
