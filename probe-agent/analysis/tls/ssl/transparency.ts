import type { CtLogs } from "#probe-agent/analysis/tls/ssl/ct-log.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { ssl } from "#shared/tools/ssl.ts";
import {
  embeddedList,
  readTimestampList,
  type SignedTimestamp,
} from "#probe-agent/analysis/tls/certificate/ct/timestamps.ts";
import {
  certificateEntry,
  isTimestampOf,
  precertificateEntry,
  type LogEntry,
} from "#probe-agent/analysis/tls/certificate/ct/verify.ts";
import { MalformedDer } from "#probe-agent/analysis/tls/certificate/der.ts";
import type { Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";

type Result = ResultOf<typeof ssl>;
type Row = Result["ct"]["scts"][number];

/** Input of reportTransparency. Timestamps are TLS-encoded lists (RFC 6962 section 3.3). */
export interface TransparencyFacts {
  readonly leaf: Certificate;
  /** Null if the issuer is unavailable. Then timestamps inside the certificate cannot be verified. */
  readonly issuer: Certificate | null;
  /** From the TLS extension; null if there are none, "unknown" if that could not be determined. */
  readonly fromTls: Uint8Array | null | "unknown";
  /** From the stapled OCSP response; null if there are none. */
  readonly fromOcsp: Uint8Array | null;
  readonly logs: CtLogs;
  readonly now: Date;
}

/** Field of the result, and values for findings and limitations. */
interface TransparencyReport {
  readonly ct: Result["ct"];
  /** Number of invalid timestamps: not signed by their log, or in the future. */
  readonly bad: number;
  readonly limitations: readonly string[];
}

/** Lists all timestamps. Those of logs in the operator's list of logs are named and verified. */
export function reportTransparency(facts: TransparencyFacts): TransparencyReport {
  const { leaf, fromTls, fromOcsp, logs, now } = facts;
  const sources = [
    readSource("certificate", embeddedTimestamps(leaf), facts),
    readSource("tls", fromTls === "unknown" ? null : fromTls, facts),
    readSource("ocsp", fromOcsp, facts),
  ];
  const scts = sources.flatMap(({ rows }) => rows);
  const unreadable = sources.reduce((sum, source) => sum + source.unreadable, 0);
  const operators = logs === null ? null : new Set(scts.flatMap(({ log_operator }) => log_operator ?? []));
  const unlisted = logs === null ? 0 : scts.filter(({ log_name }) => log_name === null).length;
  return {
    ct: {
      count: scts.length,
      scts,
      logs: new Set(scts.map(({ log_id }) => log_id)).size,
      operators: operators === null ? null : [...operators],
    },
    bad: scts.filter((row) => row.signature_valid === false || isFuture(row, now)).length,
    limitations: [
      ...(scts.length > 0 && logs === null
        ? ["Signed certificate timestamps were not verified and logs are not named: no list of logs is configured."]
        : []),
      ...(unlisted > 0 ? [`${countTimestamps(unlisted)} of logs outside the list of logs could not be verified.`] : []),
      ...(facts.issuer === null && sources[0]?.rows.length !== 0
        ? ["Timestamps inside the certificate were not verified: its issuer's certificate is unavailable."]
        : []),
      ...(unreadable > 0 ? [`${countTimestamps(unreadable)} could not be read.`] : []),
      ...(fromTls === "unknown"
        ? ["Whether the server sends timestamps in a TLS extension could not be determined."]
        : []),
    ],
  };
}

function countTimestamps(count: number): string {
  return `${count} signed certificate ${count === 1 ? "timestamp" : "timestamps"}`;
}

function readSource(
  source: Row["source"],
  octets: Uint8Array | null,
  facts: TransparencyFacts,
): { readonly rows: readonly Row[]; readonly unreadable: number } {
  if (octets === null) return { rows: [], unreadable: 0 };
  const list = readTimestampList(octets);
  if (list === null) return { rows: [], unreadable: 1 };
  const entry = source === "certificate" ? precertificateOf(facts) : certificateEntry(facts.leaf);
  return { rows: list.timestamps.map((one) => rowOf(one, source, entry, facts.logs)), unreadable: list.unreadable };
}

function rowOf(one: SignedTimestamp, source: Row["source"], entry: LogEntry | null, logs: CtLogs): Row {
  const log = logs?.get(one.logId) ?? null;
  return {
    log_id: one.logId,
    log_name: log?.name ?? null,
    log_operator: log?.operator ?? null,
    log_state: log?.state ?? null,
    timestamp: timeText(one.timestamp),
    source,
    signature_valid: log === null || entry === null ? null : isTimestampOf(one, entry, log.key),
  };
}

function precertificateOf({ leaf, issuer }: TransparencyFacts): LogEntry | null {
  return issuer === null ? null : (readable(() => precertificateEntry(leaf, issuer)) ?? null);
}

function embeddedTimestamps(leaf: Certificate): Uint8Array | null {
  return readable(() => embeddedList(leaf)) ?? null;
}

/** The last time that a Date can represent, in milliseconds (ECMA-262 section 21.4.1.1). */
const LAST_TIME = 8_640_000_000_000_000n;

function timeText(milliseconds: bigint): string | null {
  return milliseconds > LAST_TIME ? null : new Date(Number(milliseconds)).toISOString();
}

/** Reports whether a timestamp is in the future. Clients must refuse such timestamps (RFC 6962 section 5.2). */
function isFuture({ timestamp }: Row, now: Date): boolean {
  return timestamp === null || Date.parse(timestamp) > now.getTime();
}

function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof MalformedDer) return undefined;
    throw error;
  }
}
