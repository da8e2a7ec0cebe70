import { afterEach, describe, expect, it } from "vitest";
import { buildChain, whyNoChain, type Chain } from "#test/lab/chain.ts";
import { pingFrom, pingsFrom } from "#test/lab/from.ts";
import { hasRawSockets } from "#test/support/raw-sockets.ts";

const why = whyNoChain() ?? ((await hasRawSockets()) ? null : "skipped: raw sockets need CAP_NET_RAW");
if (why !== null) console.warn(why);

/** ICMP errors that Linux sends to an address at once, before it sends one a second (net/ipv4/route.c, XRLIM_BURST_FACTOR). */
const BURST = 6;

describe.skipIf(why !== null)("routers that answer once a second", () => {
  let chain: Chain | undefined;
  afterEach(() => chain?.close());

  it.each(["icmp", "udp", "tcp"])("show no loss to three agents that share an address (%s)", async (protocol) => {
    const made = buildChain(3, { limited: true });
    chain = made;
    const host = made.hops4.at(-1);
    const traces = await Promise.all(
      [1, 2, 3].map(() => pingFrom(made, { host, action: "traceroute", protocol, queries: 3 })),
    );
    // Each knows only its own probes; echoes to the target show it that nothing was lost.
    for (const trace of traces) {
      expect(trace.hops?.map((hop) => hop.loss_percent)).toEqual([0, 0, 0, 0]);
      expect(trace.hops?.map((hop) => hop.stats.loss_percent)).toEqual([0, 0, 0, 0]);
    }
  });

  it.each([4, 6] as const)(
    "are followed by a target that answers only probes that overshot it (IPv%d)",
    async (version) => {
      const made = buildChain(3, { limited: true });
      chain = made;
      // What is left of a limit that others use up. A probe to the fourth hop comes in with a TTL of 1.
      const left = version === 4 ? "ip ttl" : "ip6 hoplimit";
      made.run(4, "nft", "add table inet t; add chain inet t in { type filter hook input priority 0; }");
      made.run(4, "nft", `add rule inet t in udp dport 33434 ${left} < 3 drop`);
      const hops = version === 4 ? made.hops4 : made.hops6;
      const trace = await pingFrom(made, { host: hops.at(-1), action: "traceroute", protocol: "udp" });
      const path = trace.hops?.map(({ replies }) => [...new Set(replies.flatMap(({ ip }) => ip ?? []))]);
      expect(path).toEqual(hops.map((ip) => [ip]));
      expect(trace.hops?.map((hop) => hop.loss_percent)).toEqual([0, 0, 0, 0]);
    },
  );

  it.each(["icmp", "udp", "tcp"])("show no loss: three concurrent traces of %s wait for them", async (protocol) => {
    const made = buildChain(3, { limited: true });
    chain = made;
    const host = made.hops4.at(-1);
    const traces = await pingsFrom(
      made,
      [1, 2, 3].map(() => ({ host, action: "traceroute", protocol, queries: 3 })),
    );
    for (const trace of traces) {
      const path = trace.hops?.map(({ replies }) => [...new Set(replies.flatMap(({ ip }) => ip ?? []))]);
      expect(path).toEqual(made.hops4.map((ip) => [ip]));
      expect(trace.hops?.map((hop) => hop.loss_percent)).toEqual([0, 0, 0, 0]);
      expect(trace.hops?.map((hop) => hop.stats.loss_percent)).toEqual([0, 0, 0, 0]);
      expect(trace.path_mtu).toMatchObject({ bytes: 1_500, black_hole: false });
    }
    // Traces that do not wait get the answers of the burst alone.
    for (const hop of made.hops4.keys()) {
      const answers = traces.flatMap(({ hops }) => hops?.[hop]?.replies.filter(({ ip }) => ip !== null) ?? []);
      expect(answers.length, `hop ${hop + 1}`).toBeGreaterThan(BURST);
    }
  });
});
