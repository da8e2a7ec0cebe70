import { execFile } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Outcome } from "#shared/outcome.ts";
import type { PingResult } from "#shared/tools/ping.ts";
import { buildChain, whyNoChain, type Chain } from "#test/lab/chain.ts";
import { ROOT } from "#test/laws/source-files.ts";
import { hasRawSockets } from "#test/support/raw-sockets.ts";

const why = whyNoChain() ?? ((await hasRawSockets()) ? null : "skipped: raw sockets need CAP_NET_RAW");
if (why !== null) console.warn(why);

/** Runs the ping tool from the first namespace of a chain. */
function pingFrom(chain: Chain, params: Readonly<Record<string, unknown>>): Promise<PingResult> {
  const order = JSON.stringify({ params, allow: ["10.0.0.0/8", "fd00::/8"] });
  const command = ["netns", "exec", chain.probe, process.execPath, `${ROOT}/test/support/ping-here.ts`, order];
  return new Promise((resolve, reject) => {
    execFile("ip", command, (error, stdout) => {
      if (error !== null) return reject(error);
      const { outcome } = JSON.parse(stdout) as { readonly outcome: Outcome<PingResult> };
      if (outcome.status === "ok") resolve(outcome.data);
      else reject(new Error(JSON.stringify(outcome)));
    });
  });
}

/** The distinct addresses of each hop. */
function path({ hops = [] }: PingResult): string[][] {
  return hops.map(({ replies }) => [...new Set(replies.map(({ ip }) => ip ?? "*"))]);
}

