import type { ClientHello, ShareGroup } from "#probe-agent/port/tls.ts";
import { numbers, octets, uint16, vector } from "#probe-agent/net/tls/hello/octets.ts";

/** Number of an extension, and its value without the length field. */
export type Extension = readonly [type: number, value: Uint8Array];

/** Numbers of extensions (IANA, TLS ExtensionType Values). */
export const EXTENSION = {
  serverName: 0,
  statusRequest: 5,
  supportedGroups: 10,
  pointFormats: 11,
  signatureAlgorithms: 13,
  alpn: 16,
  signedTimestamps: 18,
  padding: 21,
  encryptThenMac: 22,
  extendedMasterSecret: 23,
  sessionTicket: 35,
  supportedVersions: 43,
  pskModes: 45,
  keyShare: 51,
  renegotiationInfo: 0xff01,
} as const;

/**
 * Generator of P-256 (SEC 2 section 2.4.2), used as key share: a valid point that belongs to the private key 1. An
 * X25519 key share can be any 32 octets.
 */
const P256_POINT = Buffer.from(
  "046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296" +
    "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5",
  "hex",
);

/** Encodes the requested extensions of a hello, in the order sent; `share` is its X25519 key share. */
export function extensionsOf(hello: ClientHello, share: Uint8Array): Extension[] {
  const list: Extension[] = [];
  if (hello.servername !== null) list.push(serverName(hello.servername));
  if (hello.renegotiationInfo === true) list.push([EXTENSION.renegotiationInfo, Uint8Array.of(0)]);
  if (hello.usualExtras === true) list.push(...USUAL);
  if (hello.signedTimestamps === true) list.push([EXTENSION.signedTimestamps, new Uint8Array()]);
  if (hello.groups !== undefined) {
    list.push([EXTENSION.supportedGroups, vector(2, numbers(hello.groups))]);
    list.push([EXTENSION.pointFormats, Uint8Array.of(1, 0)]);
  }
  if (hello.signatureAlgorithms !== undefined) list.push(signatureAlgorithms(hello.signatureAlgorithms));
  if (hello.alpn !== undefined) list.push(applicationProtocols(hello.alpn));
  if (hello.supportedVersions !== undefined) {
    list.push([EXTENSION.supportedVersions, vector(1, numbers(hello.supportedVersions))]);
    list.push([EXTENSION.pskModes, Uint8Array.of(1, 1)]);
  }
  if (hello.keyShares !== undefined) list.push(keyShares(hello.keyShares, share));
  if (hello.padTo !== undefined) list.push(...padding(hello, list, hello.padTo));
  return list;
}

/** Extensions that browsers and OpenSSL send. */
const USUAL: readonly Extension[] = [
  [EXTENSION.extendedMasterSecret, new Uint8Array()],
  [EXTENSION.encryptThenMac, new Uint8Array()],
  [EXTENSION.sessionTicket, new Uint8Array()],
  // An OCSP status request without responders and extensions (RFC 6066 section 8).
  [EXTENSION.statusRequest, Uint8Array.of(1, 0, 0, 0, 0)],
];

/** Encodes server_name with one host name (RFC 6066 section 3). */
export function serverName(name: string): Extension {
  const host = octets(Uint8Array.of(0), vector(2, Buffer.from(name, "ascii")));
  return [EXTENSION.serverName, vector(2, host)];
}

/** Encodes signature_algorithms (RFC 8446 section 4.2.3). */
export function signatureAlgorithms(schemes: readonly number[]): Extension {
  return [EXTENSION.signatureAlgorithms, vector(2, numbers(schemes))];
}

function applicationProtocols(names: readonly string[]): Extension {
  const list = names.map((name) => vector(1, Buffer.from(name, "ascii")));
  return [EXTENSION.alpn, vector(2, octets(...list))];
}

/** Encodes key_share (RFC 8446 section 4.2.8). `x25519` is the X25519 share. */
export function keyShares(groups: readonly ShareGroup[], x25519: Uint8Array): Extension {
  const shares = groups.map((group) => octets(uint16(group), vector(2, group === 0x001d ? x25519 : P256_POINT)));
  return [EXTENSION.keyShare, vector(2, octets(...shares))];
}

/** Encodes padding up to a message length of `padTo` octets (RFC 7685); none if the message is long enough. */
function padding(hello: ClientHello, before: readonly Extension[], padTo: number): Extension[] {
  const compression = hello.compression?.length ?? 1;
  const sessionId = hello.supportedVersions === undefined ? 0 : 32;
  const fixed = 4 + 2 + 32 + 1 + sessionId + 2 + 2 * hello.suites.length + 1 + compression + 2;
  const length = before.reduce((sum, [, value]) => sum + 4 + value.length, fixed) + 4;
  return length > padTo ? [] : [[EXTENSION.padding, new Uint8Array(padTo - length)]];
}
