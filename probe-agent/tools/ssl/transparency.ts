import type { CtLogs } from "#probe-agent/analysis/tls/ssl/ct-log.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { ssl } from "#shared/tools/ssl/contract.ts";
import {
  MalformedDer,
  childrenOf,
  expectTag,
  oidText,
  sequenceOf,
  TAG,
  type Der,
  readDer,
} from "#probe-agent/analysis/tls/certificate/der.ts";
import type { Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import { createHash, createPublicKey, verify, type KeyObject } from "node:crypto";
import { encodeDer, encodeSequence } from "#probe-agent/analysis/tls/certificate/der-encode.ts";

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

/**
 * The entry that a log signed (RFC 6962 section 3.2). Type 0 is the certificate itself. Type 1 is the precertificate
 * with the hash of its issuer's key.
 */
type LogEntry = { readonly type: 0 | 1; readonly value: Uint8Array };

const SHA256 = 4;
const RSA = 1;
const ECDSA = 3;
const EXTENSIONS = 0xa3;

/** Returns the entry for timestamps from a TLS extension or an OCSP response. Throws MalformedDer. */
export function certificateEntry({ der }: Certificate): LogEntry {
  return { type: 0, value: vector24(der) };
}

/**
 * Returns the entry for timestamps inside the certificate. The precertificate without its poison extension equals the
 * certificate without its list of timestamps (RFC 6962 section 3.2). Throws MalformedDer.
 */
export function precertificateEntry(certificate: Certificate, issuer: Certificate): LogEntry {
  const [tbs] = sequenceOf(certificate.der);
  const fields = childrenOf(expectTag(tbs, TAG.sequence).contents);
  const kept = fields.flatMap((field) => (field.tag === EXTENSIONS ? withoutList(field) : [field.whole]));
  const issuerKeyHash = createHash("sha256").update(issuer.spki).digest();
  return { type: 1, value: Buffer.concat([issuerKeyHash, vector24(encodeSequence(...kept))]) };
}

function withoutList(wrapped: Der): Uint8Array[] {
  const others = sequenceOf(wrapped.contents).filter((extension) => {
    const [oid] = childrenOf(expectTag(extension, TAG.sequence).contents);
    return oidText(expectTag(oid, TAG.oid).contents) !== TIMESTAMPS_EXTENSION;
  });
  if (others.length === 0) return [];
  return [encodeDer(EXTENSIONS, encodeSequence(...others.map(({ whole }) => whole)))];
}

/** Reports whether the log with this key (DER SubjectPublicKeyInfo) signed the timestamp for the entry. */
export function isTimestampOf(timestamp: SignedTimestamp, entry: LogEntry, logKey: Uint8Array): boolean {
  const key = readKey(logKey);
  if (key === null || timestamp.hash !== SHA256) return false;
  const kind = timestamp.scheme === ECDSA ? "ec" : timestamp.scheme === RSA ? "rsa" : null;
  if (key.asymmetricKeyType !== kind) return false;
  const head = Buffer.alloc(12);
  head.writeBigUInt64BE(timestamp.timestamp, 2);
  head[11] = entry.type;
  const signed = Buffer.concat([head, entry.value, timestamp.extensions]);
  try {
    return verify("sha256", signed, key, timestamp.signature);
  } catch {
    return false;
  }
}

function readKey(spki: Uint8Array): KeyObject | null {
  try {
    return createPublicKey({ key: Buffer.from(spki), format: "der", type: "spki" });
  } catch {
    return null;
  }
}

/** Encodes a value with a length field of three octets. */
function vector24(value: Uint8Array): Uint8Array {
  const { length } = value;
  if (length > 0xff_ff_ff) throw new MalformedDer("certificate");
  return Buffer.concat([Uint8Array.of(length >> 16, (length >> 8) & 0xff, length & 0xff), value]);
}

/** Signed certificate timestamp (SCT) of version 1: a log's promise to publish a certificate (RFC 6962 section 3.2). */
interface SignedTimestamp {
  /** SHA-256 of the log's key in base64, as in lists of logs. */
  readonly logId: string;
  /** Milliseconds since the start of 1970 in UTC. */
  readonly timestamp: bigint;
  /** CtExtensions with their length field, as the log signed them. */
  readonly extensions: Uint8Array;
  /** HashAlgorithm (RFC 5246 section 7.4.1.4.1). */
  readonly hash: number;
  /** SignatureAlgorithm (RFC 5246 section 7.4.1.4.1). */
  readonly scheme: number;
  readonly signature: Uint8Array;
}

/** A parsed list of timestamps. */
interface TimestampList {
  readonly timestamps: readonly SignedTimestamp[];
  /** Number of entries that are malformed, have another version, or exceed the maximum number. */
  readonly unreadable: number;
}

/** OID of the certificate extension that contains a list of timestamps (RFC 6962 section 3.3). */
const TIMESTAMPS_EXTENSION = "1.3.6.1.4.1.11129.2.4.2";
/** Maximum number of timestamps read from one list; certificates have two to five. */
const MAX_TIMESTAMPS = 20;
const VERSION_1 = 0;
const FIXED_OCTETS = 1 + 32 + 8;

/** Returns the TLS-encoded list in a certificate, or null if there is none. Throws MalformedDer. */
export function embeddedList({ extensions }: Certificate): Uint8Array | null {
  const value = extensions.get(TIMESTAMPS_EXTENSION)?.value;
  return value === undefined ? null : readDer(value, TAG.octetString).contents;
}

/** Parses a SignedCertificateTimestampList (RFC 6962 section 3.3). Returns null if the list is malformed. */
export function readTimestampList(octets: Uint8Array): TimestampList | null {
  const list = vector(octets, 0);
  if (list === null || list.end !== octets.length) return null;
  const timestamps: SignedTimestamp[] = [];
  let unreadable = 0;
  for (let at = 2; at < octets.length;) {
    const entry = vector(octets, at);
    if (entry === null) return null;
    at = entry.end;
    const timestamp = timestamps.length < MAX_TIMESTAMPS ? readTimestamp(entry.value) : null;
    if (timestamp === null) unreadable += 1;
    else timestamps.push(timestamp);
  }
  return { timestamps, unreadable };
}

function readTimestamp(octets: Uint8Array): SignedTimestamp | null {
  const extensions = vector(octets, FIXED_OCTETS);
  if (octets[0] !== VERSION_1 || extensions === null) return null;
  const [hash, scheme] = octets.subarray(extensions.end);
  const signature = vector(octets, extensions.end + 2);
  if (hash === undefined || scheme === undefined || signature?.end !== octets.length) return null;
  const fixed = Buffer.from(octets.subarray(0, FIXED_OCTETS));
  return {
    logId: fixed.toString("base64", 1, 33),
    timestamp: fixed.readBigUInt64BE(33),
    extensions: octets.subarray(FIXED_OCTETS, extensions.end),
    hash,
    scheme,
    signature: signature.value,
  };
}

/**
 * Returns the value after a length field of two octets (RFC 5246 section 4.3), and the offset of its end. Returns null
 * if the value is incomplete.
 */
function vector(octets: Uint8Array, at: number): { readonly value: Uint8Array; readonly end: number } | null {
  const [high, low] = [octets[at], octets[at + 1]];
  if (high === undefined || low === undefined) return null;
  const end = at + 2 + high * 256 + low;
  return end > octets.length ? null : { value: octets.subarray(at + 2, end), end };
}
