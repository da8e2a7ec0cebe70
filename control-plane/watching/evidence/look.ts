import {
  certificateCall,
  dnsCalls,
  toToolAnswer,
  traceCall,
  type AskedPlace,
  type Asker,
  type Call,
} from "#control-plane/watching/evidence/ask.ts";
import type {
  CertificateEvidence,
  DnsEvidence,
  PlaceEvidence,
  ToolAnswer,
} from "#control-plane/watching/evidence/evidence.ts";
import {
  readComparedValues,
  readShortValues,
  type ComparedValues,
} from "#control-plane/watching/evidence/compared-values.ts";
import type { Redact } from "#shared/text/redact.ts";
import type { MonitorSecrets } from "#control-plane/outages/kinds/common.ts";
import type { MonitorSettings } from "#control-plane/outages/kinds/monitor.ts";
import { kindOf, optionsOf, type ProbedType } from "#control-plane/outages/kinds/kinds.ts";
import { decodePhases, encodePhases } from "#control-plane/watching/checking/snapshots/phases.ts";
import { monitorCall } from "#control-plane/watching/checking/watch/monitor-call.ts";
import { readFinding, type Finding } from "#control-plane/watching/checking/watch/observe.ts";
import { isRecord } from "#shared/text/is-record.ts";

/** A monitor that probes check. */
export interface Checked {
  readonly url: string;
  readonly checkType: ProbedType;
  readonly settings: MonitorSettings;
}

/** What one location sees now. */
export interface Look {
  readonly place: PlaceEvidence;
  readonly facts: ComparedValues;
  /** Whether the target did not answer within the limit of evidence, which is shorter than the monitor's own. */
  readonly isCutShort: boolean;
}

/** Time limit of one monitor's check, seconds; a monitor can have a longer one. */
const MOST_CHECK_SECONDS = 6;
/** A check that ends so shortly before its limit, in milliseconds, ran into it: agents keep a part for their answer. */
const LIMIT_MARGIN_MS = 500;

/** Checks and traces from one location at the same time. */
export async function lookFrom(
  asker: Asker,
  asked: {
    readonly monitor: Checked;
    /** Host name or address to trace. */
    readonly traced: string;
    readonly at: AskedPlace;
    readonly secrets: MonitorSecrets;
    /** That of these secrets. */
    readonly redact: Redact;
  },
): Promise<Look> {
  const { monitor, at, secrets, redact } = asked;
  const { location } = at;
  const { contract, params } = monitorCall(monitor, secrets, null, true);
  const ownSeconds = monitor.settings.timeout_seconds;
  const seconds = Math.min(ownSeconds, MOST_CHECK_SECONDS);
  const trace = kindOf(monitor.checkType).evidence.isTraced ? traceCall(asked.traced) : null;
  const [checked, traced] = await Promise.all([
    asker.ask({ contract, params: { ...params, timeout_seconds: seconds } }, at),
    trace === null ? null : asker.ask(trace, at),
  ]);
  const finding = readFinding(checked.answer);
  const isCutShort = seconds < ownSeconds && ranIntoLimit(finding, checked.tookMs, seconds * 1_000);
  return {
    place: {
      location,
      check: isCutShort ? cutShort(finding, { seconds, ownSeconds }) : describe(finding),
      trace: traced === null ? null : redactNames(toToolAnswer(traced.answer), redact),
    },
    facts: factsOf(monitor.checkType, finding),
    isCutShort,
  };
}

/** Redacts the names on a route: who owns the addresses has chosen them. */
function redactNames(answer: ToolAnswer, redact: Redact): ToolAnswer {
  const copy = (value: unknown, key: string): unknown => {
    if (typeof value === "string") return key === "hostname" ? redact(value) : value;
    if (Array.isArray(value)) return value.map((item) => copy(item, ""));
    if (!isRecord(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, copy(item, name)]));
  };
  return answer.status === "ok" ? { status: "ok", data: copy(answer.data, "") } : answer;
}

