import type { Evidence } from "#control-plane/watching/evidence/evidence.ts";
import { listEvidence, UTC_TIMES, type Times } from "#control-plane/public/incident-pages/evidence-blocks.ts";
import type { Block, Page } from "#control-plane/public/incident-pages/page.ts";
import { cell, lines, underDays } from "#control-plane/public/incident-pages/text.ts";
import { writeDuration } from "#shared/text/duration.ts";
import { shownTitle } from "#control-plane/outages/incidents/texts.ts";
import type { showDetails } from "#control-plane/outages/incidents/view.ts";
import { dashboardUrl } from "#control-plane/notify/mail/content/notice.ts";
import { formatTime } from "#control-plane/notify/mail/content/times.ts";
import { kindOf } from "#control-plane/outages/kinds/kinds.ts";

/** An incident as its owner reads it. */
type ShownIncident = ReturnType<typeof showDetails>;

/** What every page of an incident shows; what can be done there is its own. */
export type IncidentLayout = Pick<Page, "state" | "tone" | "name" | "sentences" | "facts" | "blocks">;

/** Lays out an incident for the link of a mail, with times in UTC. */
export function showIncidentPage(
  incident: ShownIncident,
  { baseUrl, expiresAt }: { readonly baseUrl: string; readonly expiresAt: Date },
): Page {
  return {
    ...layOutIncident(incident),
    canAcknowledge: incident.resolved_at === null && incident.acknowledged === null,
    pictures: [],
    dashboardUrl: dashboardUrl(baseUrl, { incidentId: incident.id, monitorId: null }),
    footer: `Incident ${incident.id}. This page opens without signing in until ${formatTime(expiresAt)}: keep its address to yourself.`,
  };
}

/** Lays out an incident: its state and name, its cause, since when, then what an engineer needs next. */
export function layOutIncident(incident: ShownIncident, times = UTC_TIMES): IncidentLayout {
  const { timeOf, inText } = times;
  const { monitor, cause, cause_now: causeNow, acknowledged, suppressed_by: holder, evidence } = incident;
  const target = monitor?.url == null ? null : `${cell(monitor.url)} (${cell(monitor.check_type)})`;
  return {
    state: stateOf(incident),
    tone: incident.resolved_at === null ? "down" : "up",
    name: cell(monitor?.name || incident.title),
    sentences: [
      ...(cause === null ? [] : [cell(inText(cause.message))]),
      ...(causeNow === null || causeNow.message === cause?.message ? [] : [`Now: ${cell(inText(causeNow.message))}`]),
      describeTimes(incident, times),
      ...(acknowledged === null ? [] : [`Acknowledged by ${cell(acknowledged.by)} at ${timeOf(acknowledged.at)}`]),
    ],
    facts: [
      ...(target === null ? [] : ([["Target", target]] as const)),
      ["Confirmed", timeOf(incident.confirmed_at)],
      ...(monitor === null ? [] : ([["Title", cell(shownTitle(incident))]] as const)),
      ...(holder === null ? [] : ([["Held back", `notices wait for monitor ${holder}, on which it depends`]] as const)),
    ],
    blocks: [
      ...listLocations(incident, times),
      // The port's type is open; what it returns for an incident is the stored evidence.
      ...(evidence === null ? [] : listEvidence(evidence as Evidence, times)),
      listTimeline(incident, times),
    ],
  };
}

/** Returns the state of an incident as a word: that of its monitor, or the status that a person has given it. */
export function stateOf({
  monitor,
  resolved_at: resolvedAt,
  recovered_at: recoveredAt,
  status,
}: Pick<ShownIncident, "monitor" | "resolved_at" | "recovered_at" | "status">): string {
  if (monitor === null) return `${status.charAt(0).toUpperCase()}${status.slice(1)}`;
  if (resolvedAt === null) return "Down";
  return recoveredAt === null ? "Ended" : "Recovered";
}

function describeTimes(
  { started_at: start, resolved_at: end, duration_seconds: seconds }: ShownIncident,
  { timeOf }: Times,
): string {
  const lasted = writeDuration(seconds);
  return end === null ? `Since ${timeOf(start)}, for ${lasted}` : `From ${timeOf(start)} to ${timeOf(end)}, ${lasted}`;
}

function listLocations({ locations, monitor }: ShownIncident, { inText }: Times): readonly Block[] {
  // Where there are none, the cause says all.
  if (locations.length === 0 || (monitor !== null && kindOf(monitor.check_type).locations === "none")) return [];
  const rows = locations.map(({ location, status, error }) => {
    return [cell(location), status === "down" ? "down" : "up again", error === null ? "" : cell(inText(error.message))];
  });
  return [{ title: "Locations", isOpen: true, lines: [], columns: ["Location", "State", "Error"], rows }];
}

function listTimeline({ timeline }: ShownIncident, { timeOf, inText }: Times): Block {
  const rows = timeline.map(({ at, by, text }) => [
    timeOf(at),
    // What people write stays as they wrote it.
    by === null ? lines(inText(text)) : `${lines(text)} (${cell(by)})`,
  ]);
  return { title: "Timeline", isOpen: true, lines: [], columns: ["Time", "What"], rows: underDays(rows) };
}
