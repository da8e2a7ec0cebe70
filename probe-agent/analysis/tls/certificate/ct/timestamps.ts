import { readDer, TAG } from "#probe-agent/analysis/tls/certificate/der.ts";
import type { Certificate } from "#probe-agent/analysis/tls/certificate/parse.ts";

/** Signed certificate timestamp (SCT) of version 1: a log's promise to publish a certificate (RFC 6962 section 3.2). */
export interface SignedTimestamp {
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
export const TIMESTAMPS_EXTENSION = "1.3.6.1.4.1.11129.2.4.2";
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
