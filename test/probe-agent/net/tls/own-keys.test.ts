import { afterEach, describe, expect, it } from "vitest";
import { createEgress, NO_ALLOW_LISTS } from "#shared/internet/egress.ts";
import type { HelloRequest } from "#probe-agent/port/tls.ts";
import { createTls } from "#probe-agent/net/tls.ts";
import { createFlightReader, encodeOwnHello } from "#probe-agent/net/tls/hello/own-keys.ts";
import { createPki } from "#test/servers/pki.ts";
import { alertRecord, certificateFlight } from "#test/servers/tls-handshake.ts";
import { startTlsServer } from "#test/servers/tls.ts";
import { startWireServer, writeForever, type WireHandler } from "#test/servers/wire.ts";
import { systemClock, systemRandom } from "#test/support/clock.ts";
import { freePort } from "#test/support/free-port.ts";
import { jobLimits, loopbackEgress } from "#test/support/net.ts";

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

const HELLO = {
  ip: "127.0.0.1",
  version: 0x0303,
  supportedVersions: [0x0304, 0x0303],
  servername: "tls.example",
  suites: [0x1301, 0x1302, 0x1303, 0xc02b],
  groups: [0x001d, 0x0017],
  keyShares: [0x001d, 0x0017],
  signatureAlgorithms: [0x0403],
} as const;
const pki = await createPki();
const leaf = await pki.issue({ dns: ["tls.example"] });

function ask(port: number, change: Partial<HelloRequest> = {}, egress = loopbackEgress) {
  const tls = createTls({ clock: systemClock, random: systemRandom, egress })(jobLimits());
  return tls.timestamps({ ...HELLO, port, timeoutMs: 60_000, ...change });
}

async function wired(handler: WireHandler, change: Partial<HelloRequest> = {}) {
  const server = await startWireServer(handler);
  open.push(server);
  return await ask(server.port, change);
}

/** Passes pieces of an answer to a reader, one after the other. */
function read(...pieces: readonly Uint8Array[]) {
  const { hello, privateKey } = encodeOwnHello(HELLO, systemRandom.bytes(96));
  const reader = createFlightReader(hello, privateKey);
  const ended = pieces.map((piece) => reader.push(piece));
  return { ended, flight: reader.flight() };
}

describe("a handshake with our own keys", () => {
  it.each([
    ["TLSv1.3", "TLS_AES_128_GCM_SHA256"],
    ["TLSv1.3", "TLS_AES_256_GCM_SHA384"],
    ["TLSv1.3", "TLS_CHACHA20_POLY1305_SHA256"],
    ["TLSv1.2", "ECDHE-ECDSA-AES128-GCM-SHA256"],
  ] as const)("reads up to the certificates: %s, %s; this server sends no timestamps", async (version, ciphers) => {
    const server = await startTlsServer({ chain: [leaf, pki.intermediate], ciphers, minVersion: version });
    open.push(server);
    expect(await ask(server.port)).toEqual({ status: "ok", data: null });
  });

  it("fails if the server requests a key share that we do not support", async () => {
    const server = await startTlsServer({ chain: [leaf], ecdhCurve: "P-384", minVersion: "TLSv1.3" });
    open.push(server);
    const groups = [0x001d, 0x0018];
    expect(await ask(server.port, { groups })).toMatchObject({ status: "failed", reason: "no_certificate" });
  });

  it("fails if there are no certificates, regardless of what else arrives", async () => {
    const none = { status: "failed", stage: "tls", source: "target", reason: "no_certificate" };
    expect(await wired((socket) => socket.write(alertRecord(40)))).toMatchObject(none);
    expect(await wired((socket) => socket.end())).toMatchObject(none);
    expect(await wired((socket) => socket.resetAndDestroy())).toMatchObject(none);
    const records = Buffer.alloc(6 * 400, Buffer.from("160303000100", "hex"));
    expect(await wired((socket) => writeForever(socket, records))).toMatchObject(none);
    expect(await wired((socket) => writeForever(socket, Buffer.alloc(4096, 0xa7)))).toMatchObject(none);
    const silent = await wired(() => undefined, { timeoutMs: 300 });
    expect(silent).toMatchObject({ status: "failed", stage: "tls", reason: "timeout" });
    expect(await ask(await freePort())).toMatchObject({ status: "failed", stage: "connect", reason: "refused" });
  });

  it("is never started with a forbidden address", async () => {
    expect(await ask(443, { ip: "10.0.0.1" }, createEgress(NO_ALLOW_LISTS))).toEqual({ status: "refused" });
  });
});

describe("the reader of such a flight", () => {
  it("stops after the certificates", () => {
    const flight = certificateFlight([leaf.der]);
    const { ended, flight: seen } = read(flight.subarray(0, 90), flight.subarray(90));
    expect(ended.at(-1)).toBe(true);
    expect(seen.certificates.map((der) => Buffer.from(der).equals(leaf.der))).toEqual([true]);
  });

  it("reads it octet by octet", () => {
    const flight = certificateFlight([leaf.der]);
    const { ended, flight: seen } = read(...Array.from(flight, (octet) => Uint8Array.of(octet)));
    expect(ended.includes(true)).toBe(true);
    expect(seen.certificates).toHaveLength(1);
  });

  it("parses no more than a hundred times, and reads no more than 500 records and 128 KB", () => {
    const warning = Buffer.from("15030300020164", "hex");
    const { ended } = read(...Array.from({ length: 120 }, () => warning));
    expect(ended.indexOf(true)).toBe(99);
    expect(read(Buffer.concat(Array.from({ length: 501 }, () => warning))).ended).toEqual([true]);
    expect(read(Buffer.alloc(140_000, 0x16)).ended).toEqual([true]);
  });
});