function ranIntoLimit(finding: Finding | null, tookMs: number | null, limitMs: number): boolean {
  return finding?.fault?.reason === "timeout" && tookMs !== null && tookMs >= limitMs - LIMIT_MARGIN_MS;
}

function describe(finding: Finding | null): PlaceEvidence["check"] {
  return {
    verdict: finding?.verdict ?? "unknown",
    response_ms: finding?.responseMs ?? null,
    http_status: finding?.httpStatus ?? null,
    error: finding?.fault ?? null,
    result: finding?.whole ?? null,
  };
}

/** A slow target that is well looks the same as one that does not answer: with more time it can be up. */
function cutShort(
  finding: Finding | null,
  { seconds, ownSeconds }: { readonly seconds: number; readonly ownSeconds: number },
): PlaceEvidence["check"] {
  const message = `no answer within ${seconds} s, the limit of evidence; the monitor waits ${ownSeconds} s`;
  const error = { stage: finding?.fault?.stage ?? "request", source: "probe", reason: "out_of_time", message } as const;
  return { ...describe(finding), verdict: "unknown", error };
}

/** Returns the facts of the full result, and where it has none those of the short one. */
function factsOf(checkType: string, finding: Finding | null): ComparedValues {
  const full = readComparedValues(finding?.whole);
  if (finding === null) return full;
  const short = readShortValues(checkType, { ...finding, phases: decodePhases(encodePhases(finding.phases)) });
  return { ...full, status: full.status ?? short.status, phases: { ...short.phases, ...full.phases } };
}

/** Asks for the addresses of a host and the servers of its domain; null for what is no name. */
export async function lookUp(asker: Asker, host: string, location: string): Promise<DnsEvidence | null> {
  const calls = dnsCalls(host);
  if (calls.host === null) return null;
  const ask = async (call: Call) => toToolAnswer((await asker.ask(call, { location, sharedOnly: false })).answer);
  const [found, zone] = await Promise.all([ask(calls.host), calls.zone === null ? null : ask(calls.zone)]);
  return { location, host: found, zone };
}

/**
 * Returns the certificate that a check has seen. Only if a handshake failed, so that none was seen, the server is asked
 * once more, by one handshake. A check that is that handshake is not repeated.
 */
export async function findCertificate(
  asker: Asker,
  { url, checkType, settings }: Checked,
  places: readonly (PlaceEvidence | null)[],
  redact: Redact,
): Promise<CertificateEvidence | null> {
  for (const place of places) {
    const seen = place === null ? null : readCertificate(place.location, place.check.result, redact);
    if (seen !== null) return seen;
  }
  const [failing] = places;
  if (failing == null || kindOf(checkType).evidence.isHandshake || failing.check.error?.stage !== "tls") return null;
  const watched = kindOf(checkType).expires(url, settings, optionsOf(checkType, settings));
  const server = watched.find(({ kind }) => kind === "certificate");
  const port = Number(server?.target.slice(server.target.lastIndexOf(":") + 1));
  const call = server === undefined ? null : certificateCall(server.host, port);
  if (call === null) return null;
  const { answer } = await asker.ask(call, { location: failing.location, sharedOnly: false });
  return readCertificate(failing.location, readFinding(answer)?.whole, redact);
}

/** Reads the certificate from the full result of the check of an http or ssl monitor; null if it has none. */
function readCertificate(location: string, result: unknown, redact: Redact): CertificateEvidence | null {
  if (!isRecord(result)) return null;
  const tls = isRecord(result["tls"]) ? result["tls"] : result;
  const found = tls["certificate"];
  if (!isRecord(found) || typeof found["fingerprint_sha256"] !== "string") return null;
  const error = tls["error"] ?? tls["trust_error"];
  return {
    location,
    trusted: (tls["authorized"] ?? tls["trusted"]) === true,
    trust_error: typeof error === "string" ? error : null,
    subject: redact(textOf(found["subject"])),
    issuer: redact(textOf(found["issuer"])),
    fingerprint_sha256: found["fingerprint_sha256"],
    not_before: textOf(found["not_before"]),
    not_after: textOf(found["not_after"]),
  };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