describe.skipIf(why !== null)("a path of three routers", () => {
  let chain: Chain;
  let target4 = "";
  let target6 = "";

  beforeAll(() => {
    chain = buildChain(3, { limited: false });
    target4 = chain.hops4.at(-1) ?? "";
    target6 = chain.hops6.at(-1) ?? "";
    // 10.98/16 disappears in the second router; nobody knows the way to 10.99/16 behind the third.
    for (const node of [0, 1, 2]) {
      chain.run(node, "ip", "route", "add", "10.99.0.0/16", "via", `10.77.${node}.2`);
    }
    chain.run(0, "ip", "route", "add", "10.98.0.0/16", "via", "10.77.0.2");
    chain.run(1, "ip", "route", "add", "10.98.0.0/16", "via", "10.77.1.2");
    chain.run(2, "ip", "route", "add", "blackhole", "10.98.0.0/16");
  });
  afterAll(() => chain?.close());

  it.each(["icmp", "udp", "tcp"])("is traced hop by hop with %s probes, in both families", async (protocol) => {
    const trace4 = await pingFrom(chain, { host: target4, action: "traceroute", protocol });
    expect(path(trace4)).toEqual(chain.hops4.map((ip) => [ip]));
    expect(trace4.reached).toBe(true);
    expect(trace4.hops?.every((hop) => hop.replies.length === 3 && hop.loss_percent === 0)).toBe(true);
    expect(trace4.hops?.slice(0, -1).every((hop) => hop.replies.every((reply) => reply.icmp_type === 11))).toBe(true);

    const trace6 = await pingFrom(chain, { host: target6, action: "traceroute", protocol });
    expect(path(trace6)).toEqual(chain.hops6.map((ip) => [ip]));
    expect(trace6.reached).toBe(true);
    expect(trace6.path_hash).not.toBe(trace4.path_hash);
  });

  it("has the same name however it is probed", async () => {
    const traces = await Promise.all(
      ["icmp", "udp", "tcp"].map((protocol) => pingFrom(chain, { host: target4, action: "traceroute", protocol })),
    );
    expect(new Set(traces.map((trace) => trace.path_hash)).size).toBe(1);
  });

  it("is traced to max_hops and no farther", async () => {
    const trace = await pingFrom(chain, { host: target4, action: "traceroute", max_hops: 2, queries: 1 });
    expect(path(trace)).toEqual([["10.77.0.2"], ["10.77.1.2"]]);
    expect(trace.reached).toBe(false);
  });

  it("shows a silent router as silent and goes on behind it", async () => {
    // What the router itself sends comes in on lo; what it forwards does not.
    chain.run(2, "ip", "rule", "add", "iif", "lo", "blackhole");
    try {
      const trace = await pingFrom(chain, { host: target4, action: "traceroute" });
      expect(path(trace)).toEqual([["10.77.0.2"], ["*"], ["10.77.2.2"], ["10.77.3.2"]]);
      expect(trace.hops?.map((hop) => hop.loss_percent)).toEqual([0, 100, 0, 0]);
    } finally {
      chain.run(2, "ip", "rule", "del", "iif", "lo", "blackhole");
    }
  });

  it("ends after five silent hops", async () => {
    const trace = await pingFrom(chain, { host: "10.98.0.1", action: "traceroute" });
    expect(path(trace)).toEqual([["10.77.0.2"], ["*"], ["*"], ["*"], ["*"], ["*"]]);
    expect(trace.reached).toBe(false);
  });

  it("ends where a router knows no way on", async () => {
    const trace = await pingFrom(chain, { host: "10.99.0.1", action: "traceroute" });
    expect(path(trace)).toEqual([["10.77.0.2"], ["10.77.1.2"], ["10.77.2.2"]]);
    expect(trace.hops?.at(-1)?.replies[0]).toMatchObject({ icmp_type: 3, icmp_code: 0 });
    expect(trace.reached).toBe(false);
  });

  it("answers a ping with the TTL its routers left", async () => {
    const result = await pingFrom(chain, { host: target4, count: 3, interval_ms: 100 });
    expect(result).toMatchObject({ method: "icmp", packets_received: 3, packet_loss_percent: 0 });
    expect(result.replies?.map((reply) => reply.ttl)).toEqual([61, 61, 61]);
  });

  it("tells unreachable and expired echoes from silence", async () => {
    const expired = await pingFrom(chain, { host: target4, count: 1, ttl: 2 });
    expect(expired.replies).toEqual([
      { seq: 1, rtt_ms: null, ttl: null, status: "ttl_exceeded", code: 0, from: "10.77.1.2" },
    ]);
    expect(expired).toMatchObject({ packet_loss_percent: 100, rtt: { avg_ms: null } });
    const unreachable = await pingFrom(chain, { host: "10.99.0.1", count: 2 });
    expect(unreachable.replies?.map(({ status, code, from }) => [status, code, from])).toEqual([
      ["unreachable", 0, "10.77.2.2"],
      ["unreachable", 0, "10.77.2.2"],
    ]);
    const silent = await pingFrom(chain, { host: "10.98.0.1", count: 2 });
    expect(silent.replies?.map(({ status }) => status)).toEqual(["timeout", "timeout"]);
    const expired6 = await pingFrom(chain, { host: target6, count: 1, ttl: 1 });
    expect(expired6.replies?.[0]).toMatchObject({ status: "ttl_exceeded", from: "fd77::2" });
  });

  it("has an end without a route: the probe's fault, not the target's", async () => {
    await expect(pingFrom(chain, { host: "10.97.0.1", count: 1 })).rejects.toThrow(/"probe".*network_unreachable/);
    await expect(pingFrom(chain, { host: "10.97.0.1", action: "ports", ports: "80" })).rejects.toThrow(
      /"probe".*network_unreachable/,
    );
  });
});

describe.skipIf(why !== null)("routers that answer once a second", () => {
  let chain: Chain;
  beforeAll(() => {
    chain = buildChain(3, { limited: true });
  });
  afterAll(() => chain?.close());

  it("show no loss: several traces at once wait for them", async () => {
    const host = chain.hops4.at(-1);
    const traces = await Promise.all(
      [1, 2, 3].map(() => pingFrom(chain, { host, action: "traceroute", protocol: "udp", queries: 3 })),
    );
    for (const trace of traces) {
      expect(path(trace).map((addresses) => addresses.filter((ip) => ip !== "*"))).toEqual(
        chain.hops4.map((ip) => [ip]),
      );
      expect(trace.hops?.map((hop) => hop.loss_percent)).toEqual([0, 0, 0, 0]);
    }
    // Nine answers of each router, six of them from its burst: somebody had to wait.
    expect(Math.max(...traces.map((trace) => trace.elapsed_ms))).toBeGreaterThan(900);
  });
});
