import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { createTcp } from "#probe-agent/net/tcp.ts";
import { startDeafServer } from "#test/servers/deaf.ts";
import { systemClock } from "#test/support/clock.ts";
import { freePort } from "#test/support/free-port.ts";
import { jobLimits, loopbackEgress } from "#test/support/net.ts";

const tcpFor = createTcp({ egress: loopbackEgress, clock: systemClock });

describe("a TCP probe", () => {
  it("finds an open port and takes its time", async () => {
    const server = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const probed = await tcpFor(jobLimits()).probe("127.0.0.1", port, 2_000);
    expect(probed).toMatchObject({ state: "open", reason: null });
    expect(probed.rttMs).toBeGreaterThan(0);
    server.close();
  });

  it("finds a closed port by its reset", async () => {
    const probed = await tcpFor(jobLimits()).probe("127.0.0.1", await freePort(), 2_000);
    expect(probed).toMatchObject({ state: "closed", reason: null });
    expect(probed.rttMs).toBeGreaterThan(0);
  });

  it("calls a port filtered that stays silent, after the time given or the check's own", async () => {
    const deaf = await startDeafServer();
    const silent = { state: "filtered", rttMs: null, reason: "timeout" };
    expect(await tcpFor(jobLimits()).probe("127.0.0.1", deaf.port, 300)).toEqual(silent);
    expect(await tcpFor(jobLimits(200)).probe("127.0.0.1", deaf.port, 60_000)).toEqual(silent);
    const check = new AbortController();
    const cancelled = tcpFor(jobLimits(60_000, check.signal)).probe("127.0.0.1", deaf.port, 60_000);
    check.abort();
    expect(await cancelled).toEqual({ ...silent, reason: "cancelled" });
    await deaf.close();
  });

  it("sends one SYN: it ends before the kernel sends a second one, whatever time it is given", async () => {
    const deaf = await startDeafServer();
    setTimeout(() => deaf.hear(), 500);
    const probed = await tcpFor(jobLimits()).probe("127.0.0.1", deaf.port, 5_000);
    expect(probed).toEqual({ state: "filtered", rttMs: null, reason: "timeout" });
    await deaf.close();
  });

  it("gives no time for an answer that a held-up process reads after a second", async () => {
    const server = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const probing = tcpFor(jobLimits()).probe("127.0.0.1", port, 5_000);
    process.nextTick(() => setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_050)));
    expect(await probing).toEqual({ state: "open", rttMs: null, reason: null });
    server.close();
  });

  it("never leaves for an address that egress refuses, nor after its check", async () => {
    const refused = await tcpFor(jobLimits()).probe("10.0.0.1", 80, 1_000);
    expect(refused).toEqual({ state: "filtered", rttMs: null, reason: "target_not_allowed" });
    const late = await tcpFor(jobLimits(-1)).probe("127.0.0.1", 80, 1_000);
    expect(late).toEqual({ state: "filtered", rttMs: null, reason: "cancelled" });
  });
});
