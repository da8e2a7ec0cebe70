import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Outcome } from "#shared/contracts/outcome.ts";
import type { PingResult } from "#shared/tools/ping/contract.ts";
import { addressOf, type Family } from "#test/lab/addresses.ts";
import { bringUp, type Network } from "#test/lab/driver.ts";
import { whyNoLab } from "#test/lab/namespaces.ts";
import { expectedRtt } from "#test/lab/paths.ts";
import { LAB, LAB_RANGES, REGIONS } from "#test/lab/topology.ts";
import { ROOT } from "#test/laws/source-files.ts";
import { hasRawSockets } from "#test/support/raw-sockets.ts";

const why = whyNoLab() ?? ((await hasRawSockets()) ? null : "skipped: raw sockets need CAP_NET_RAW");
if (why !== null) console.warn(why);

const ATTEMPTS = 25;
/** Pause between two attempts in milliseconds: other work on the machine delays packets for seconds at a time. */
const PAUSE_MS = 500;
const WITHIN_MS = 1;
const PROBES = REGIONS.map((region) => `probe-${region}`);
/** Loss and duplicates of these paths are counted in separate tests. */
const ODD = new Set(["lossy", "every", "twice"]);
const TARGETS = Object.keys(LAB.nodes).filter((node) => LAB.nodes[node]?.kind === "host");

describe.skipIf(why !== null)("our own ping", () => {
  let network: Network;
  beforeAll(async () => {
    network = await bringUp(LAB);
  });
  afterAll(() => network?.close());

  type Params = Readonly<Record<string, unknown>>;

  async function pings(from: string, params: readonly Params[]): Promise<readonly PingResult[]> {
    const order = JSON.stringify({ params, allow: LAB_RANGES });
    const command = [process.execPath, `${ROOT}/test/support/ping-here.ts`, order];
    const { stdout, stderr } = await network.run(from, command);
    if (stdout === "") throw new Error(stderr);
    const done = JSON.parse(stdout) as readonly { readonly outcome: Outcome<PingResult> }[];
    return done.map(({ outcome }) => {
      if (outcome.status !== "ok") throw new Error(JSON.stringify(outcome));
      return outcome.data;
    });
  }

  async function ping(from: string, params: Params): Promise<PingResult> {
    const [result] = await pings(from, [params]);
    if (result === undefined) throw new Error("no result");
    return result;
  }

  it.each(PROBES)("measures every path from %s within a millisecond of its table", async (from) => {
    let paths: readonly Path[] = TARGETS.filter((to) => to !== from).flatMap((to): Path[] => [
      { from, to, family: 4 },
      { from, to, family: 6 },
    ]);
    let wrong: readonly string[] = [];
    // A busy machine delays packets, but not in every attempt; it never makes an echo too fast.
    for (let attempt = 0; attempt < ATTEMPTS && paths.length > 0; attempt += 1) {
      if (attempt > 0) await sleep(PAUSE_MS);
      const params = paths.map(({ to, family }) => ({
        host: addressOf(LAB, to, family),
        count: 4,
        interval_ms: 100,
      }));
      const results = await pings(from, params);
      const problems = paths.map((path, index) => ({ path, problem: problemOf(path, results[index]) }));
      wrong = problems.flatMap(({ problem }) => problem ?? []);
      paths = problems.filter(({ problem }) => problem !== null).map(({ path }) => path);
    }
    expect(wrong).toEqual([]);
  });

  it.each([4, 6] as const)(
    "measures exact loss on a link that drops every fourth packet, over IPv%i",
    async (family) => {
      await network.links.reset("every");
      const result = await ping("probe-eu", { host: addressOf(LAB, "every", family), count: 8, interval_ms: 100 });
      expect(result).toMatchObject({ packets_sent: 8, packets_received: 6, packet_loss_percent: 25 });
      expect(result.replies?.filter(({ status }) => status === "timeout").map(({ seq }) => seq)).toEqual([4, 8]);
    },
  );

  it.each([4, 6] as const)("counts duplicates separately, over IPv%i", async (family) => {
    await network.links.reset("twice");
    const result = await ping("probe-eu", { host: addressOf(LAB, "twice", family), count: 5, interval_ms: 100 });
    expect(result).toMatchObject({ packets_sent: 5, packets_received: 5, packet_loss_percent: 0 });
    expect(result.replies?.filter(({ status }) => status === "duplicate").map(({ seq }) => seq)).toEqual([2, 4]);
  });

  it.each([4, 6] as const)(
    "counts a reply after a second as late until the path is known to be that slow, and as received, over IPv%i",
    async (family) => {
      await network.links.set("web", { delayMs: 600 });
      try {
        const result = await ping("probe-eu", { host: addressOf(LAB, "web", family), count: 3, interval_ms: 100 });
        expect(result).toMatchObject({ packets_sent: 3, packets_received: 3, packet_loss_percent: 0 });
        expect(result.replies?.map(({ seq, status }) => `${seq} ${status}`)).toEqual(["1 late", "2 ok", "3 ok"]);
        expect(result.rtt?.min_ms).toBeGreaterThanOrEqual(expectedRtt(LAB, "probe-eu", "web").min + 2 * (600 - 1));
      } finally {
        await network.links.reset("web");
      }
    },
  );

  it("loses as many echo requests as the lossy link reports", async () => {
    await network.links.reset("lossy");
    const echoes = { host: addressOf(LAB, "lossy"), count: 10, interval_ms: 100 };
    const results = await pings("probe-eu", [echoes, echoes, echoes, echoes]);
    const received = results.reduce((sum, { packets_received: count = 0 }) => sum + count, 0);
    const counted = await network.links.count("lossy");
    expect(counted.dropped).toBeGreaterThan(0);
    expect({ received, lost: 40 - received }).toEqual({ received: counted.carried, lost: counted.dropped });
  });

  it("measures the jitter of the ocean, and none on a quiet path", async () => {
    const ocean = await ping("probe-eu", { host: addressOf(LAB, "far"), count: 10, interval_ms: 100 });
    expect(ocean.rtt?.jitter_ms).toBeGreaterThan(2);
    let least = Infinity;
    for (let attempt = 0; attempt < ATTEMPTS && least >= 2; attempt += 1) {
      if (attempt > 0) await sleep(PAUSE_MS);
      const quiet = await ping("probe-eu", { host: addressOf(LAB, "web"), count: 10, interval_ms: 100 });
      least = Math.min(least, quiet.rtt?.jitter_ms ?? Infinity);
    }
    expect(least).toBeLessThan(2);
  });
});

interface Path {
  readonly from: string;
  readonly to: string;
  readonly family: Family;
}

/** Returns what is wrong with a measurement according to the table; null if nothing is. */
function problemOf({ from, to, family }: Path, result: PingResult | undefined): string | null {
  const { min, max } = expectedRtt(LAB, from, to, family === 4 ? 84 : 104);
  const [least, loss] = [result?.rtt?.min_ms ?? Number.NaN, result?.packet_loss_percent];
  const isWhole = loss === 0 || (ODD.has(to) && loss !== 100);
  if (isWhole && least >= min && least <= max + WITHIN_MS) return null;
  return `${from} to ${to} over IPv${family}: ${least} ms, ${loss} % lost, expected ${min} to ${max}`;
}
