import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseParams } from "#shared/schema/schema.ts";
import { traceroute as contract } from "#shared/tools/traceroute/contract.ts";
import { startIcmpHost, type IcmpHost } from "#probe-agent/net/icmp/host.ts";
import { ping } from "#probe-agent/tools/ping/ping.ts";
import { traceroute } from "#probe-agent/tools/traceroute.ts";
import { systemClock } from "#test/support/clock.ts";
import { resultOf, runTool } from "#test/support/tool.ts";

let icmpHost: IcmpHost;
let raw = false;

beforeAll(async () => {
  icmpHost = startIcmpHost({ clock: systemClock, log: () => {} });
  raw = (await icmpHost.ready()).v4;
});
afterAll(async () => {
  await icmpHost?.stop();
});

describe("the route to a host", () => {
  it("is the ping tool's action of that name", async ({ skip }) => {
    skip(!raw, "raw sockets need root or CAP_NET_RAW");
    const own = await resultOf(traceroute, { host: "127.0.0.1" }, { icmpHost });
    const other = await resultOf(ping, { host: "127.0.0.1", action: "traceroute" }, { icmpHost });
    expect(own).toMatchObject({ ip: "127.0.0.1", ip_version: 4, reached: true, protocol: "icmp" });
    expect(own.hops).toHaveLength(1);
    expect(own.hops[0]?.replies).toHaveLength(3);
    expect(own.path_hash).toBe(other.path_hash);
  });

  it("takes UDP probes and a family of addresses", async ({ skip }) => {
    skip(!raw, "raw sockets need root or CAP_NET_RAW");
    const setting = { host: "127.0.0.1", protocol: "udp", ip_version: 4, queries: 1 };
    const { reached, protocol, hops } = await resultOf(traceroute, setting, { icmpHost });
    expect({ reached, protocol, replies: hops[0]?.replies.length }).toEqual({
      reached: true,
      protocol: "udp",
      replies: 1,
    });
  });

  it("is the probe's failure if it cannot open a raw socket", async () => {
    const { outcome } = await runTool(traceroute, { host: "127.0.0.1" });
    expect(outcome).toMatchObject({ status: "failed", stage: "request", source: "probe" });
  });

  it("fails for a name that does not exist", async () => {
    const { outcome } = await runTool(traceroute, { host: "gone.invalid" }, { timeoutMs: 3_000 });
    expect(outcome).toMatchObject({ status: "failed", stage: "dns" });
  });

  it("refuses a port without a protocol", () => {
    const parsed = parseParams(contract.params, { host: "a.example", port: "80" }, { from: "text", unknown: "ignore" });
    if (!parsed.ok) throw new Error(parsed.problem.message);
    expect(contract.refine?.(parsed.value as never)).toMatchObject({ field: "protocol", reason: "enum" });
  });
});
