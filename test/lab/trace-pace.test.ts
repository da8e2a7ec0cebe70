import { execFileSync, spawnSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildChain, whyNoChain, type Chain } from "#test/lab/chain.ts";
import { traceFrom } from "#test/lab/from.ts";
import { hasRawSockets } from "#test/support/raw-sockets.ts";

const missing = ["mtr", "traceroute"].find((tool) => spawnSync(tool, ["--version"]).error !== undefined);
const why =
  whyNoChain() ??
  ((await hasRawSockets()) ? null : "skipped: raw sockets need CAP_NET_RAW") ??
  (missing === undefined ? null : `skipped: the comparison needs ${missing} (Debian: mtr-tiny, traceroute)`);
if (why !== null) console.warn(why);

const ROUNDS = 3;

describe.skipIf(why !== null)("a trace of eight hops with one query each", () => {
  let chain: Chain;
  beforeAll(() => {
    chain = buildChain(7, { limited: false });
  });
  afterAll(() => chain?.close());

  /** Returns how many milliseconds a command takes in the probe's namespace. */
  const timeOf = (command: string, ...args: readonly string[]): number => {
    const startedAt = performance.now();
    execFileSync("ip", ["netns", "exec", chain.probe, command, ...args], { stdio: "pipe" });
    return performance.now() - startedAt;
  };

  it("is no slower than the slower of mtr and traceroute, up to its last reply", async () => {
    const best = { icmp: Infinity, udp: Infinity, tcp: Infinity, mtr: Infinity, traceroute: Infinity };
    const ip = chain.hops4.at(-1) ?? "";
    for (let round = 0; round < ROUNDS; round += 1) {
      best.mtr = Math.min(best.mtr, timeOf("mtr", "-n", "-r", "-c", "1", ip));
      best.traceroute = Math.min(best.traceroute, timeOf("traceroute", "-n", "-q", "1", "-N", "32", ip));
      for (const protocol of ["icmp", "udp", "tcp"] as const) {
        const trace = await traceFrom(chain, { ip, protocol, maxHops: 30, queries: 1 });
        expect(trace.hops.map(({ replies }) => replies[0]?.ip)).toEqual(chain.hops4);
        best[protocol] = Math.min(best[protocol], trace.tookMs);
      }
    }
    const slower = Math.max(best.mtr, best.traceroute);
    const figures = Object.entries(best).map(([tool, ms]) => `${tool} ${ms.toFixed(1)} ms`);
    console.log(`${figures.join(", ")}; icmp is ${(best.icmp / slower).toFixed(3)} of the slower`);
    for (const protocol of ["icmp", "udp", "tcp"] as const) expect(best[protocol]).toBeLessThanOrEqual(slower);
  });
});
