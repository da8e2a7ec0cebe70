import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { buildChain, whyNoChain, type Chain } from "#test/lab/chain.ts";
import { pingFrom } from "#test/lab/from.ts";
import { hasRawSockets } from "#test/support/raw-sockets.ts";

const why = whyNoChain() ?? ((await hasRawSockets()) ? null : "skipped: raw sockets need CAP_NET_RAW");
if (why !== null) console.warn(why);

const NARROW = 2;

describe.skipIf(why !== null)("the MTU of a path", () => {
  let chain: Chain;
  let targets: readonly { readonly host: string; readonly router: string }[] = [];

  beforeAll(() => {
    chain = buildChain(3, { limited: false });
    targets = [
      { host: chain.hops4.at(-1) ?? "", router: chain.hops4[NARROW - 1] ?? "" },
      { host: chain.hops6.at(-1) ?? "", router: chain.hops6[NARROW - 1] ?? "" },
    ];
  });
  afterAll(() => chain?.close());
  afterEach(() => {
    chain.run(NARROW, "ip", "link", "set", chain.device(NARROW), "mtu", "1500");
    chain.run(NARROW, "nft", "flush", "ruleset");
  });

  const mtuOf = async (host: string) => (await pingFrom(chain, { host, action: "traceroute", queries: 1 })).path_mtu;
  const narrowTo = (mtu: number): void => {
    chain.run(NARROW, "ip", "link", "set", chain.device(NARROW), "mtu", `${mtu}`);
  };

  it("is that of the own interface if the whole path allows it", async () => {
    for (const { host } of targets) {
      expect(await mtuOf(host)).toEqual({ bytes: 1_500, limited_by: null, black_hole: false, method: "interface" });
    }
  });

  it("is that of a narrow link, with the router in front of it, whatever the kernel has cached", async () => {
    narrowTo(1_400);
    const narrow = { bytes: 1_400, black_hole: false, method: "reported" };
    for (const { host, router } of targets) {
      expect(await mtuOf(host)).toEqual({ ...narrow, limited_by: { hop: NARROW, ip: router } });
    }
    narrowTo(1_500);
    for (const { host } of targets) expect(await mtuOf(host)).toMatchObject({ bytes: 1_500, method: "interface" });
  });

  it("is found by trying sizes if no router reports that packets do not fit (a black hole)", async () => {
    narrowTo(1_400);
    chain.run(NARROW, "nft", "add table inet t; add chain inet t o { type filter hook output priority 0; }");
    chain.run(NARROW, "nft", "add rule inet t o icmp type destination-unreachable drop");
    chain.run(NARROW, "nft", "add rule inet t o icmpv6 type packet-too-big drop");
    for (const { host } of targets) {
      expect(await mtuOf(host)).toEqual({ bytes: 1_400, limited_by: null, black_hole: true, method: "search" });
    }
  });

  it("is unknown if the target does not answer echo requests, although a UDP trace reaches it", async () => {
    chain.run(4, "nft", "add table inet t; add chain inet t i { type filter hook input priority 0; }");
    chain.run(4, "nft", "add rule inet t i icmp type echo-request drop");
    try {
      const host = targets[0]?.host;
      const trace = await pingFrom(chain, { host, action: "traceroute", protocol: "udp", queries: 1 });
      expect(trace).toMatchObject({ reached: true, path_mtu: { bytes: null, black_hole: false, method: null } });
      expect(trace.limitations.join()).toMatch(/does not answer the echoes/);
    } finally {
      chain.run(4, "nft", "flush", "ruleset");
    }
  });
});
