import { isRecord } from "#shared/is-record.ts";
import type { Change, PlaceEvidence, ToolAnswer } from "#control-plane/evidence/evidence.ts";
import { plainLine } from "#control-plane/incidents/cause/plain-line.ts";

/** What the lines are about. */
interface Summarized {
  /** Sentence on the cause. */
  readonly cause: string;
  readonly changed: readonly Change[];
  /** Time of the newest good check at the failing location; null: there is none at any. */
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
  const lines = [about.cause, describeChanges(about), describePlaces(about)].map((line) => plainLine(line, MOST_LINE));
  return [lines[0] ?? "", lines[1] ?? "", lines[2] ?? ""];
}

/** The line names one good check, the newest that was compared; a change since an older one has its own time. */
function describeChanges({ changed, lastGoodAt }: Summarized): string {
  const newest =
    changed
      .map(({ last_good_at: at }) => at)
      .toSorted()
      .at(-1) ?? lastGoodAt?.toISOString();
  if (newest === undefined) return "No earlier good check to compare with";
  const since = `since the good check at ${minuteOf(newest)} UTC`;
  if (changed.length === 0) return `Nothing that can be compared has changed ${since}`;
  const shown = changed.slice(0, MOST_CHANGES).map(({ field, before, after, last_good_at: at }) => {
    return `${NAMES[field] ?? field} ${before} -> ${after}${describeAge(at, newest)}`;
  });
  const rest = changed.length - shown.length;
  return `Changed ${since}: ${shown.join("; ")}${rest > 0 ? `; and ${rest} more` : ""}`;
}

function describeAge(at: string, newest: string): string {
  const [older, shown] = [minuteOf(at), minuteOf(newest)];
  if (older === shown) return "";
  const [date, time] = older.split(" ");
  return shown.startsWith(date ?? "") ? ` (since ${time})` : ` (since ${older})`;
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
  const named = places.slice(0, MOST_PLACES).map(name);
  const rest = places.length - named.length;
  return named.join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}

function name(place: string): string {
  return plainLine(place, MOST_NAME);
}
