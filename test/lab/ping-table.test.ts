import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Outcome } from "#shared/outcome.ts";
import type { PingResult } from "#shared/tools/ping.ts";
import { addressOf, type Family } from "#test/lab/addresses.ts";
import { bringUp, inTurns, type Network } from "#test/lab/driver.ts";
import { whyNoLab } from "#test/lab/namespaces.ts";
import { expectedRtt } from "#test/lab/paths.ts";
import { LAB, LAB_RANGES, REGIONS } from "#test/lab/topology.ts";
import { ROOT } from "#test/laws/source-files.ts";
import { hasRawSockets } from "#test/support/raw-sockets.ts";

const why = whyNoLab() ?? ((await hasRawSockets()) ? null : "skipped: raw sockets need CAP_NET_RAW");
if (why !== null) console.warn(why);

const ATTEMPTS = 4;
const WITHIN_MS = 1;
const AT_ONCE = 2;
const PROBES = REGIONS.map((region) => `probe-${region}`);
/** Paths that lose or double packets are counted apart. */
const ODD = new Set(["lossy", "every", "twice"]);
const TARGETS = Object.keys(LAB.nodes).filter((node) => LAB.nodes[node]?.kind === "host" && !ODD.has(node));

describe.skipIf(why !== null)("our own ping", () => {
  let network: Network;
  beforeAll(async () => {
    network = await bringUp(LAB);
  });
  afterAll(() => network?.close());

  async function ping(from: string, params: Readonly<Record<string, unknown>>): Promise<PingResult> {
    const order = JSON.stringify({ params, allow: LAB_RANGES });
    const { stdout, stderr } = await network.run(from, [process.execPath, `${ROOT}/test/support/ping-here.ts`, order]);
    if (stdout === "") throw new Error(stderr);
    const { outcome } = JSON.parse(stdout) as { readonly outcome: Outcome<PingResult> };
    if (outcome.status !== "ok") throw new Error(JSON.stringify(outcome));
    return outcome.data;
  }

  it("measures every path within a millisecond of its table, in both families", { timeout: 240_000 }, async () => {
    const paths = PROBES.flatMap((from) =>
      TARGETS.filter((to) => to !== from).flatMap((to) => [
        { from, to, family: 4 } as const,
        { from, to, family: 6 } as const,
      ]),
    );
    const wrong = await inTurns(paths, AT_ONCE, async (path) => {
      // A busy machine delays, and not four times in a row; nothing makes an echo too fast.
      let said: string | null = null;
      for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
        said = await problemOf(path);
        if (said === null) break;
      }
      return said ?? [];
    });
    expect(wrong.flat()).toEqual([]);
  });

  async function problemOf(path: { readonly from: string; readonly to: string; readonly family: Family }) {
    const { from, to, family } = path;
    const host = addressOf(LAB, to, family);
    const { rtt, packet_loss_percent: loss } = await ping(from, { host, count: 4, interval_ms: 100 });
    const { min, max } = expectedRtt(LAB, from, to, family === 4 ? 84 : 104);
    const least = rtt?.min_ms ?? Number.NaN;
    const fits = loss === 0 && least >= min && least <= max + WITHIN_MS;
    return fits ? null : `${from} to ${to} over IPv${family}: ${least} ms, ${loss} % lost, expected ${min} to ${max}`;
  }

  it.each([4, 6] as const)(
    "tells exact loss from a link that drops every fourth packet, over IPv%i",
    async (family) => {
      await network.links.reset("every");
      const result = await ping("probe-eu", { host: addressOf(LAB, "every", family), count: 8, interval_ms: 100 });
      expect(result).toMatchObject({ packets_sent: 8, packets_received: 6, packet_loss_percent: 25 });
      expect(result.replies?.filter(({ status }) => status === "timeout").map(({ seq }) => seq)).toEqual([4, 8]);
    },
  );

  it.each([4, 6] as const)("counts duplicates apart, over IPv%i", async (family) => {
    await network.links.reset("twice");
    const result = await ping("probe-eu", { host: addressOf(LAB, "twice", family), count: 5, interval_ms: 100 });
    expect(result).toMatchObject({ packets_sent: 5, packets_received: 5, packet_loss_percent: 0 });
    expect(result.replies?.filter(({ status }) => status === "duplicate").map(({ seq }) => seq)).toEqual([2, 4]);
  });

  it("loses as many echoes as the lossy link says it lost", async () => {
    await network.links.reset("lossy");
    const results = await inTurns(Array.from({ length: 4 }), 1, () =>
      ping("probe-eu", { host: addressOf(LAB, "lossy"), count: 10, interval_ms: 100 }),
    );
    const received = results.reduce((sum, { packets_received: count = 0 }) => sum + count, 0);
    const counted = await network.links.count("lossy");
    expect(counted.dropped).toBeGreaterThan(0);
    expect({ received, lost: 40 - received }).toEqual({ received: counted.carried, lost: counted.dropped });
  });

  it("sees the jitter of the ocean, and none on a quiet path", async () => {
    const ocean = await ping("probe-eu", { host: addressOf(LAB, "far"), count: 10, interval_ms: 100 });
    const quiet = await ping("probe-eu", { host: addressOf(LAB, "web"), count: 10, interval_ms: 100 });
    expect(ocean.rtt?.jitter_ms).toBeGreaterThan(2);
    expect(quiet.rtt?.jitter_ms).toBeLessThan(2);
  });
});
