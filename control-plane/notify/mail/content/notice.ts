import { writeDuration } from "#shared/text/duration.ts";
import type { Notice } from "#control-plane/notify/mail/content/event-body.ts";
import { failingLines, heartbeatFacts, type HeartbeatFacts } from "#control-plane/notify/mail/content/heartbeat.ts";
import type { Letter } from "#control-plane/notify/mail/content/letter.ts";
import { withoutPlaces } from "#control-plane/notify/events/places.ts";
import { toPlainLine } from "#shared/text/plain-line.ts";
import { formatTime } from "#control-plane/notify/mail/content/times.ts";
import { labelsOf } from "#control-plane/notify/mail/content/labels.ts";

/** Maximum length of a line of evidence, characters. */
const MOST_LINE = 400;

/** What was found out about an outage, one line each. */
interface EvidenceLines {
  readonly changed: string;
  readonly where: string;
}

/** What is known about a change besides its event; null: nothing. */
interface Background {
  readonly evidence: EvidenceLines | null;
  /** Of a monitor that waits for pings. */
  readonly heartbeat: HeartbeatFacts | null;
  /** Address of the page of this notice for its reader, which asks for no sign-in; absent: those of the dashboard. */
  readonly link?: string;
}

/** Writes the mail about one change of a monitor. `baseUrl` is the address of the service. */
export function writeNotice(
  notice: Notice,
  baseUrl: string,
  { evidence, heartbeat, link }: Background = { evidence: null, heartbeat: null },
): Letter {
  return {
    subject: writeSubject(notice),
    headline: headlineOf(notice),
    paragraphs: notice.isFlapping
      ? [
          "The monitor is flapping: it changed more than 4 times within an hour. Its changes are mailed together every 30 minutes.",
        ]
      : [],
    facts: listFacts(notice, [...evidenceFacts(evidence), ...(heartbeat === null ? [] : heartbeatFacts(heartbeat))]),
    list: listDetails(notice, heartbeat),
    links: link === undefined ? listLinks(notice, baseUrl) : [[linkLabel(notice), link]],
    footer:
      notice.webhookId === null
        ? `This address gets the notices of this monitor from Vantage at ${baseUrl}.`
        : `This address is that of an account of Vantage at ${baseUrl}.`,
  };
}

/** Maximum length of the reason in a subject, characters. */
const MOST_REASON = 120;

/** Writes what a phone shows of a mail: the state, the name, and why. */
function writeSubject(notice: Notice): string {
  const reason = reasonOf(notice);
  const state = `${labelsOf(notice).label}: ${notice.name}`;
  return reason === null ? state : `${state} - ${toPlainLine(reason, MOST_REASON)}`;
}

/** Says in a few words why a monitor is in its state; null: the state says all. */
export function reasonOf({
  kind,
  cause,
  locations,
  durationSeconds,
  responseMs,
  limitMs,
  page,
}: Notice): string | null {
  switch (kind) {
    case "down":
    case "reminder": {
      const failing = locations.map(({ location }) => location);
      return cause === null ? null : withoutPlaces(cause, failing);
    }
    case "up":
      return durationSeconds === null ? null : `after ${writeDuration(durationSeconds)}`;
    case "degraded":
      return responseMs === null ? null : describeSlowness(responseMs, limitMs);
    case "visual":
      return page === null ? null : `${formatPercent(page.ratio)} of its pixels`;
    case "not_degraded":
    case "other":
      return null;
  }
}

function describeSlowness(responseMs: number, limitMs: number | null): string {
  return limitMs === null ? `${responseMs} ms` : `${responseMs} ms, the limit is ${limitMs} ms`;
}

function headlineOf({ kind, type, name, durationSeconds, responseMs, limitMs, page, text }: Notice): string {
  const lasted = durationSeconds === null ? "" : writeDuration(durationSeconds);
  switch (kind) {
    case "down":
      return `${name} is down.`;
    case "reminder":
      return lasted === "" ? `${name} is still down.` : `${name} is still down, for ${lasted}.`;
    case "up":
      return lasted === "" ? `${name} is up again.` : `${name} is up again after ${lasted}.`;
    case "degraded":
      return responseMs === null
        ? `${name} is degraded.`
        : `${name} responds slowly: ${describeSlowness(responseMs, limitMs)}.`;
    case "not_degraded":
      return `${name} responds quickly again.`;
    case "visual":
      return page === null
        ? `${name} looks different.`
        : `${name} looks different: ${formatPercent(page.ratio)} of its pixels.`;
    case "other":
      return text?.headline ?? `${type}: ${name}`;
  }
}

