import type { ClientHello } from "#probe-agent/port/tls.ts";
import { extensionsOf, type Extension } from "#probe-agent/net/tls/hello/extensions.ts";
import { numbers, octets, uint16, vector } from "#probe-agent/net/tls/hello/octets.ts";

/** Number of random octets for a hello: random, session id and key share with 32 each. */
export const HELLO_RANDOM = 96;

const CLIENT_HELLO = 1;
const HANDSHAKE = 22;
const SSL3 = 0x0300;
const MAX_FRAGMENT = 16_384;

/** Fields of a ClientHello message in the order of encoding (RFC 8446 section 4.1.2). */
interface HelloFields {
  readonly version: number;
  readonly random: Uint8Array;
  readonly sessionId: Uint8Array;
  readonly suites: readonly number[];
  readonly compression: readonly number[];
  /** In this order. If there are none, the block is omitted, as in SSL 3. */
  readonly extensions: readonly Extension[];
}

/**
 * Encodes the records of a ClientHello. With TLS 1.3 it has a session id, for middlebox compatibility (RFC 8446
 * appendix D.4). The version of the records is 3.1 or lower, which servers of all later versions accept (section 5.1).
 */
export function encodeHello(hello: ClientHello, random: Uint8Array): Uint8Array {
  const tls13 = hello.supportedVersions !== undefined;
  const message = encodeFields({
    version: hello.version,
    random: random.subarray(0, 32),
    sessionId: tls13 ? random.subarray(32, 64) : new Uint8Array(),
    suites: hello.suites,
    compression: hello.compression ?? [0],
    extensions: hello.version <= SSL3 ? [] : extensionsOf(hello, random.subarray(64, HELLO_RANDOM)),
  });
  return encodeRecords(message, Math.min(hello.version, 0x0301));
}

/** Encodes the handshake message without records. */
export function encodeFields(fields: HelloFields): Uint8Array {
  const extensions = fields.extensions.map(([type, value]) => octets(uint16(type), vector(2, value)));
  const body = octets(
    uint16(fields.version),
    fields.random,
    vector(1, fields.sessionId),
    vector(2, numbers(fields.suites)),
    vector(1, Uint8Array.from(fields.compression)),
    extensions.length === 0 ? new Uint8Array() : vector(2, octets(...extensions)),
  );
  return octets(Uint8Array.of(CLIENT_HELLO), vector(3, body));
}

function encodeRecords(message: Uint8Array, version: number): Uint8Array {
  const records: Uint8Array[] = [];
  for (let at = 0; at < message.length; at += MAX_FRAGMENT) {
    records.push(Uint8Array.of(HANDSHAKE), uint16(version), vector(2, message.subarray(at, at + MAX_FRAGMENT)));
  }
  return octets(...records);
}
