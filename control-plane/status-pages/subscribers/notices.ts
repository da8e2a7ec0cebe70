import type { SentEvent } from "#control-plane/deliveries/delivery.ts";
import type { MonitorEventData } from "#control-plane/events/monitor-event.ts";
import type { IncidentAnnouncement } from "#control-plane/incidents/announcement.ts";
import { outageTitle } from "#control-plane/incidents/texts.ts";
import { MOST_NAME } from "#control-plane/mail/content/event-body.ts";
import { toPlainLine } from "#control-plane/plain-line.ts";
import { formatDuration, formatTime } from "#control-plane/mail/content/times.ts";
import type { MaintenanceAnnouncement } from "#control-plane/maintenance/announcement.ts";
import type { PageNotice } from "#control-plane/status-pages/subscribers/letters.ts";

/** Facts about a page on which its notices depend. */
interface NoticeContext {
  /** Names on the page by monitor; monitors that it no longer shows are missing. */
  readonly names: ReadonlyMap<number, string>;
  /** Incidents that are not public, or no longer. */
  readonly hidden: ReadonlySet<number>;
}

/** An announcement as it is stored: those of older releases have no monitor. */
type StoredAnnouncement = Omit<IncidentAnnouncement, "monitor"> & Partial<Pick<IncidentAnnouncement, "monitor">>;

const MOST_LINE = 300;
const MOST_LINES = 40;

/** Returns the monitor and the incident that an event is about; null: none. */
export function subjectOf(event: SentEvent): { readonly monitorId: number | null; readonly incidentId: number | null } {
  const { data } = readBody(event);
  const { monitor, incident_id: incidentId } = data as Partial<MonitorEventData>;
  return { monitorId: monitor?.id ?? null, incidentId: incidentId ?? null };
}

/** Describes an event for the subscribers of a page; null if the page does not show it. */
export function toPageNotice(event: SentEvent, { names, hidden }: NoticeContext): PageNotice | null {
  const { incidentId } = subjectOf(event);
  if (incidentId !== null && hidden.has(incidentId)) return null;
  const { data, at } = readBody(event);
  switch (event.type) {
    case "monitor.down":
    case "monitor.up":
      return describeMonitor(data as MonitorEventData, names, at);
    case "page.incident":
    case "page.update":
      return describeIncident(data as StoredAnnouncement, names, at);
    case "page.maintenance":
      return describeMaintenance(data as MaintenanceAnnouncement, at);
    default:
      return null;
  }
}

function readBody({ body }: SentEvent): { readonly data: object; readonly at: Date } {
  const { data, created_at: at } = JSON.parse(body) as { readonly data: object; readonly created_at: string };
  return { data, at: new Date(at) };
}

function describeMonitor(data: MonitorEventData, names: ReadonlyMap<number, string>, at: Date): PageNotice | null {
  const name = names.get(data.monitor.id);
  if (name === undefined) return null;
  const since = data.started_at === null ? [] : [["Since", formatTime(new Date(data.started_at))] as const];
  if (data.status === "down") {
    const cause = data.cause === null ? [] : [["Cause", toPlainLine(data.cause.message, MOST_LINE)] as const];
    return { ...headed(name, (shown) => `${shown} is down`), paragraphs: [], facts: [...cause, ...since], at };
  }
  const lasted = data.duration_seconds === null ? "" : ` after ${formatDuration(data.duration_seconds)}`;
  const head = headed(name, (shown) => `${shown} is up again${lasted}`);
  return { ...head, paragraphs: [], facts: [["Time", formatTime(at)]], at };
}

/** Describes an incident. The first title of an outage has the monitor's name on the page, which can hide its own. */
function describeIncident(
  { monitor = null, title, status, impact, text }: StoredAnnouncement,
  names: ReadonlyMap<number, string>,
  at: Date,
): PageNotice | null {
  const shown = monitor === null ? title : shownTitle(title, monitor.name, names.get(monitor.id));
  if (shown === null) return null;
  return {
    ...headed(shown, (line) => `${line}: ${status}`),
    paragraphs: linesOf(text),
    facts: [
      ["Impact", impact],
      ["Time", formatTime(at)],
    ],
    at,
  };
}

/** Returns the title of an outage on a page; null if the page does not show its monitor. */
function shownTitle(title: string, monitorName: string, shownName: string | undefined): string | null {
  if (shownName === undefined) return null;
  return title === outageTitle(monitorName) ? outageTitle(shownName) : title;
}

function describeMaintenance(data: MaintenanceAnnouncement, at: Date): PageNotice {
  const { title, starts_at: startsAt, duration_seconds: duration, is_repeated: isRepeated } = data;
  return {
    ...headed(title, (line) => `Maintenance: ${line}`),
    paragraphs: isRepeated ? ["It repeats; the status page shows the next times."] : [],
    facts: [
      ["Start", formatTime(new Date(startsAt))],
      ["Duration", formatDuration(duration)],
    ],
    at,
  };
}

/** Writes a headline with a name: in full for the text, and with the name cut for the subject. */
function headed(name: string, write: (name: string) => string): Pick<PageNotice, "headline" | "subject"> {
  return { headline: write(toPlainLine(name, MOST_LINE)), subject: write(toPlainLine(name, MOST_NAME)) };
}

/** Splits a text into printable lines. */
function linesOf(text: string): readonly string[] {
  const lines = text.split(/\r?\n/).map((line) => toPlainLine(line, 1_000));
  return lines.filter((line) => line !== "").slice(0, MOST_LINES);
}
