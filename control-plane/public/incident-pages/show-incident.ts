import type { Evidence, PlaceEvidence, ToolAnswer } from "#control-plane/watching/evidence/evidence.ts";
import type { Block, Page } from "#control-plane/public/incident-pages/page.ts";
import { writeDuration } from "#shared/text/duration.ts";
import { shownTitle } from "#control-plane/outages/incidents/texts.ts";
import type { showDetails } from "#control-plane/outages/incidents/serialize.ts";
import { dashboardUrl } from "#control-plane/notify/mail/content/notice.ts";
import { formatTime } from "#control-plane/notify/mail/content/times.ts";
import { kindOf } from "#control-plane/outages/kinds/kinds.ts";
import { isRecord } from "#shared/text/is-record.ts";
import { listLeaves } from "#shared/text/leaves.ts";
import { toPlainLine } from "#shared/text/plain-line.ts";

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

/** Maximum number of rows of a table. */
const MOST_ROWS = 60;
/** Maximum number of values of a tool's result. */
const MOST_LEAVES = 200;
/** Longer values, such as bodies and certificates, say nothing on a phone. */
const MOST_LEAF = 300;

const NO_TABLE = { columns: null, rows: [] } as const;

/** How the times of an incident are written. */
interface Times {
  /** Writes an ISO 8601 time for people. */
  readonly timeOf: (text: string) => string;
  /** Writes the times that a text of ours has, which are in UTC. */
  readonly inText: (text: string) => string;
}

/** Times in UTC. */
const UTC_TIMES: Times = { timeOf: (text) => formatTime(new Date(text)), inText: (text) => text };

/** Lays out the evidence of an outage: what it means is shown at once, what was measured after a click. */
export function listEvidence(evidence: Evidence, times = UTC_TIMES): readonly Block[] {
  const { changed, failing, healthy, certificate, pings } = evidence;
  // The first line is the cause, which the page has above.
  const found = evidence.summary.slice(1).filter((line) => line !== "");
  return [
    ...(found.length === 0
      ? []
      : [{ title: "What was found", isOpen: true, lines: found.map((line) => cell(times.inText(line))), ...NO_TABLE }]),
    ...(changed.length === 0
      ? []
      : [
          {
            title: "Changed since the last good check",
            isOpen: true,
            lines: [],
            columns: ["What", "Before", "Now"],
            rows: changed.map(({ field, before, after }) => [
              cell(field.replaceAll("_", " ")),
              cell(before),
              cell(after),
            ]),
          },
        ]),
    ...(failing === null ? [] : listPlace(failing)),
    ...(healthy === null ? [] : listPlace(healthy)),
    ...listDns(evidence.dns),
    ...(certificate === null
      ? []
      : [
          closed(`Certificate as ${cell(certificate.location)} sees it`, [
            ["Trusted", certificate.trusted ? "yes" : `no: ${shown(certificate.trust_error)}`],
            ["Subject", cell(certificate.subject)],
            ["Issuer", cell(certificate.issuer)],
            ["Valid", `${cell(certificate.not_before)} to ${cell(certificate.not_after)}`],
            ["SHA-256", cell(certificate.fingerprint_sha256)],
          ]),
        ]),
    ...(pings === null ? [] : [listPings(pings, times)]),
  ];
}

function closed(title: string, rows: Block["rows"], columns: Block["columns"] = null): Block {
  return { title, isOpen: false, lines: [], columns, rows: rows.slice(0, MOST_ROWS) };
}

function listPlace({ location, check, trace }: PlaceEvidence): readonly Block[] {
  const { verdict, error, http_status: status, response_ms: took } = check;
  const place = cell(location);
  return [
    closed(`Check from ${place}: ${verdict}`, [
      ...(error === null ? [] : [["Error", `${cell(error.stage)}: ${cell(error.message)}`]]),
      ...(status === null ? [] : [["HTTP status", String(status)]]),
      ...(took === null ? [] : [["Response time", `${took} ms`]]),
      ...listResult(check.result),
    ]),
    ...(trace === null ? [] : [listRoute(place, trace)]),
  ];
}

