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

/** Signed certificate timestamps as they came, TLS-encoded lists of RFC 6962 section 3.3. */
export interface TransparencyFacts {
  readonly leaf: Certificate;
  /** Null where it is not at hand: timestamps inside the certificate cannot be verified then. */
  readonly issuer: Certificate | null;
  /** From the TLS extension; null for none, "unknown" where it could not be seen. */
  readonly fromTls: Uint8Array | null | "unknown";
  /** From the stapled OCSP response. */
  readonly fromOcsp: Uint8Array | null;
  readonly logs: CtLogs;
  readonly now: Date;
}

/** The field of the result, and what follows from it. */
interface TransparencyReport {
  readonly ct: Result["ct"];
  /** Timestamps that are not what they say: not signed by their log, or from the future. */
  readonly bad: number;
  readonly limitations: readonly string[];
}

/** Tells all timestamps, named and verified as far as the operator's list of logs goes. */
export function reportTransparency(facts: TransparencyFacts): TransparencyReport {
  const { leaf, fromTls, fromOcsp, logs, now } = facts;
  const sources = [
    readSource("certificate", inside(leaf), facts),
    readSource("tls", fromTls === "unknown" ? null : fromTls, facts),
    readSource("ocsp", fromOcsp, facts),
  ];
  const scts = sources.flatMap(({ rows }) => rows);
  const unreadable = sources.reduce((sum, source) => sum + source.unreadable, 0);
  const operators = logs === null ? null : new Set(scts.flatMap(({ log_operator }) => log_operator ?? []));
  const strangers = logs === null ? 0 : scts.filter(({ log_name }) => log_name === null).length;
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
        ? ["Certificate transparency logs are not named and their signatures not verified: there is no list of logs."]
        : []),
      ...(strangers > 0 ? [`Timestamps of ${strangers} logs that are not in the list of logs were not verified.`] : []),
      ...(facts.issuer === null && sources[0]?.rows.length !== 0
        ? ["Timestamps inside the certificate were not verified: its issuer's certificate is not at hand."]
        : []),
      ...(unreadable > 0 ? [`${unreadable} signed certificate timestamps could not be read.`] : []),
      ...(fromTls === "unknown" ? ["Whether timestamps come by a TLS extension could not be told."] : []),
    ],
  };
}

function readSource(
  source: Row["source"],
  octets: Uint8Array | null,
  facts: TransparencyFacts,
): { readonly rows: readonly Row[]; readonly unreadable: number } {
  if (octets === null) return { rows: [], unreadable: 0 };
  const list = readTimestampList(octets);
  if (list === null) return { rows: [], unreadable: 1 };
  const entry = source === "certificate" ? precertificate(facts) : certificateEntry(facts.leaf);
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

function precertificate({ leaf, issuer }: TransparencyFacts): LogEntry | null {
  return issuer === null ? null : (readable(() => precertificateEntry(leaf, issuer)) ?? null);
}

function inside(leaf: Certificate): Uint8Array | null {
  return readable(() => embeddedList(leaf)) ?? null;
}

/** The last moment a Date can hold, milliseconds (ECMA-262 section 21.4.1.1). */
const LAST_TIME = 8_640_000_000_000_000n;

function timeText(milliseconds: bigint): string | null {
  return milliseconds > LAST_TIME ? null : new Date(Number(milliseconds)).toISOString();
}

/** RFC 6962 section 5.2 has clients refuse timestamps from the future. */
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
