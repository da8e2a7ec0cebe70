import { isSameOctets } from "#shared/text/same-octets.ts";

/** Connection identifiers of one probe (RFC 9000 section 5.1). */
interface ConnectionIds {
  /** Chosen for the server: at least 8 octets and unpredictable (section 7.2). */
  readonly destination: Uint8Array;
  readonly source: Uint8Array;
}

/** Smallest datagram that can start a connection (section 14.1). Servers ignore shorter ones. */
export const PROBE_BYTES = 1200;
/** Length of our connection identifiers in octets. */
export const ID_BYTES = 8;
/** Number of random octets that a probe needs: both identifiers, and the free nibbles of the version. */
export const RANDOM_BYTES = 2 * ID_BYTES + 4;
/** Maximum number of versions read from one answer. */
const MAX_VERSIONS = 64;
/** Maximum length of an identifier in any version, in octets (RFC 8999 section 5.1). */
const MAX_ID_BYTES = 255;

/** A datagram that requests the versions, and the identifiers that its answer must return. */
export interface VersionProbe {
  readonly datagram: Uint8Array;
  readonly version: number;
  readonly ids: ConnectionIds;
}

/**
 * Builds a long-header packet with a version reserved to force negotiation (RFC 9000 sections 15 and 17.2: 0x?a?a?a?a).
 * Only the part that all versions share (RFC 8999) has a meaning; the rest is padding. `random` has RANDOM_BYTES
 * octets.
 */
export function versionProbe(random: Uint8Array): VersionProbe {
  const destination = random.slice(0, ID_BYTES);
  const source = random.slice(ID_BYTES, 2 * ID_BYTES);
  const version = random
    .subarray(2 * ID_BYTES, RANDOM_BYTES)
    .reduce((bits, octet) => ((bits << 8) | (octet & 0xf0) | 0x0a) >>> 0, 0);
  const datagram = new Uint8Array(PROBE_BYTES);
  const view = new DataView(datagram.buffer);
  view.setUint8(0, 0xc0); // header form and fixed bit; type Initial, for middleboxes that look at it
  view.setUint32(1, version);
  view.setUint8(5, ID_BYTES);
  datagram.set(destination, 6);
  view.setUint8(6 + ID_BYTES, ID_BYTES);
  datagram.set(source, 7 + ID_BYTES);
  return { datagram, version, ids: { destination, source } };
}

/**
 * Returns the versions of a Version Negotiation packet that answers the probe (RFC 9000 section 17.2.1). Returns null
 * for any other octets. Both identifiers must come back swapped, because otherwise anyone could have sent the packet. A
 * list that names the requested version must be discarded (section 6.2), and a list without a version has no
 * information.
 */
export function readVersions(datagram: Uint8Array, { version, ids }: VersionProbe): readonly number[] | null {
  if (datagram.length < 7) return null;
  const view = new DataView(datagram.buffer, datagram.byteOffset, datagram.byteLength);
  if ((view.getUint8(0) & 0x80) === 0 || view.getUint32(1) !== 0) return null;
  const destination = identifierAt(datagram, 5);
  const source = identifierAt(datagram, 6 + destination.length);
  if (!isSameOctets(destination, ids.source) || !isSameOctets(source, ids.destination)) return null;
  const at = 7 + destination.length + source.length;
  const count = (datagram.length - at) / 4;
  if (!Number.isInteger(count) || count < 1) return null;
  const listed = Array.from({ length: Math.min(count, MAX_VERSIONS) }, (_, index) => view.getUint32(at + 4 * index));
  if (listed.includes(version)) return null;
  return [...new Set(listed)];
}

/**
 * Reports whether a version is reserved. Such a version names no protocol and exercises version negotiation (RFC 9000
 * section 6.3).
 */
export function isReserved(version: number): boolean {
  return (version & 0x0f0f0f0f) === 0x0a0a0a0a;
}

/** Returns the identifier whose length octet is at `at`, or the part of it that the datagram has. */
function identifierAt(datagram: Uint8Array, at: number): Uint8Array {
  const length = Math.min(datagram[at] ?? 0, MAX_ID_BYTES);
  return datagram.subarray(at + 1, at + 1 + length);
}
