import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TraceRun } from "#probe-agent/port/packets.ts";
import type { PingResult } from "#shared/tools/ping/contract.ts";
import { buildChain, whyNoChain, type Chain } from "#test/lab/chain.ts";
import { pingFrom, traceFrom } from "#test/lab/from.ts";
import { hasRawSockets } from "#test/support/raw-sockets.ts";

const why = whyNoChain() ?? ((await hasRawSockets()) ? null : "skipped: raw sockets need CAP_NET_RAW");
if (why !== null) console.warn(why);

/** Returns the distinct addresses of each hop. */
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
    // 10.98/16 disappears in the second router; after the third, no router has a route to 10.99/16.
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

  it("has the same names with every kind of probe", async () => {
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

  it("shows a silent router as silent and continues after it", async () => {
    // The router's own packets come in on lo; those it forwards do not.
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

  it("ends at a router without a route", async () => {
    const trace = await pingFrom(chain, { host: "10.99.0.1", action: "traceroute" });
    expect(path(trace)).toEqual([["10.77.0.2"], ["10.77.1.2"], ["10.77.2.2"]]);
    expect(trace.hops?.at(-1)?.replies[0]).toMatchObject({ icmp_type: 3, icmp_code: 0 });
    expect(trace.reached).toBe(false);
    const refusal = { hop: 3, ip: "10.77.2.2", icmp_type: 3, icmp_code: 0, reason: "net_unreachable" };
    expect(trace.unreachable).toEqual(refusal);
  });

  it.each(["icmp", "udp", "tcp"])("reports the reason of a router that forbids %s probes", async (protocol) => {
    chain.run(2, "nft", "add table inet t; add chain inet t f { type filter hook forward priority 0; }");
    chain.run(2, "nft", "add rule inet t f reject with icmpx admin-prohibited");
    try {
      for (const [host, ip, type, code] of [
        [target4, "10.77.1.2", 3, 13],
        [target6, "fd77:1::2", 1, 1],
      ] as const) {
        const trace = await pingFrom(chain, { host, action: "traceroute", protocol });
        const refusal = { hop: 3, ip, icmp_type: type, icmp_code: code, reason: "admin_prohibited" };
        expect(trace).toMatchObject({ reached: false, unreachable: refusal });
        expect(path(trace).at(-1)).toEqual([ip]);
      }
    } finally {
      chain.run(2, "nft", "delete", "table", "inet", "t");
    }
  });

  it("has mtr's statistics at each hop", async () => {
    const { hops = [], unreachable } = await pingFrom(chain, { host: target4, action: "traceroute", queries: 5 });
    expect(unreachable).toBeNull();
    for (const { stats, replies } of hops) {
      const roundTrips = replies.flatMap(({ rtt_ms: rtt }) => rtt ?? []);
      expect(stats).toMatchObject({ sent: 5, received: 5, loss_percent: 0 });
      expect([stats.best_ms, stats.worst_ms]).toEqual([Math.min(...roundTrips), Math.max(...roundTrips)]);
      expect(stats.jitter_ms).not.toBeNull();
    }
  });

  it.each(["icmp", "udp"])("is traced with %s probes of the requested size", async (protocol) => {
    chain.run(4, "nft", "add table inet t; add chain inet t p { type filter hook prerouting priority 0; }");
    chain.run(4, "nft", `add rule inet t p meta l4proto ${protocol} meta length 1200-1300 counter`);
    try {
      const trace = await pingFrom(chain, { host: target4, action: "traceroute", protocol, size: 1_200, queries: 1 });
      expect(path(trace)).toEqual(chain.hops4.map((ip) => [ip]));
      const [, packets] = /packets (\d+)/.exec(chain.run(4, "nft", "list", "table", "inet", "t")) ?? [];
      expect(Number(packets)).toBeGreaterThanOrEqual(1);
    } finally {
      chain.run(4, "nft", "delete", "table", "inet", "t");
    }
  });

  it.each(["icmp", "udp", "tcp"] as const)(
    "is traced with %s probes from the requested hop, also with DF",
    async (protocol) => {
      for (const [ip, hops] of [
        [target4, chain.hops4],
        [target6, chain.hops6],
      ] as const) {
        const request = { ip, protocol, firstHop: 3, maxHops: 30, queries: 2, dontFragment: true };
        const run = await traceFrom(chain, request);
        expect(run).toMatchObject({ reached: true, hops: [{ hop: 3 }, { hop: 4 }] });
        expect(run.hops.map(({ replies }) => replies.map((reply) => reply.ip))).toEqual(
          hops.slice(2).map((hop) => [hop, hop]),
        );
      }
    },
  );

  it("answers a ping with the TTL that its routers left", async () => {
    const result = await pingFrom(chain, { host: target4, count: 3, interval_ms: 100 });
    expect(result).toMatchObject({ method: "icmp", packets_received: 3, packet_loss_percent: 0 });
    expect(result.replies?.map((reply) => reply.ttl)).toEqual([61, 61, 61]);
  });

  it("distinguishes unreachable and expired echoes from silence", async () => {
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

  it("ends without a route as the probe's fault, not the target's", async () => {
    await expect(pingFrom(chain, { host: "10.97.0.1", count: 1 })).rejects.toThrow(/"probe".*network_unreachable/);
    await expect(pingFrom(chain, { host: "10.97.0.1", action: "ports", ports: "80" })).rejects.toThrow(
      /"probe".*network_unreachable/,
    );
  });
});

describe.skipIf(why !== null)("two equal links between two routers", () => {
  let chain: Chain;
  beforeAll(() => {
    chain = buildChain(2, { limited: false });
    const second = chain.nodes[2] ?? "";
    chain.run(1, "ip", "link", "add", "twin1", "type", "veth", "peer", "name", "twin2", "netns", second);
    for (const [node, device, host] of [
      [1, "twin1", 1],
      [2, "twin2", 2],
    ] as const) {
      chain.run(node, "ip", "addr", "add", `10.78.0.${host}/24`, "dev", device);
      chain.run(node, "ip", "link", "set", device, "up");
    }
    const to = ["10.77.2.0/24", "nexthop", "via", "10.77.1.2", "nexthop", "via", "10.78.0.2"];
    chain.run(1, "ip", "route", "replace", ...to);
    chain.run(1, "sysctl", "-qw", "net.ipv4.fib_multipath_hash_policy=1");
    // An ICMP error has the address of the link its packet came in by.
    chain.run(2, "sysctl", "-qw", "net.ipv4.icmp_errors_use_inbound_ifaddr=1", "net.ipv4.conf.all.rp_filter=0");
    chain.run(2, "sysctl", "-qw", "net.ipv4.conf.twin2.rp_filter=0");
  });
  afterAll(() => chain?.close());

  it.each(["udp", "tcp"] as const)("are one path to one flow of %s and both to several flows", async (protocol) => {
    const ip = chain.hops4.at(-1) ?? "";
    const addressesAt2 = ({ hops }: TraceRun): ReadonlySet<string | null | undefined> =>
      new Set(hops[1]?.replies.map((reply) => reply.ip));
    for (let round = 0; round < 4; round += 1) {
      const one = await traceFrom(chain, { ip, protocol, maxHops: 5, queries: 5 });
      expect(one.reached).toBe(true);
      expect(addressesAt2(one).size).toBe(1);
    }
    const several = await traceFrom(chain, { ip, protocol, maxHops: 5, queries: 16, flows: 16 });
    expect(addressesAt2(several)).toEqual(new Set(["10.77.1.2", "10.78.0.2"]));
    expect(several.reached).toBe(true);
  });
});