/** Formats a percentage so that a small one is not 0. */
function formatPercent(percent: number): string {
  return `${percent >= 1 ? percent.toFixed(1) : percent.toPrecision(2)} %`;
}

function evidenceFacts(evidence: EvidenceLines | null): Letter["facts"] {
  if (evidence === null) return [];
  return [
    ["Changed", line(evidence.changed)],
    ["Where", line(evidence.where)],
  ];
}

function listFacts(notice: Notice, known: Letter["facts"]): Letter["facts"] {
  const { kind, startedAt, at, target, page, text } = notice;
  // Such a text has its own facts.
  const cause = text === null ? notice.cause : null;
  const isOutage = kind === "down" || kind === "reminder" || kind === "up";
  return [
    ...(cause === null ? [] : ([[notice.causeNow === null ? "Cause" : "First cause", cause]] as const)),
    ...(notice.causeNow === null ? [] : ([["Last cause", notice.causeNow]] as const)),
    ...known,
    ...(isOutage && startedAt !== null
      ? ([[kind === "up" ? "Down since" : "Since", formatTime(startedAt)]] as const)
      : []),
    ...(text?.facts ?? []),
    // A notice that was silenced is newer than the confirmation of its outage.
    [isOutage ? "Reported" : "Time", formatTime(at)],
    ...(target === null ? [] : ([["Target", target]] as const)),
    ...(page === null
      ? []
      : ([
          ["Location", page.location],
          ["Limit", formatPercent(page.threshold)],
        ] as const)),
  ];
}

function line(text: string): string {
  return toPlainLine(text, MOST_LINE);
}

/** Lists the failing locations, or what the run of a heartbeat said that failed. */
function listDetails(notice: Notice, heartbeat: HeartbeatFacts | null): Letter["list"] {
  if (notice.locations.length > 0) return { title: "Failing locations", items: listLocations(notice) };
  const isReported = notice.kind !== "up" && notice.causeCode === "heartbeat_failed";
  return heartbeat !== null && isReported ? failingLines(heartbeat) : null;
}

function listLocations({ locations }: Notice): readonly string[] {
  return locations.map(({ location, fault, since }) => {
    return `${location}: ${fault}${since === null ? "" : `, since ${formatTime(since)}`}`;
  });
}

/** Says what the page of a notice shows. */
export function linkLabel({ incidentId, page }: Pick<Notice, "incidentId" | "page">): string {
  if (incidentId !== null) return "Incident";
  return page === null ? "Details" : "Pictures";
}

/** Links to what a reader who signs in needs next. */
function listLinks(notice: Notice, baseUrl: string): Letter["links"] {
  const { incidentId, monitorId, page } = notice;
  const pictures = `${baseUrl}/app/monitors/${monitorId}/pictures`;
  return [
    ...(page?.pictures ?? []).map(({ label, pictureId }) => [label, `${pictures}/${pictureId}`] as const),
    ...(incidentId === null ? [] : ([["Incident", dashboardUrl(baseUrl, { incidentId, monitorId })]] as const)),
    ...(monitorId === null ? [] : ([["Monitor", dashboardUrl(baseUrl, { incidentId: null, monitorId })]] as const)),
  ];
}

/** Returns the address of the page of an incident in the dashboard, or else of a monitor, or else of the dashboard. */
export function dashboardUrl(
  baseUrl: string,
  { incidentId, monitorId }: { readonly incidentId: number | null; readonly monitorId: number | null },
): string {
  if (incidentId !== null) return `${baseUrl}/app/incidents/${incidentId}`;
  return monitorId === null ? `${baseUrl}/app/` : `${baseUrl}/app/monitors/${monitorId}`;
}
