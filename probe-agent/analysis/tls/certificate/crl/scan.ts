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

/** What a look through a list's entries came to. */
interface Scan {
  /** The first entry with the serial number. */
  readonly found: Revoked | null;
  /** Entries passed up to it, or all of them. */
  readonly entries: number;
  /** One of them has a critical extension: it may be about another issuer's certificate (RFC 5280 section 5.3.3). */
  readonly hasCritical: boolean;
  /** False where there are more entries than are looked at. */
  readonly complete: boolean;
}

/** One entry. */
interface Revoked {
  readonly at: Date;
  /** A word of reasonOf; null where none is given. */
  readonly reason: string | null;
}

/** The longest lists of public authorities have some 100,000. */
export const MAX_ENTRIES = 1_000_000;

const REASON_CODE = "2.5.29.21";

/**
 * Looks a serial number up among the entries (RFC 5280 section 5.1.2.6) where they stand, without taking them apart: a
 * list of megabytes costs milliseconds and no memory. Throws MalformedDer.
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

/** Where the contents of the value at `at` begin; the value must have the tag. */
function contentsAt(octets: Uint8Array, at: number, tag: number): number {
  const length = octets[at + 1];
  if (octets[at] !== tag || length === undefined) throw new MalformedDer("entry of a revocation list");
  return length < 0x80 ? at + 2 : at + 2 + (length & 0x7f);
}

/** Octets of the contents of the value at `at`. */
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
  // Serial numbers of one authority often begin alike.
  for (let index = wanted.length - 1; index >= 0; index -= 1) {
    if (octets[start + index] !== wanted[index]) return false;
  }
  return true;
}

/** Whether a BOOLEAN TRUE stands there, which in an entry can only be a "critical". */
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
