import type { HelloAnswer, ServerHelloSeen } from "#probe-agent/port/tls.ts";
import { EXTENSION } from "#probe-agent/net/tls/hello/extensions.ts";
import { createOctets } from "#probe-agent/net/octets.ts";
import { MESSAGE, readCertificates, readServerHello, type ServerHello } from "#probe-agent/net/tls/messages.ts";
import { createReader, type Reader } from "#probe-agent/net/tls/reader.ts";
import {
  CONTENT,
  kindOfAnswer,
  splitMessages,
  splitRecords,
  type HandshakeMessage,
} from "#probe-agent/net/tls/records.ts";
import { SUITES } from "#probe-agent/analysis/tls/ssl/suites.ts";

/** Reads an answer incrementally. */
interface HelloReader {
  /** Reads received octets. Returns true once no more are needed. */
  push(chunk: Uint8Array): boolean;
  /** Returns the answer as far as it has arrived. */
  answer(): Omit<HelloAnswer, "ending">;
  /** Returns the type of data that the first octets are. */
  kind(): ReturnType<typeof kindOfAnswer>;
  /** Returns the first octets, for a message. */
  start(): Uint8Array;
}

/** Maximum number of octets read up to a ServerHello, with room for warnings before it. */
const MAX_HELLO = 32_768;
/** Maximum number of octets read of a flight: more than browsers accept. */
const MAX_FLIGHT = 262_144;
const TLS13 = 0x0304;
const FATAL = 2;
/** Number of first octets kept for a message. */
const KEPT_START = 128;

/** Group or size of the ephemeral key in a ServerKeyExchange. */
interface EphemeralKey {
  /** Number of the named curve; null if there is none. */
  readonly group: number | null;
  /** Size of the Diffie-Hellman prime in bits; null if there is none. */
  readonly primeBits: number | null;
}

const NAMED_CURVE = 3;
const UNKNOWN: EphemeralKey = { group: null, primeBits: null };

/**
 * Creates a reader that stops after the ServerHello. With `flight`, it stops after the key exchange or the end of the
 * unencrypted flight of a server before TLS 1.3.
 */
export function createHelloReader(flight: boolean): HelloReader {
  const pending = createOctets();
  const messages = createOctets();
  let start: Uint8Array = new Uint8Array();
  let total = 0;
  let hello: ServerHello | null = null;
  let key = { group: null as number | null, primeBits: null as number | null };
  let certificates: readonly Uint8Array[] = [];
  let alert: HelloAnswer["alert"] = null;
  let over = false;

  function take({ type, body }: HandshakeMessage): void {
    if (type === MESSAGE.serverHello && hello === null) {
      hello = readServerHello(body);
      over ||= hello === null || !flight || hello.version === TLS13;
    } else if (hello === null) over = true;
    else if (type === MESSAGE.certificate) ({ certificates } = readCertificates(body, false));
    else if (type === MESSAGE.serverKeyExchange) {
      key = readEphemeralKey(body, hello.suite);
      over = true;
    } else if (type === MESSAGE.serverHelloDone) over = true;
  }

  function readRecords(): void {
    let read = 0;
    let grown = false;
    for (const { type, fragment } of splitRecords(pending.view())) {
      read += 5 + fragment.length;
      if (type === CONTENT.handshake) {
        messages.append(fragment);
        grown = true;
      } else if (type === CONTENT.alert) {
        alert = moreSevere(alert, fragment);
        over ||= alert?.fatal === true;
      } else over = true;
      if (over) break;
    }
    pending.drop(read);
    if (!grown) return;
    let used = 0;
    for (const message of splitMessages(messages.view())) {
      used += 4 + message.body.length;
      take(message);
      if (over) break;
    }
    messages.drop(used);
  }

  return {
    push(chunk) {
      total += chunk.length;
      if (start.length < KEPT_START) start = Buffer.concat([start, chunk]).subarray(0, KEPT_START);
      pending.append(chunk);
      readRecords();
      const kind = kindOfAnswer(start);
      return (
        over ||
        total > (flight ? MAX_FLIGHT : MAX_HELLO) ||
        kind === "text" ||
        kind === "other" ||
        isStuck(pending.view())
      );
    },
    answer: () => ({ serverHello: hello === null ? null : describeHello(hello, key), alert, certificates }),
    kind: () => kindOfAnswer(start),
    start: () => start,
  };
}

/** Returns the more severe alert: fatal before warning, then the first one. */
function moreSevere(before: HelloAnswer["alert"], fragment: Uint8Array): HelloAnswer["alert"] {
  const [level, description] = fragment;
  if (description === undefined || before?.fatal === true) return before;
  const fatal = level === FATAL;
  return before === null || fatal ? { fatal, description } : before;
}

function describeHello(
  hello: ServerHello,
  key: { readonly group: number | null; readonly primeBits: number | null },
): ServerHelloSeen {
  const { version, suite, retry, compression, extensions } = hello;
  const share = extensions.get(EXTENSION.keyShare);
  const alpn = createReader(
    createReader(extensions.get(EXTENSION.alpn) ?? new Uint8Array()).vector(2) ?? new Uint8Array(),
  );
  const protocol = alpn.vector(1);
  return {
    version,
    suite,
    retry,
    compression,
    extensions: [...extensions.keys()],
    group: (share === undefined ? undefined : createReader(share).number(2)) ?? key.group,
    primeBits: key.primeBits,
    alpn: protocol === undefined ? null : Buffer.from(protocol).toString("latin1"),
  };
}

/** Reports whether a complete record header is invalid, so that reading cannot continue. */
function isStuck(pending: Uint8Array): boolean {
  if (pending.length < 5) return false;
  const [type = 0, major = 0, , high = 0, low = 0] = pending;
  return type < CONTENT.changeCipherSpec || type > CONTENT.applicationData || major !== 3 || high * 256 + low > 18_432;
}

/**
 * Parses a ServerKeyExchange of the selected suite (RFC 5246 section 7.4.3, RFC 8422 section 5.4, RFC 4279 section 2).
 */
export function readEphemeralKey(body: Uint8Array, suite: number): EphemeralKey {
  const { kx, auth } = SUITES.get(suite) ?? {};
  const reader = createReader(body);
  if (auth === "PSK") reader.vector(2);
  if (kx === "ECDHE") return { ...UNKNOWN, group: namedCurve(reader) };
  if (kx === "DHE") return { ...UNKNOWN, primeBits: bitLength(reader.vector(2)) };
  return UNKNOWN;
}

function namedCurve(reader: Reader): number | null {
  return reader.number(1) === NAMED_CURVE ? (reader.number(2) ?? null) : null;
}

function bitLength(number: Uint8Array | undefined): number | null {
  const start = number?.findIndex((octet) => octet !== 0) ?? -1;
  if (number === undefined || start < 0) return null;
  return (number.length - start - 1) * 8 + (32 - Math.clz32(number[start] ?? 0));
}
