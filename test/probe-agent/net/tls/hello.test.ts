import { afterEach, describe, expect, it } from "vitest";
import { createEgress, NO_ALLOW_LISTS } from "#shared/internet/egress.ts";
import type { HelloRequest } from "#probe-agent/port/tls.ts";
import { createTls } from "#probe-agent/net/tls.ts";
import { createPki } from "#test/servers/pki.ts";
import { startScriptedTls } from "#test/servers/tls-scripted.ts";
import { alertRecord } from "#test/servers/tls-handshake.ts";
import { startTlsServer } from "#test/servers/tls.ts";
import { startWireServer, type WireHandler } from "#test/servers/wire.ts";
import { systemClock, systemRandom } from "#test/support/clock.ts";
import { freePort } from "#test/support/free-port.ts";
import { jobLimits, loopbackEgress } from "#test/support/net.ts";

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

const shared = { clock: systemClock, random: systemRandom };
const HELLO = { ip: "127.0.0.1", version: 0x0303, servername: "tls.example", suites: [0xc02b, 0xc02f, 0x009e] };

function say(port: number, change: Partial<HelloRequest> = {}, limits = jobLimits()) {
  return createTls({ ...shared, egress: loopbackEgress })(limits).hello({
    ...HELLO,
    port,
    timeoutMs: 60_000,
    ...change,
  });
}

async function answered(handler: WireHandler, change?: Partial<HelloRequest>) {
  const server = await startWireServer(handler);
  open.push(server);
  return await say(server.port, change);
}

describe("a hello", () => {
  it("returns selection, certificates and curve of a real server before TLS 1.3, and its group with TLS 1.3", async () => {
    const pki = await createPki();
    const leaf = await pki.issue({ dns: ["tls.example"] });
    const server = await startTlsServer({ chain: [leaf, pki.intermediate] });
    open.push(server);
    const old = await say(server.port, { groups: [23], signatureAlgorithms: [0x0403], alpn: ["h2"], flight: true });
    expect(old).toMatchObject({
      status: "ok",
      data: { serverHello: { version: 0x0303, suite: 0xc02b, group: 23, compression: 0, alpn: null }, alert: null },
    });
    const { certificates } = (old as { data: { certificates: readonly Uint8Array[] } }).data;
    expect(certificates.map((der) => Buffer.from(der).toString("hex"))).toEqual(
      [leaf, pki.intermediate].map(({ der }) => Buffer.from(der).toString("hex")),
    );
    const modern = { supportedVersions: [0x0304], suites: [0x1302], signatureAlgorithms: [0x0403], groups: [29, 23] };
    for (const [keyShares, retry] of [
      [[], true],
      [[0x001d, 0x0017], false],
      [[0x0017], false],
    ] as const) {
      expect(await say(server.port, { ...modern, keyShares })).toMatchObject({
        status: "ok",
        data: { serverHello: { version: 0x0304, suite: 0x1302, retry }, certificates: [] },
      });
    }
  });

  it("is answered by an alert, a close or a reset", async () => {
    expect(await answered((socket) => void socket.end(alertRecord(40)))).toMatchObject({
      status: "ok",
      data: { serverHello: null, alert: { fatal: true, description: 40 } },
    });
    const nothing = { serverHello: null, alert: null };
    expect(await answered((socket) => void socket.end())).toMatchObject({ data: { ...nothing, ending: "closed" } });
    expect(await answered((socket) => void socket.resetAndDestroy())).toMatchObject({
      data: { ...nothing, ending: "reset" },
    });
  });

  it("fails in stage tls if the answer is missing, text or garbage", async () => {
    const failed = { status: "failed", stage: "tls", source: "target" };
    expect(await answered(() => undefined, { timeoutMs: 200 })).toMatchObject({ ...failed, reason: "timeout" });
    expect(await answered((socket) => void socket.end("220 mail.example\r\n"))).toMatchObject({
      ...failed,
      reason: "plain_text",
    });
    expect(await answered((socket) => void socket.end(Buffer.alloc(9, 0xa7)))).toMatchObject({
      ...failed,
      reason: "not_tls",
    });
  });

  it("fails in stage connect if nothing listens, and once the job has ended", async () => {
    const failed = { status: "failed", stage: "connect", source: "target" };
    expect(await say(await freePort())).toMatchObject({ ...failed, reason: "refused" });
    expect(await say(9, {}, jobLimits(0))).toMatchObject({ ...failed, reason: "timeout" });
  });

  it("is never sent to a forbidden address", async () => {
    const server = await startWireServer(() => undefined);
    open.push(server);
    const strict = createTls({ ...shared, egress: createEgress(NO_ALLOW_LISTS) })(jobLimits());
    expect(await strict.hello({ ...HELLO, port: server.port })).toEqual({ status: "refused" });
    expect(server.accepted()).toBe(0);
  });
});

it("one job has no more than five concurrent connections", async () => {
  let most = 0;
  const server = await startScriptedTls({
    versions: { 0x0303: [0xc02f] },
    intercept: (socket) => {
      most = Math.max(most, server.open());
      setTimeout(() => socket.end(alertRecord(40)), 30);
      return true;
    },
  });
  open.push(server);
  const port = createTls({ ...shared, egress: loopbackEgress })(jobLimits());
  const requests = Array.from({ length: 20 }, () => port.hello({ ...HELLO, port: server.port }));
  const outcomes = await Promise.all(requests);
  expect(outcomes.every(({ status }) => status === "ok")).toBe(true);
  expect(most).toBeGreaterThan(1);
  expect(most).toBeLessThanOrEqual(6);
});
