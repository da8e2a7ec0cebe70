import { isRecord } from "#shared/text/is-record.ts";
import { toPlainLine } from "#shared/text/plain-line.ts";
import { kindOf } from "#control-plane/outages/kinds/kinds.ts";

/** Phases of a check whose times are compared, in the order of their course. */
export const PHASES = ["redirect_ms", "dns_ms", "connect_ms", "tls_ms", "ttfb_ms", "transfer_ms", "rtt_ms"] as const;
/** One of these phases. */
type Phase = (typeof PHASES)[number];

/** The values of one check that are compared with those of another. null: the check does not report it. */
export interface ComparedValues {
  /** Addresses of the host, sorted. */
  readonly addresses: readonly string[] | null;
  /** Address that was connected to. */
  readonly address: string | null;
  /** Issuer and end are empty if only the fingerprint is known. */
  readonly certificate: { readonly fingerprint: string; readonly issuer: string; readonly notAfter: string } | null;
  readonly status: number | null;
  /** URL of the final response. */
  readonly finalUrl: string | null;
  /** Names of the domain's servers, sorted. */
  readonly nameServers: readonly string[] | null;
  /** When they were looked up, if not by this check; Unix milliseconds. */
  readonly nameServersAt: number | null;
  /** Data of the looked-up records, sorted. */
  readonly records: readonly string[] | null;
  /** Milliseconds. */
  readonly phases: Readonly<Partial<Record<Phase, number>>>;
}

/** Nothing is known. */
export const NO_VALUES: ComparedValues = {
  addresses: null,
  address: null,
  certificate: null,
  status: null,
  finalUrl: null,
  nameServers: null,
  nameServersAt: null,
  records: null,
  phases: {},
};

/** Maximum number of items in a list, and of characters in a text. */
const MOST_ITEMS = 20;
const MOST_TEXT = 500;

/** Reads the facts from the full result of a monitor's check: that of the tool check, dns or ping. */
export function readComparedValues(whole: unknown): ComparedValues {
  if (!isRecord(whole)) return NO_VALUES;
  if (Array.isArray(whole["results"])) return { ...NO_VALUES, records: readRecords(whole["results"][0]) };
  const address = readText(whole["ip"]);
  const listed = textsOf(whole["addresses"], "ip");
  return {
    ...NO_VALUES,
    address,
    addresses: listed.length > 0 ? listed : address === null ? null : [address],
    certificate: readCertificate(isRecord(whole["tls"]) ? whole["tls"]["certificate"] : whole["certificate"]),
    status: readNumber(whole["code"]),
    finalUrl: readText(whole["final_url"]),
    phases: readPhases(whole),
  };
}

/** What the short result of a check says, of which no more is known. */
interface ShortResult {
  readonly responseMs: number | null;
  readonly httpStatus: number | null;
  /** Seconds by phase; null: not measured. */
  readonly phases: readonly (readonly [phase: string, seconds: number])[] | null;
}

/** Phases whose names in the full result are other ones. */
const FULL_NAMES: Readonly<Record<string, Phase>> = { processing: "ttfb_ms" };

/** Reads the facts from the short result of a monitor's check. The certificate is not among them (baselines/merge.ts). */
export function readShortValues(checkType: string, { responseMs, httpStatus, phases }: ShortResult): ComparedValues {
  const named = (phases ?? []).map(([name, seconds]) => [FULL_NAMES[name] ?? `${name}_ms`, seconds * 1_000] as const);
  const times = named.filter(([name]) => (PHASES as readonly string[]).includes(name));
  const trip = kindOf(checkType).evidence.isRoundTrip && responseMs !== null ? { rtt_ms: responseMs } : {};
  return { ...NO_VALUES, status: httpStatus, phases: { ...Object.fromEntries(times), ...trip } };
}

/** Reads the data of one record type from the result of the tool dns; null if there is no answer. */
export function readDnsRecords(result: unknown, type: string): readonly string[] | null {
  if (!isRecord(result) || !Array.isArray(result["results"])) return null;
  const found: unknown = result["results"].find((row) => isRecord(row) && row["type"] === type);
  return found === undefined ? null : readRecords(found);
}

/** A look-up that was answered without records has none; one that was not answered says nothing. */
function readRecords(row: unknown): readonly string[] | null {
  if (!isRecord(row) || (row["status"] !== "NOERROR" && row["status"] !== "NXDOMAIN")) return null;
  return textsOf(row["records"], "data");
}

function readCertificate(found: unknown): ComparedValues["certificate"] {
  if (!isRecord(found)) return null;
  const fingerprint = readText(found["fingerprint_sha256"]);
  if (fingerprint === null) return null;
  return { fingerprint, issuer: readText(found["issuer"]) ?? "", notAfter: readText(found["not_after"]) ?? "" };
}

function readPhases(whole: Readonly<Record<string, unknown>>): ComparedValues["phases"] {
  const { timing, rtt, ports } = whole;
  const phases: Partial<Record<Phase, number>> = {};
  for (const phase of PHASES) {
    const ms = isRecord(timing) ? readNumber(timing[phase]) : null;
    if (ms !== null) phases[phase] = ms;
  }
  const [port] = Array.isArray(ports) ? (ports as readonly unknown[]) : [];
  const trip = isRecord(rtt) ? rtt["avg_ms"] : isRecord(port) ? port["rtt_ms"] : null;
  const ms = readNumber(trip);
  if (ms !== null) phases.rtt_ms = Math.round(ms);
  return phases;
}

/** Returns the texts in a field of each item of a list, sorted, without repeats. */
function textsOf(list: unknown, field: string): readonly string[] {
  if (!Array.isArray(list)) return [];
  const found = (list as readonly unknown[]).flatMap((item) => (isRecord(item) ? (readText(item[field]) ?? []) : []));
  return [...new Set(found)].toSorted().slice(0, MOST_ITEMS);
}

/** Reads a text of an agent. ComparedValues are stored together with those of others, in columns that refuse a NUL. */
function readText(value: unknown): string | null {
  const text = typeof value === "string" ? toPlainLine(value, MOST_TEXT) : "";
  return text === "" ? null : text;
}

function readNumber(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}
