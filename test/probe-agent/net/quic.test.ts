import { afterEach, describe, expect, it } from "vitest";
import { createEgress } from "#shared/internet/egress.ts";
import type { Outcome } from "#shared/contracts/outcome.ts";
import { createQuic } from "#probe-agent/net/quic.ts";
import type { QuicProbe } from "#probe-agent/port/quic.ts";
import { startQuicServer, type QuicBehaviour, type QuicServer } from "#test/servers/quic.ts";
import { systemClock, systemRandom } from "#test/support/clock.ts";
import { failureOf } from "#test/support/http-engine.ts";
import { jobLimits, loopbackEgress } from "#test/support/net.ts";

const quic = createQuic({ clock: systemClock, random: systemRandom, egress: loopbackEgress });
const open: QuicServer[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

async function serve(options: Parameters<typeof startQuicServer>[0] = {}): Promise<QuicServer> {
  const server = await startQuicServer(options);
  open.push(server);
  return server;
}

function dataOf(outcome: Outcome<QuicProbe>): QuicProbe {
  if (outcome.status !== "ok") throw new Error(JSON.stringify(outcome));
  return outcome.data;
}

describe("the QUIC probe", () => {
  it.each(["127.0.0.1", "::1"])("gets the versions of a server at %s", async (host) => {
    const server = await serve({ host, versions: [0x1a2a3a4a, 0x00000001, 0x6b3343cf, 0xff00001d] });
    const seen = dataOf(await quic(jobLimits(60_000)).probe(host, server.port, 30_000));
    expect(seen).toMatchObject({ reachable: true, versions: ["0x00000001", "0x6b3343cf", "0xff00001d"] });
    expect(seen.rttMs).toBeGreaterThanOrEqual(0);
    // A busy machine answers after the second packet has left.
    expect(new Set(server.received.map(({ length }) => length))).toEqual(new Set([1200]));
  });

  it("asks again if the first datagram was lost, and times the one that was answered", async () => {
    const server = await serve({ behaviour: "second" });
    const seen = dataOf(await quic(jobLimits(60_000)).probe("127.0.0.1", server.port, 30_000));
    expect(seen.reachable).toBe(true);
    expect(server.received).toHaveLength(2);
    expect(Buffer.compare(server.received[0] ?? Buffer.of(), server.received[1] ?? Buffer.of())).not.toBe(0);
  });

  it("recognises a closed port by the ICMP error", async () => {
    const server = await startQuicServer();
    await server.close();
    const seen = dataOf(await quic(jobLimits(60_000)).probe("127.0.0.1", server.port, 30_000));
    expect(seen).toEqual({ reachable: false, versions: [], rttMs: null });
  });

  it("cannot distinguish a silent port from a filtered one", async () => {
    const server = await serve({ behaviour: "silent" });
    const seen = dataOf(await quic(jobLimits(60_000)).probe("127.0.0.1", server.port, 500));
    expect(seen).toEqual({ reachable: "unknown", versions: [], rttMs: null });
    expect(server.received).toHaveLength(2);
  });

  it.each<QuicBehaviour>([
    "unswapped",
    "stranger",
    "ragged",
    "no_versions",
    "echoes_version",
    "elsewhere",
    "noise",
    "cut",
  ])("rejects an answer that is %s", async (behaviour) => {
    const server = await serve({ behaviour });
    const seen = dataOf(await quic(jobLimits(60_000)).probe("127.0.0.1", server.port, 200));
    expect(seen).toEqual({ reachable: "unknown", versions: [], rttMs: null });
    // A busy machine reads it after the time of the probe.
    await expect.poll(() => server.received.length).toBeGreaterThan(0);
  });

  it("reads little of a giant answer", async () => {
    const server = await serve({ behaviour: "giant" });
    const seen = dataOf(await quic(jobLimits(60_000)).probe("127.0.0.1", server.port, 30_000));
    expect(seen.reachable).toBe(true);
    expect(seen.versions.length).toBeLessThanOrEqual(64);
  });

  it("sends nothing to an address that is not allowed", async () => {
    const server = await serve();
    const strict = createQuic({
      clock: systemClock,
      random: systemRandom,
      egress: createEgress({ targets: [], names: [] }),
    });
    expect((await strict(jobLimits(60_000)).probe("127.0.0.1", server.port, 500)).status).toBe("refused");
    expect(server.received).toEqual([]);
  });

  it("ends with the job", async () => {
    const server = await serve({ behaviour: "silent" });
    const abort = new AbortController();
    const probing = quic(jobLimits(10_000, abort.signal)).probe("127.0.0.1", server.port, 10_000);
    setTimeout(() => abort.abort(), 50);
    expect(failureOf(await probing)).toBe("connect/probe/cancelled");
    expect(failureOf(await quic(jobLimits(10_000, AbortSignal.abort())).probe("127.0.0.1", 9, 100))).toBe(
      "connect/probe/cancelled",
    );
  });
});
