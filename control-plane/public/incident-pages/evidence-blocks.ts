import { isRecord } from "#shared/text/is-record.ts";
import { listLeaves } from "#shared/text/leaves.ts";
import type { Evidence, PlaceEvidence, ToolAnswer } from "#control-plane/watching/evidence/evidence.ts";
import type { Block } from "#control-plane/public/incident-pages/page.ts";
import { cell, lines, shown, underDays } from "#control-plane/public/incident-pages/text.ts";
import { formatTime } from "#control-plane/notify/mail/content/times.ts";

/** Maximum number of rows of a table. */
const MOST_ROWS = 60;
/** Maximum number of values of a tool's result. */
const MOST_LEAVES = 200;
/** Longer values, such as bodies and certificates, say nothing on a phone. */
const MOST_LEAF = 300;

const NO_TABLE = { columns: null, rows: [] } as const;

/** How the times of an incident are written. */
export interface Times {
  /** Writes an ISO 8601 time for people. */
  readonly timeOf: (text: string) => string;
  /** Writes the times that a text of ours has, which are in UTC. */
  readonly inText: (text: string) => string;
}

/** Times in UTC. */
export const UTC_TIMES: Times = { timeOf: (text) => formatTime(new Date(text)), inText: (text) => text };

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