/** Lists the values of a result by their paths, without those that are empty or long. */
function listResult(result: unknown): Block["rows"] {
  return listLeaves(result ?? {}, MOST_LEAVES).leaves.flatMap(([path, value]) => {
    const text = shown(value);
    // Days until an expiry are negative after it; the dates beside them say it better.
    const isTelling =
      value !== null &&
      typeof value !== "object" &&
      text !== "" &&
      text.length <= MOST_LEAF &&
      !path.endsWith("days_left");
    return isTelling ? [[cell(path), text]] : [];
  });
}

function listRoute(place: string, trace: ToolAnswer): Block {
  const title = `Route from ${place}`;
  if (trace.status === "failed") return { ...closed(title, []), lines: [cell(trace.error.message)] };
  const hops = listOf(trace.data, "hops").flatMap((hop) => {
    const reply = listOf(hop, "replies").find((one) => isRecord(one) && one["ip"] !== null);
    const named = isRecord(reply) ? [shown(reply["ip"]), shown(reply["rtt_ms"])] : ["no answer", "-"];
    return isRecord(hop) ? [[shown(hop["hop"]), ...named]] : [];
  });
  const isReached = isRecord(trace.data) && trace.data["reached"] === true;
  return {
    ...closed(title, hops, ["Hop", "Address", "ms"]),
    lines: [isReached ? "It reaches the target." : "It does not reach the target."],
  };
}

function listDns(dns: Evidence["dns"]): readonly Block[] {
  if (dns === null) return [];
  const answers = [dns.host, ...(dns.zone === null ? [] : [dns.zone])];
  const rows = answers.flatMap((answer) => {
    if (answer.status === "failed") return [["Failed", cell(answer.error.message)]];
    return listOf(answer.data, "results").map((one) => {
      const records = listOf(one, "records").map((record) => (isRecord(record) ? shown(record["data"]) : "-"));
      const status = isRecord(one) ? shown(one["status"]) : "-";
      return [isRecord(one) ? shown(one["type"]) : "-", records.length === 0 ? status : records.join("\n")];
    });
  });
  return [closed(`DNS as ${cell(dns.location)} sees it`, rows)];
}

function listPings(pings: NonNullable<Evidence["pings"]>, { timeOf }: Times): Block {
  const rows = pings.map(({ received_at: at, kind, exit_code: code, body }) => [
    timeOf(at),
    code === null ? kind : `${kind} ${code}`,
    body === null ? "" : lines(body),
  ]);
  return {
    title: "Newest pings",
    isOpen: true,
    lines: [],
    columns: ["Received", "Kind", "Body"],
    rows: underDays(rows),
  };
}

/** Returns the beginning of a list of a tool's result; empty if it has none. */
function listOf(value: unknown, name: string): readonly unknown[] {
  const found = isRecord(value) ? value[name] : null;
  return Array.isArray(found) ? (found as readonly unknown[]).slice(0, MOST_ROWS) : [];
}

const MOST_CELL = 600;
const MOST_LINES = 100;

/** Returns untrusted text as one printable line, at most 600 characters. */
function cell(text: string): string {
  return toPlainLine(text, MOST_CELL);
}

/** Returns untrusted text as printable lines: its line breaks stay, up to a hundred. */
function lines(text: string): string {
  return text
    .split(/\r\n|[\r\n]/, MOST_LINES)
    .map(cell)
    .join("\n");
}

/**
 * Puts rows that begin with a time, as "2026-11-23 02:41:07" or with a zone after it, below headings of their days: each
 * row keeps the time of day.
 */
export function underDays(rows: readonly (readonly string[])[]): readonly (readonly string[])[] {
  let current = "";
  return rows.flatMap(([time = "", ...cells]) => {
    const [date = "", clock = "", zone = ""] = time.split(" ");
    const day = `${date} ${zone}`.trimEnd();
    const heading = day === current ? [] : [[day]];
    current = day;
    return [...heading, [clock, ...cells]];
  });
}

/** Returns a value of a tool's result as a cell; null and undefined are a dash. */
function shown(value: unknown): string {
  if (value === null || value === undefined) return "-";
  return cell(typeof value === "string" ? value : (JSON.stringify(value) ?? "-"));
}
