import type { Socket } from "node:net";
import { alertRecord, certificateFlight, helloRecord, keyExchangeRecord } from "#test/servers/tls-handshake.ts";
import { startWireServer, type WireServer } from "#test/servers/wire.ts";

/** What a ClientHello asks for. */
export interface SeenHello {
  /** The highest of supported_versions, else legacy_version. */
  readonly version: number;
  readonly suites: readonly number[];
  readonly compression: readonly number[];
  readonly groups: readonly number[];
  /** Octets of the whole record. */
  readonly length: number;
}

/** A server that needs no cryptography: it answers hellos and never completes a handshake. */
export interface Script {
  /** Suites by version, in the server's order of preference. */
  readonly versions: Readonly<Record<number, readonly number[]>>;
  /** Takes the client's order instead. */
  readonly clientOrder?: boolean;
  /** Groups for HelloRetryRequest and ServerKeyExchange; default P-256. */
  readonly groups?: readonly number[];
  /** Octets of the prime where the suite is DHE; default 256. */
  readonly primeBytes?: number;
  readonly compression?: number;
  /** Default: with renegotiation_info. */
  readonly secureRenegotiation?: boolean;
  /** Refuses TLS_FALLBACK_SCSV; default true. */
  readonly fallbackScsv?: boolean;
  readonly chain?: readonly Uint8Array[];
  /** Default: alert 40, or 70 where the version is unknown. */
  readonly refuse?: (socket: Socket, versionKnown: boolean) => void;
  /** Asked first; true: it has taken care of this connection. */
  readonly intercept?: (socket: Socket, hello: SeenHello, count: number) => boolean;
}

const TLS13 = 0x0304;
const DHE = new Set([0x0014, 0x0016, 0x0033, 0x0039, 0x009e, 0x009f, 0x0034]);
/** SHA-256 of "HelloRetryRequest" (RFC 8446 section 4.1.3). */
const RETRY_RANDOM = Buffer.from("cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c", "hex");

/** Starts one; hellos that cannot be read are a fault of the client and throw. */
export async function startScriptedTls(script: Script): Promise<WireServer> {
  let count = 0;
  return await startWireServer((socket, received) => {
    const hello = readHello(Buffer.from(received, "latin1"));
    count += 1;
    if (script.intercept?.(socket, hello, count) === true) return;
    answer(socket, hello, script);
  });
}

function answer(socket: Socket, hello: SeenHello, script: Script): void {
  const own = script.versions[hello.version];
  const choice = choose(own ?? [], hello, script.clientOrder === true);
  const newest = Math.max(...Object.keys(script.versions).map(Number));
  const refuse = script.refuse ?? ((one: Socket, known: boolean): void => void one.end(alertRecord(known ? 40 : 70)));
  if (hello.suites.includes(0x5600) && hello.version < newest && script.fallbackScsv !== false) {
    socket.end(alertRecord(86));
    return;
  }
  const group = (script.groups ?? [23]).find((one) => hello.groups.includes(one));
  const grouped = hello.version === TLS13 || (choice !== undefined && choice >= 0xc000);
  if (own === undefined || choice === undefined || (grouped && group === undefined)) {
    refuse(socket, own !== undefined);
    return;
  }
  if (hello.version === TLS13) socket.write(retry(choice, group ?? 0));
  else socket.write(Buffer.concat(oldFlight(hello, script, choice, group ?? 0)));
}

function choose(own: readonly number[], { suites }: SeenHello, clientOrder: boolean): number | undefined {
  return clientOrder ? suites.find((code) => own.includes(code)) : own.find((code) => suites.includes(code));
}

function oldFlight(hello: SeenHello, script: Script, suite: number, group: number): Uint8Array[] {
  const extensions = script.secureRenegotiation === false ? [] : ([[0xff01, Uint8Array.of(0)]] as const);
  const compression = hello.compression.includes(script.compression ?? 0) ? (script.compression ?? 0) : 0;
  const first = helloRecord({ version: hello.version, suite, compression, extensions });
  const certificates = script.chain === undefined ? [] : [certificateFlight(script.chain, false)];
  const prime = Buffer.alloc(script.primeBytes ?? 256, 255);
  const exchange = DHE.has(suite)
    ? [keyExchangeRecord(Buffer.concat([Buffer.from([prime.length >> 8, prime.length & 255]), prime]))]
    : suite >= 0xc000
      ? [keyExchangeRecord(Uint8Array.of(3, group >> 8, group & 255, 1, 4))]
      : [];
  return [first, ...certificates, ...exchange, Uint8Array.of(22, 3, 1, 0, 4, 14, 0, 0, 0)];
}

function retry(suite: number, group: number): Uint8Array {
  const record = Buffer.from(
    helloRecord({
      version: 0x0303,
      suite,
      extensions: [
        [51, Uint8Array.of(group >> 8, group & 255)],
        [43, Uint8Array.of(3, 4)],
      ],
    }),
  );
  RETRY_RANDOM.copy(record, 11);
  return record;
}

function readHello(bytes: Buffer): SeenHello {
  let at = 5 + 4;
  const number = (size: number): number => bytes.readUIntBE((at += size) - size, size);
  const legacy = number(2);
  at += 32;
  const sessionId = number(1);
  at += sessionId;
  const suites = Array.from({ length: number(2) / 2 }, () => number(2));
  const compression = Array.from({ length: number(1) }, () => number(1));
  const extensions = new Map<number, Buffer>();
  const end = at < bytes.length ? number(2) + at : at;
  while (at < end) {
    const type = number(2);
    const length = number(2);
    extensions.set(type, bytes.subarray(at, (at += length)));
  }
  const pairs = (value: Buffer | undefined, from: number): number[] =>
    value === undefined
      ? []
      : Array.from({ length: (value.length - from) / 2 }, (_, index) => value.readUInt16BE(from + 2 * index));
  const version = Math.max(legacy, ...pairs(extensions.get(43), 1));
  return { version, suites, compression, groups: pairs(extensions.get(10), 2), length: bytes.length };
}
