/** TLS record content types (RFC 8446 section 5.1). */
const ALERT = 21;
const HANDSHAKE = 22;

/** A fatal alert record. */
export function alertRecord(description: number): Uint8Array {
  return record(ALERT, Buffer.from([2, description]));
}

/**
 * The first flight of a TLS 1.2 server up to its Certificate message: ServerHello with
 * TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256 (unless left out), then the certificates in the order given.
 */
export function certificateFlight(chain: readonly Uint8Array[], withHello = true): Uint8Array {
  const hello = Buffer.concat([
    Buffer.from([3, 3]),
    Buffer.alloc(32, 7),
    Buffer.from([0, 0xc0, 0x2b, 0]),
    Buffer.from([0, 5, 0xff, 1, 0, 1, 0]),
  ]);
  const list = Buffer.concat(chain.map((certificate) => Buffer.concat([uint24(certificate.length), certificate])));
  const certificates = Buffer.concat([uint24(list.length), list]);
  const messages = Buffer.concat([...(withHello ? [message(2, hello)] : []), message(11, certificates)]);
  const records: Uint8Array[] = [];
  for (let at = 0; at < messages.length; at += 16_000) {
    records.push(record(HANDSHAKE, messages.subarray(at, at + 16_000)));
  }
  return Buffer.concat(records);
}

/** A ServerHello in a record of its own; without extensions the block is left out. */
export function helloRecord(hello: {
  readonly version: number;
  readonly suite: number;
  readonly compression?: number;
  readonly extensions?: readonly (readonly [type: number, value: Uint8Array])[];
}): Uint8Array {
  const { version, suite, compression = 0, extensions = [] } = hello;
  const list = Buffer.concat(
    extensions.map(([type, value]) => Buffer.concat([uint16(type), uint16(value.length), value])),
  );
  const head = Buffer.concat([uint16(version), Buffer.alloc(32, 9), Buffer.from([0]), uint16(suite)]);
  const tail = Buffer.concat([Buffer.from([compression]), ...(list.length > 0 ? [uint16(list.length), list] : [])]);
  return record(HANDSHAKE, message(2, Buffer.concat([head, tail])));
}

/** A ServerKeyExchange in a record of its own. */
export function keyExchangeRecord(body: Uint8Array): Uint8Array {
  return record(HANDSHAKE, message(12, body));
}

function message(type: number, body: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from([type]), uint24(body.length), body]);
}

function record(type: number, body: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from([type, 3, 3, body.length >> 8, body.length & 0xff]), body]);
}

function uint16(value: number): Uint8Array {
  return Buffer.from([value >> 8, value & 0xff]);
}

function uint24(value: number): Uint8Array {
  return Buffer.from([value >> 16, (value >> 8) & 0xff, value & 0xff]);
}
