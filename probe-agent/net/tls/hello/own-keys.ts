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

/** A hello whose X25519 share we have the private key of; that of its P-256 share is 1. */
interface OwnHello {
  readonly hello: Uint8Array;
  readonly privateKey: KeyObject;
}

/** Reads a server's flight, opened with our own keys where it is encrypted (TLS 1.3). */
interface FlightReader {
  /** Reads received octets; returns true once no more are needed. */
  push(chunk: Uint8Array): boolean;
  /** Returns the flight as far as it has arrived. */
  flight(): Flight;
}

const TLS13 = 0x0304;
const P256 = 0x0017;
const X25519 = 0x001d;
/** An X25519 key in PKCS #8 and SubjectPublicKeyInfo (RFC 8410 sections 4 and 7), up to its 32 octets. */
const PKCS8 = Buffer.from("302e020100300506032b656e04220420", "hex");
const SPKI = Buffer.from("302a300506032b656e032100", "hex");
const RECORD_HEADER = 5;
const SHARE_OFFSET = 64;
/** Octets and records read of one flight, and how often it is looked through as it comes in. */
const MAX_OCTETS = 131_072;
const MAX_RECORDS = 500;
const MAX_LOOKS = 100;

/** Encodes a hello; the last 32 octets of `random` are the private key of its X25519 share. */
export function encodeOwnHello(hello: ClientHello, random: Uint8Array): OwnHello {
  const seed = random.subarray(SHARE_OFFSET);
  const privateKey = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: "der", type: "pkcs8" });
  const spki = createPublicKey(privateKey).export({ format: "der", type: "spki" });
  const share = spki.subarray(SPKI.length);
  return { hello: encodeHello(hello, Buffer.concat([random.subarray(0, SHARE_OFFSET), share])), privateKey };
}

/** Creates a reader for the answer to such a hello. It is done with the certificates, or when they cannot arrive any more. */
export function createFlightReader(hello: Uint8Array, privateKey: KeyObject): FlightReader {
  const octets = createOctets();
  let secret: Uint8Array | null = null;
  let flight = readFlight(octets.view(), null);
  let read = 0;
  let records = 0;
  let looks = 0;
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
      looks += 1;
      if (records > MAX_RECORDS) return true;
      const first = firstHello(received);
      if (first?.hello.version === TLS13 && secret === null) {
        secret = first.hello.retry ? null : handshakeSecret(hello.subarray(RECORD_HEADER), first, privateKey);
        if (secret === null) return true;
      }
      flight = readFlight(received, secret);
      return flight.certificates.length > 0 || flight.fatalAlert !== null || looks === MAX_LOOKS;
    },
  };
}

/** Returns the number of complete records, and their octets. */
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
  /** The whole message, as it goes into the transcript. */
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

/** The server's handshake traffic secret (RFC 8446 section 7.1); null if its share does not match ours. */
function handshakeSecret(clientHello: Uint8Array, { hello, message }: FirstHello, own: KeyObject): Uint8Array | null {
  const hash = hashOfSuite(hello.suite);
  const shared = agree(hello, own);
  if (hash === null || shared === null) return null;
  const digest = (...parts: readonly Uint8Array[]): Buffer => createHash(hash).update(Buffer.concat(parts)).digest();
  const empty = digest();
  const zeros = Buffer.alloc(empty.length);
  const early = createHmac(hash, zeros).update(zeros).digest();
  const derived = expandLabel(hash, early, "derived", empty.length, empty);
  const handshake = createHmac(hash, derived).update(shared).digest();
  return expandLabel(hash, handshake, "s hs traffic", empty.length, digest(clientHello, message));
}

function agree({ extensions }: ServerHello, own: KeyObject): Uint8Array | null {
  const reader = createReader(extensions.get(EXTENSION.keyShare) ?? new Uint8Array());
  const group = reader.number(2);
  const share = reader.vector(2);
  // One times a point is the point; its x coordinate is what is agreed on (RFC 8446 section 7.4.2).
  if (group === P256 && share?.length === 65) return share.subarray(1, 33);
  if (group !== X25519 || share?.length !== 32) return null;
  try {
    const theirs = createPublicKey({ key: Buffer.concat([SPKI, share]), format: "der", type: "spki" });
    return diffieHellman({ privateKey: own, publicKey: theirs });
  } catch {
    return null;
  }
}
