import { createHash, createHmac, createPrivateKey, createPublicKey, diffieHellman, type KeyObject } from "node:crypto";
import type { ClientHello } from "#probe-agent/port/tls.ts";
import { createOctets } from "#probe-agent/net/octets.ts";
import { readFlight, type Flight } from "#probe-agent/net/tls/flight.ts";
import { encodeHello } from "#probe-agent/net/tls/hello/encode.ts";
import { EXTENSION } from "#probe-agent/net/tls/hello/extensions.ts";
import { MESSAGE, readServerHello, type ServerHello } from "#probe-agent/net/tls/messages.ts";
import { createReader } from "#probe-agent/net/tls/reader.ts";
import { CONTENT, splitMessages, splitRecords } from "#probe-agent/net/tls/records.ts";
import { expandLabel, hashOfSuite } from "#probe-agent/net/tls/unprotect.ts";

/** A hello with the private key of its X25519 share. The private key of its P-256 share is 1. */
interface OwnHello {
  readonly hello: Uint8Array;
  readonly privateKey: KeyObject;
}

/** Reads a server's flight, decrypted with our keys if it is encrypted (TLS 1.3). */
interface FlightReader {
  /** Reads received octets. Returns true once no more are needed. */
  push(chunk: Uint8Array): boolean;
  /** Returns the flight as far as it has arrived. */
  flight(): Flight;
}

const TLS13 = 0x0304;
const P256 = 0x0017;
const X25519 = 0x001d;
/** Octets before the 32 octets of an X25519 key in PKCS #8 and SubjectPublicKeyInfo (RFC 8410 sections 4 and 7). */
const PKCS8 = Buffer.from("302e020100300506032b656e04220420", "hex");
const SPKI = Buffer.from("302a300506032b656e032100", "hex");
const RECORD_HEADER = 5;
const SHARE_OFFSET = 64;
/** Maximum number of octets read of one flight. */
const MAX_OCTETS = 131_072;
/** Maximum number of records read of one flight. */
const MAX_RECORDS = 500;
/** Maximum number of times that the flight is parsed while it arrives. */
const MAX_PARSES = 100;

/** Encodes a hello; the last 32 octets of `random` are the private key of its X25519 share. */
export function encodeOwnHello(hello: ClientHello, random: Uint8Array): OwnHello {
  const seed = random.subarray(SHARE_OFFSET);
  const privateKey = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: "der", type: "pkcs8" });
  const spki = createPublicKey(privateKey).export({ format: "der", type: "spki" });
  const share = spki.subarray(SPKI.length);
  return { hello: encodeHello(hello, Buffer.concat([random.subarray(0, SHARE_OFFSET), share])), privateKey };
}

/**
 * Creates a reader for the answer to such a hello. It ends with the certificates, or when they can no longer arrive.
 */
export function createFlightReader(hello: Uint8Array, privateKey: KeyObject): FlightReader {
  const octets = createOctets();
  let secret: Uint8Array | null = null;
  let flight = readFlight(octets.view(), null);
  let read = 0;
  let records = 0;
  let parses = 0;
  return {
    flight: () => flight,
    push(chunk) {
      octets.append(chunk);
      const received = octets.view();
      if (received.length > MAX_OCTETS) return true;
      const fresh = wholeRecords(received.subarray(read));
      if (fresh.count === 0) return false;
      read += fresh.octets;
      records += fresh.count;
      parses += 1;
      if (records > MAX_RECORDS) return true;
      const first = firstHello(received);
      if (first?.hello.version === TLS13 && secret === null) {
        secret = first.hello.retry ? null : handshakeSecret(hello.subarray(RECORD_HEADER), first, privateKey);
        if (secret === null) return true;
      }
      flight = readFlight(received, secret);
      return flight.certificates.length > 0 || flight.fatalAlert !== null || parses === MAX_PARSES;
    },
  };
}

/** Returns the number of complete records and of their octets. */
function wholeRecords(received: Uint8Array): { readonly count: number; readonly octets: number } {
  let count = 0;
  let octets = 0;
  for (const { fragment } of splitRecords(received)) {
    count += 1;
    octets += RECORD_HEADER + fragment.length;
  }
  return { count, octets };
}

interface FirstHello {
  readonly hello: ServerHello;
  /** The complete message for the transcript hash. */
  readonly message: Uint8Array;
}

function firstHello(received: Uint8Array): FirstHello | null {
  const fragments: Uint8Array[] = [];
  for (const { type, fragment } of splitRecords(received)) {
    if (type === CONTENT.applicationData) break;
    if (type === CONTENT.handshake) fragments.push(fragment);
  }
  const clear = Buffer.concat(fragments);
  const [first] = splitMessages(clear);
  const hello = first?.type === MESSAGE.serverHello ? readServerHello(first.body) : null;
  return first === undefined || hello === null ? null : { hello, message: clear.subarray(0, 4 + first.body.length) };
}

/** Computes the server's handshake traffic secret (RFC 8446 section 7.1). Null if suite or key share is unusable. */
function handshakeSecret(clientHello: Uint8Array, { hello, message }: FirstHello, own: KeyObject): Uint8Array | null {
  const hash = hashOfSuite(hello.suite);
  const shared = sharedSecret(hello, own);
  if (hash === null || shared === null) return null;
  const digest = (...parts: readonly Uint8Array[]): Buffer => createHash(hash).update(Buffer.concat(parts)).digest();
  const empty = digest();
  const zeros = Buffer.alloc(empty.length);
  const early = createHmac(hash, zeros).update(zeros).digest();
  const derived = expandLabel(hash, early, "derived", empty.length, empty);
  const handshake = createHmac(hash, derived).update(shared).digest();
  return expandLabel(hash, handshake, "s hs traffic", empty.length, digest(clientHello, message));
}

/** Computes the shared secret of the key exchange. Returns null for another group or an invalid share. */
function sharedSecret({ extensions }: ServerHello, own: KeyObject): Uint8Array | null {
  const reader = createReader(extensions.get(EXTENSION.keyShare) ?? new Uint8Array());
  const group = reader.number(2);
  const share = reader.vector(2);
  // Our private key is 1, so the result is the server's point. Its x coordinate is the secret (RFC 8446 section 7.4.2).
  if (group === P256 && share?.length === 65) return share.subarray(1, 33);
  if (group !== X25519 || share?.length !== 32) return null;
  try {
    const theirs = createPublicKey({ key: Buffer.concat([SPKI, share]), format: "der", type: "spki" });
    return diffieHellman({ privateKey: own, publicKey: theirs });
  } catch {
    return null;
  }
}
