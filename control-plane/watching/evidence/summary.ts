import { listFirst } from "#shared/text/list.ts";
import { isRecord } from "#shared/text/is-record.ts";
import type { ComparedFact } from "#control-plane/watching/evidence/changes.ts";
import type { Change, PlaceEvidence, ToolAnswer } from "#control-plane/watching/evidence/evidence.ts";
import { toPlainLine } from "#shared/text/plain-line.ts";

/** What the lines are about. */
interface Summarized {
  /** Sentence on the cause. */
  readonly cause: string;
  readonly changed: readonly Change[];
  /** What was compared, changed or not. */
  readonly compared: readonly ComparedFact[];
  /** Interval of the monitor's checks, milliseconds. */
  readonly intervalMs: number;
  /** Time of the newest good check at the failing location; null if there is none at any. */
  readonly lastGoodAt: Date | null;
  /** Names of the locations that fail. */
  readonly failingAt: readonly string[];
  readonly failing: PlaceEvidence | null;
  readonly healthy: PlaceEvidence | null;
  /** Address that was traced because the name could not be looked up; null: the target itself was traced. */
  readonly lastAddress: string | null;
  /** Locations at which the target was up when the outage was confirmed. */
  readonly workingAt: readonly string[];
  /** Locations at which the target did not answer within the limit of evidence, which is shorter than the monitor's. */
  readonly silentAt: readonly string[];
}

/** Maximum length of a line. */
const MOST_LINE = 400;
const MOST_NAME = 60;
/** Maximum number of changes and of places that a line names. */
const MOST_CHANGES = 3;
const MOST_PLACES = 4;

const NAMES: Readonly<Record<string, string>> = {
  addresses: "addresses",
  name_servers: "name servers",
  certificate: "certificate",
  status: "status",
  redirect_target: "redirect target",
  records: "records",
  redirect_ms: "time of the redirects",
  dns_ms: "time of the name look-up",
  connect_ms: "time to connect",
  tls_ms: "time of the TLS handshake",
  ttfb_ms: "time to the first byte",
  transfer_ms: "time of the body",
  rtt_ms: "round trip",
};

/** Writes what an on-call engineer reads first: the cause, what has changed, and where it fails. One line each. */
export function summarize(about: Summarized): readonly [cause: string, changes: string, places: string] {
  const lines = [about.cause, describeChanges(about), describePlaces(about)].map((line) =>
    toPlainLine(line, MOST_LINE),
  );
  return [lines[0] ?? "", lines[1] ?? "", lines[2] ?? ""];
}

/**
 * The line names the last good check. Addresses, certificates and redirects are reported in full once an hour only: what
 * was compared with a check that is more than an interval older than that has the time of its own.
 */
function describeChanges({ changed, compared, intervalMs, lastGoodAt }: Summarized): string {
  const last =
    lastGoodAt?.toISOString() ??
    changed
      .map(({ last_good_at: at }) => at)
      .toSorted()
      .at(-1);
  if (last === undefined) return "No earlier good check to compare with";
  const since = `since the good check at ${minuteOf(last)} UTC`;
  const isOlder = (at: string): boolean => Date.parse(last) - Date.parse(at) > intervalMs;
  if (changed.length === 0) {
    const older = compared.map(({ field, at }) => ({ field, at: at.toISOString() })).filter(({ at }) => isOlder(at));
    return `Nothing that can be compared has changed ${since}${describeOlder(older, last)}`;
  }
  const shown = changed.slice(0, MOST_CHANGES).map(({ field, before, after, last_good_at: at }) => {
    const compare = isOlder(at) ? ` (compared with the check at ${shortTime(at, last)})` : "";
    return `${nameField(field)} ${before} -> ${after}${compare}`;
  });
  const rest = changed.length - shown.length;
  return `Changed ${since}: ${shown.join("; ")}${rest > 0 ? `; and ${rest} more` : ""}`;
}

/** Names what was compared with older checks, by their time: " (certificate: since the check at 20:53)". */
function describeOlder(older: readonly { readonly field: string; readonly at: string }[], last: string): string {
  if (older.length === 0) return "";
  const groups = Map.groupBy(older, ({ at }) => shortTime(at, last));
  const parts = Array.from(
    groups,
    ([time, facts]) => `${facts.map(({ field }) => nameField(field)).join(", ")}: since the check at ${time}`,
  );
  return ` (${parts.join("; ")})`;
}

function nameField(field: string): string {
  return NAMES[field] ?? field;
}

/** Returns the minute of a time, without its date if that is the date of `shown`. */
function shortTime(at: string, shown: string): string {
  const [date = "", time = ""] = minuteOf(at).split(" ");
  return shown.startsWith(date) ? time : minuteOf(at);
}

function minuteOf(time: string): string {
  return time.slice(0, 16).replace("T", " ");
}

function describePlaces({ failingAt, failing, healthy, lastAddress, workingAt, silentAt }: Summarized): string {
  const working = new Set([...workingAt, ...(healthy === null ? [] : [healthy.location])]);
  const isEverywhere = working.size === 0 && silentAt.length === 0;
  const fails = isEverywhere
    ? `Fails from everywhere that was checked: ${listPlaces(failingAt)}`
    : `Fails from ${listPlaces(failingAt)}`;
  const works = working.size === 0 ? [] : [`works from ${listPlaces([...working])}`];
  const silent = silentAt.length === 0 ? [] : [`not known from ${listPlaces(silentAt)}, which got no answer in time`];
  const traces = [failing, healthy].flatMap((place) => {
    const target = lastAddress === null || place !== failing ? "the target" : `its last known address ${lastAddress}`;
    const end = place === null || place.trace === null ? null : describeEnd(place.trace, target);
    return place === null || end === null ? [] : [`the trace from ${name(place.location)} ${end}`];
  });
  return [fails, ...works, ...silent, ...traces].join("; ");
}

/** Says where a trace ends: at the target, or at the last router that answered. */
function describeEnd(trace: ToolAnswer, target: string): string | null {
  if (trace.status === "failed" || !isRecord(trace.data)) return null;
  const { reached, hops, unreachable } = trace.data;
  if (reached === true) return `reaches ${target}`;
  if (isRecord(unreachable)) return `is refused at hop ${String(unreachable["hop"])} by ${String(unreachable["ip"])}`;
  const rows: readonly unknown[] = Array.isArray(hops) ? hops : [];
  for (const row of rows.toReversed()) {
    const replies: readonly unknown[] = isRecord(row) && Array.isArray(row["replies"]) ? row["replies"] : [];
    const reply = replies.find((one) => isRecord(one) && typeof one["ip"] === "string");
    if (!isRecord(row) || !isRecord(reply)) continue;
    const { ip, hostname } = reply;
    const router = typeof hostname === "string" ? `${hostname} (${String(ip)})` : String(ip);
    return `ends at hop ${String(row["hop"])}, ${router}`;
  }
  return "gets no answer from any router";
}

function listPlaces(places: readonly string[]): string {
  return listFirst(places.slice(0, MOST_PLACES).map(name), MOST_PLACES, places.length);
}

function name(place: string): string {
  return toPlainLine(place, MOST_NAME);
}
