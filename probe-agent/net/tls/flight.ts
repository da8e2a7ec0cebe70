import type { TlsVersion } from "#probe-agent/port/tls.ts";
import { CONTENT, splitMessages, splitRecords, type TlsRecord } from "#probe-agent/net/tls/records.ts";
import {
  MESSAGE,
  readCertificates,
  readCertificateStatus,
  readServerHello,
  timestampsOf,
  type ServerHello,
} from "#probe-agent/net/tls/messages.ts";
import { createOpener, type Unprotected } from "#probe-agent/net/tls/unprotect.ts";

/** Content of a server's handshake flight. */
export interface Flight {
  /** Version that the ServerHello selects; null if there is no ServerHello or the version is unknown. */
  readonly version: TlsVersion | "SSLv3" | null;
  readonly certificates: readonly Uint8Array[];
  readonly ocspStaple: Uint8Array | null;
  /** List of signed certificate timestamps (RFC 6962 section 3.3.1); null if there is none. */
  readonly timestamps: Uint8Array | null;
  readonly clientCertificateRequested: boolean;
  /** Description of the first fatal alert that could be read; null if there is none. */
  readonly fatalAlert: number | null;
}

const TLS13 = 0x0304;
const VERSIONS: Readonly<Record<number, TlsVersion | "SSLv3">> = {
  0x0300: "SSLv3",
  0x0301: "TLSv1",
  0x0302: "TLSv1.1",
  0x0303: "TLSv1.2",
  [TLS13]: "TLSv1.3",
};
const FATAL = 2;

/**
 * Parses the octets that a server sent. Certificates are in the order sent, including repeated and unrelated ones.
 * `secret` is the server's handshake traffic secret. It is necessary for TLS 1.3, whose flight is encrypted.
 */
export function readFlight(received: Uint8Array, secret: Uint8Array | null): Flight {
  const { clear, rest, fatalAlert } = readClear(received);
  const hello = findServerHello(clear);
  const flight = {
    certificates: [] as readonly Uint8Array[],
    ocspStaple: null as Uint8Array | null,
    timestamps: hello === null ? null : timestampsOf(hello),
  };
  const tls13 = hello?.version === TLS13;
  const opened = tls13 && secret ? open(rest, createOpener(hello.suite, secret)) : { content: clear, fatalAlert };
  let clientCertificateRequested = false;
  for (const { type, body } of splitMessages(opened.content)) {
    if (type === MESSAGE.certificate) {
      const { timestamps, ...list } = readCertificates(body, tls13);
      Object.assign(flight, list, tls13 ? { timestamps } : {});
    }
    if (type === MESSAGE.certificateStatus) flight.ocspStaple = readCertificateStatus(body);
    if (type === MESSAGE.certificateRequest) clientCertificateRequested = true;
    if (type === MESSAGE.finished) break;
  }
  const version = VERSIONS[hello?.version ?? 0] ?? null;
  return { ...flight, version, clientCertificateRequested, fatalAlert: opened.fatalAlert ?? fatalAlert };
}

/**
 * Joins unencrypted handshake fragments. `rest` contains the encrypted records. Up to TLS 1.2, encryption begins after
 * ChangeCipherSpec, and nothing after it can be read. In TLS 1.3 that record has no meaning (RFC 8446 appendix D.4).
 */
function readClear(received: Uint8Array): { clear: Uint8Array; rest: TlsRecord[]; fatalAlert: number | null } {
  const fragments: Uint8Array[] = [];
  const rest: TlsRecord[] = [];
  let fatalAlert: number | null = null;
  let isTls13 = false;
  for (const record of splitRecords(received)) {
    // Determined once: a server can send 80,000 of these records, and each check reads all fragments.
    if (record.type === CONTENT.changeCipherSpec) isTls13 ||= firstVersion(fragments) === TLS13;
    if (record.type === CONTENT.changeCipherSpec && !isTls13) break;
    if (rest.length > 0 || record.type === CONTENT.applicationData) rest.push(record);
    else if (record.type === CONTENT.handshake) fragments.push(record.fragment);
    else if (record.type === CONTENT.alert) fatalAlert ??= fatal(record.fragment);
  }
  return { clear: Buffer.concat(fragments), rest, fatalAlert };
}

/** Returns the version of the first ServerHello or HelloRetryRequest. */
function firstVersion(fragments: readonly Uint8Array[]): number | undefined {
  for (const { type, body } of splitMessages(Buffer.concat(fragments))) {
    if (type === MESSAGE.serverHello) return readServerHello(body)?.version;
  }
  return undefined;
}

/** Decrypts records up to the first that cannot be decrypted. */
function open(
  records: readonly TlsRecord[],
  opener: (record: TlsRecord) => Unprotected | null,
): { content: Uint8Array; fatalAlert: number | null } {
  const fragments: Uint8Array[] = [];
  let fatalAlert: number | null = null;
  for (const record of records) {
    if (record.type === CONTENT.alert) fatalAlert ??= fatal(record.fragment);
    if (record.type !== CONTENT.applicationData) continue;
    const inner = opener(record);
    if (inner === null) break;
    if (inner.type === CONTENT.handshake) fragments.push(inner.content);
    if (inner.type === CONTENT.alert) fatalAlert ??= fatal(inner.content);
  }
  return { content: Buffer.concat(fragments), fatalAlert };
}

/** Returns the first ServerHello that is not a HelloRetryRequest. */
function findServerHello(clear: Uint8Array): ServerHello | null {
  for (const { type, body } of splitMessages(clear)) {
    if (type !== MESSAGE.serverHello) continue;
    const hello = readServerHello(body);
    if (hello && !hello.retry) return hello;
  }
  return null;
}

function fatal(alert: Uint8Array): number | null {
  return alert.length === 2 && alert[0] === FATAL ? (alert[1] ?? null) : null;
}
