import { isSameOctets } from "#shared/same-octets.ts";

/** Connection identifiers of one probe (RFC 9000 section 5.1). */
interface ConnectionIds {
  /** Chosen for the server: at least 8 octets, unpredictable (section 7.2). */
  readonly destination: Uint8Array;
  readonly source: Uint8Array;
}

/** Smallest datagram that may begin a connection (section 14.1); servers ignore shorter ones. */
export const PROBE_BYTES = 1200;
/** Octets of our connection identifiers. */
export const ID_BYTES = 8;
/** Random octets a probe is made from: both identifiers, and the version's free nibbles. */
export const RANDOM_BYTES = 2 * ID_BYTES + 4;
/** Most versions read from one answer. */
const MAX_VERSIONS = 64;
/** Longest identifier of any version (RFC 8999 section 5.1). */
const MAX_ID_BYTES = 255;

/** A datagram that requests the versions, and the identifiers that its answer must echo. */
export interface VersionProbe {
  readonly datagram: Uint8Array;
  readonly version: number;
  readonly ids: ConnectionIds;
}

/**
 * A long-header packet of a version reserved to force negotiation (RFC 9000 sections 15 and 17.2: 0x?a?a?a?a). Only the
 * part that all versions share (RFC 8999) means anything; the rest is padding. `random`: RANDOM_BYTES octets.
 */
export function versionProbe(random: Uint8Array): VersionProbe {
  const destination = random.slice(0, ID_BYTES);
  const source = random.slice(ID_BYTES, 2 * ID_BYTES);
  const version = random
    .subarray(2 * ID_BYTES, RANDOM_BYTES)
    .reduce((bits, octet) => ((bits << 8) | (octet & 0xf0) | 0x0a) >>> 0, 0);
  const datagram = new Uint8Array(PROBE_BYTES);
  const view = new DataView(datagram.buffer);
  view.setUint8(0, 0xc0); // header form and fixed bit; type Initial, to whoever looks
  view.setUint32(1, version);
  view.setUint8(5, ID_BYTES);
  datagram.set(destination, 6);
  view.setUint8(6 + ID_BYTES, ID_BYTES);
  datagram.set(source, 7 + ID_BYTES);
  return { datagram, version, ids: { destination, source } };
}

/**
 * The versions of a Version Negotiation packet that answers the probe (RFC 9000 section 17.2.1). Null for any other
 * octets: both identifiers must come back swapped, or anyone could have sent it; a list that names the version asked
 * with is to be discarded (section 6.2), one without a version says nothing.
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

/** Reports whether a version is reserved: it names no protocol and exercises version negotiation (RFC 9000 section 6.3). */
export function isReserved(version: number): boolean {
  return (version & 0x0f0f0f0f) === 0x0a0a0a0a;
}

/** The identifier whose length octet stands there; as much of it as the datagram has. */
function identifierAt(datagram: Uint8Array, at: number): Uint8Array {
  const length = Math.min(datagram[at] ?? 0, MAX_ID_BYTES);
  return datagram.subarray(at + 1, at + 1 + length);
}
