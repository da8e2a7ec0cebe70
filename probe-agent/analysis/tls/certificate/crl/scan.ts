import {
  childrenOf,
  expectTag,
  MalformedDer,
  readDer,
  TAG,
  timeOf,
} from "#probe-agent/analysis/tls/certificate/der.ts";
import { readExtensions } from "#probe-agent/analysis/tls/certificate/parse.ts";
import { reasonOf } from "#probe-agent/analysis/tls/certificate/reason.ts";

/** Result of searching a list's entries. */
interface Scan {
  /** The first entry with the serial number. */
  readonly found: Revoked | null;
  /** Number of entries read: up to and including the one found, or all of them. */
  readonly entries: number;
  /**
   * Whether an entry that was read has a critical extension. Such an entry may concern another issuer's certificate
   * (RFC 5280 section 5.3.3).
   */
  readonly hasCritical: boolean;
  /** False if the list has more than the maximum number of entries. */
  readonly complete: boolean;
}

/** Entry of a revoked certificate. */
interface Revoked {
  /** Time of revocation. */
  readonly at: Date;
  /** Code as returned by reasonOf; null if the entry has no reason. */
  readonly reason: string | null;
}

/** Maximum number of entries read. The longest lists of public authorities have about 100,000. */
export const MAX_ENTRIES = 1_000_000;

const REASON_CODE = "2.5.29.21";

/**
 * Searches the entries (RFC 5280 section 5.1.2.6) for a serial number. It scans the octets without parsing each entry,
 * so that a list of several megabytes costs milliseconds and no memory. Throws MalformedDer.
 */
export function scanEntries(entries: Uint8Array, serialNumber: Uint8Array): Scan {
  let hasCritical = false;
  let count = 0;
  for (let at = 0; at < entries.length; count += 1) {
    if (count === MAX_ENTRIES) return { found: null, entries: count, hasCritical, complete: false };
    const start = contentsAt(entries, at, TAG.sequence);
    const end = start + lengthAt(entries, at);
    const serialStart = contentsAt(entries, start, TAG.integer);
    const serialEnd = serialStart + lengthAt(entries, start);
    if (end > entries.length || serialEnd > end) throw new MalformedDer("entry of a revocation list");
    hasCritical ||= holdsTrue(entries, serialEnd, end);
    if (equals(entries, serialStart, serialEnd, serialNumber)) {
      return { found: readEntry(entries.subarray(start, end)), entries: count + 1, hasCritical, complete: true };
    }
    at = end;
  }
  return { found: null, entries: count, hasCritical, complete: true };
}

/** Returns the offset of the contents of the value at `at`. Throws MalformedDer if the value does not have the tag. */
function contentsAt(octets: Uint8Array, at: number, tag: number): number {
  const length = octets[at + 1];
  if (octets[at] !== tag || length === undefined) throw new MalformedDer("entry of a revocation list");
  return length < 0x80 ? at + 2 : at + 2 + (length & 0x7f);
}

/** Returns the length of the contents of the value at `at`, in octets. */
function lengthAt(octets: Uint8Array, at: number): number {
  const first = octets[at + 1] ?? 0;
  if (first < 0x80) return first;
  const [one, two, three] = [octets[at + 2] ?? 0, octets[at + 3] ?? 0, octets[at + 4] ?? 0];
  if (first === 0x81) return one;
  if (first === 0x82) return one * 256 + two;
  if (first === 0x83) return one * 65_536 + two * 256 + three;
  throw new MalformedDer("entry of a revocation list");
}

function equals(octets: Uint8Array, start: number, end: number, wanted: Uint8Array): boolean {
  if (end - start !== wanted.length) return false;
  // Compares from the end, because serial numbers of one authority often begin with the same octets.
  for (let index = wanted.length - 1; index >= 0; index -= 1) {
    if (octets[start + index] !== wanted[index]) return false;
  }
  return true;
}

/** Reports whether the range contains a BOOLEAN TRUE. In an entry, only the `critical` field is a BOOLEAN. */
function holdsTrue(octets: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at + 2 < end; at += 1) {
    if (octets[at] === TAG.boolean && octets[at + 1] === 1 && octets[at + 2] === 0xff) return true;
  }
  return false;
}

function readEntry(contents: Uint8Array): Revoked {
  const [, date, extensions] = childrenOf(contents);
  const wrapped = extensions && { ...extensions, contents: expectTag(extensions, TAG.sequence).whole };
  const reason = readExtensions(wrapped).get(REASON_CODE)?.value;
  return { at: timeOf(date), reason: reason === undefined ? null : reasonOf(readDer(reason)) };
}
