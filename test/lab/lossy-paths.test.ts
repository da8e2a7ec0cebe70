import { once } from "node:events";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Outcome } from "#shared/contracts/outcome.ts";
import type { PingResult } from "#shared/tools/ping/contract.ts";
import { addressOf } from "#test/lab/addresses.ts";
import { bringUp, type Network } from "#test/lab/driver.ts";
import { whyNoLab } from "#test/lab/namespaces.ts";
import { expectedRtt } from "#test/lab/paths.ts";
import { LAB, LAB_RANGES } from "#test/lab/topology.ts";
import { ROOT } from "#test/laws/source-files.ts";
import { hasRawSockets } from "#test/support/raw-sockets.ts";

const why = whyNoLab() ?? ((await hasRawSockets()) ? null : "skipped: raw sockets need CAP_NET_RAW");
if (why !== null) console.warn(why);

/** The link that loses packets on the way there, and a host three routers after it. */
const [LINK, TARGET, PORT] = ["zoo", "long", 443];
const HOST = addressOf(LAB, TARGET);
const LISTEN = `require("node:net").createServer((c) => c.destroy()).listen(${PORT}, "::", () => console.log("up"));`;
/** Counts SYNs that reach a node, before and after the link. */
const COUNTER = `table inet syns {
  chain arriving { type filter hook prerouting priority -300; ip daddr ${HOST} tcp flags & (syn | ack) == syn counter; }
}
`;
/** The system's second SYN leaves after 1 s; the path takes 90 ms. */
const SECOND_SYN_MS = 1_000;
/** Number of attempts out of a hundred that a busy machine may end later than that. */
const BELATED = 5;

describe.skipIf(why !== null)("a path that loses packets on the way there", () => {
  let network: Network;
  beforeAll(async () => {
    network = await bringUp(LAB);
    const server = network.spawn(TARGET, [process.execPath, "-e", LISTEN]);
    if (server.stdout !== null) await once(server.stdout, "data");
  });
  afterEach(() => network?.links.reset(LINK));
  afterAll(() => network?.close());

  async function pings(params: readonly object[]): Promise<readonly PingResult[]> {
    const order = JSON.stringify({ params, allow: LAB_RANGES });
    const command = [process.execPath, `${ROOT}/test/support/ping-here.ts`, order];
    const { stdout, stderr } = await network.run("probe-ap", command);
    if (stdout === "") throw new Error(stderr);
    return (JSON.parse(stdout) as readonly { readonly outcome: Outcome<PingResult> }[]).map(({ outcome }) => {
      if (outcome.status !== "ok") throw new Error(JSON.stringify(outcome));
      return outcome.data;
    });
  }

  /** Runs `work` and returns the number of SYNs that reached the link and passed it. */
  async function countingSyns<T>(work: () => Promise<T>): Promise<{ done: T; sent: number; arrived: number }> {
    await Promise.all(["core-b", "zoo"].map((node) => network.nft(node, COUNTER)));
    try {
      const done = await work();
      const [sent = 0, arrived = 0] = await Promise.all(
        ["core-b", "zoo"].map(async (node) => {
          const { stdout } = await network.run(node, ["nft", "list", "table", "inet", "syns"]);
          return Number(/packets (\d+)/.exec(stdout)?.[1]);
        }),
      );
      return { done, sent, arrived };
    } finally {
      await Promise.all(["core-b", "zoo"].map((node) => network.nft(node, "delete table inet syns\n")));
    }
  }

  it.each([0.1, 0.4])("is pinged by TCP with its real loss, because each echo has one SYN, share %d", async (loss) => {
    await network.links.set(LINK, { loss });
    const echoes = { host: HOST, protocol: "tcp", port: PORT, count: 10, interval_ms: 100 };
    const { done, sent, arrived } = await countingSyns(() => pings(Array.from({ length: 10 }, () => echoes)));
    const received = done.reduce((sum, { packets_received: count = 0 }) => sum + count, 0);
    const rtts = done.flatMap(({ replies = [] }) => replies.flatMap(({ rtt_ms: rtt }) => rtt ?? []));
    console.log(
      `loss ${loss}: ${sent} SYNs, ${arrived} arrived, ${received} received, slowest ${Math.max(...rtts)} ms`,
    );
    // A busy machine sometimes ends an attempt too late. The answer to its second SYN is then not counted.
    expect(sent - 100).toBeLessThanOrEqual(BELATED);
    expect(arrived - received).toBeLessThanOrEqual(sent - 100);
    expect(received).toBeLessThanOrEqual(arrived);
    expect(arrived).toBeLessThan(100);
    const { min } = expectedRtt(LAB, "probe-ap", TARGET);
    for (const rtt of rtts) expect(rtt).toBeGreaterThanOrEqual(min);
    for (const rtt of rtts) expect(rtt).toBeLessThan(SECOND_SYN_MS);
    const silent = done.filter(({ packet_loss_percent: percent = 0 }) => percent > 0);
    for (const { limitations } of silent) expect(limitations.join()).toMatch(/within 900 ms counts as lost/);
  });

  it.each([0.1, 0.4])("still has open and closed ports, with the time of one handshake, share %d", async (loss) => {
    await network.links.set(LINK, { loss });
    const sweep = { host: HOST, action: "ports", ports: `${PORT},444,445,446,447` };
    const { done, sent } = await countingSyns(() => pings(Array.from({ length: 10 }, () => sweep)));
    const rows = done.flatMap(({ ports = [] }) => ports);
    const filtered = rows.filter(({ state }) => state === "filtered");
    console.log(`loss ${loss}: ${filtered.length} of ${rows.length} filtered, ${sent} SYNs`);
    const tried = rows.reduce((sum, { tries }) => sum + tries, 0);
    expect(sent).toBeGreaterThanOrEqual(tried);
    expect(sent - tried).toBeLessThanOrEqual(BELATED);
    for (const { port, state, rtt_ms: rtt, tries } of rows) {
      if (state === "filtered") {
        expect({ rtt, tries }).toEqual({ rtt: null, tries: 4 });
      } else {
        expect(state).toBe(port === PORT ? "open" : "closed");
        // null: the answer may belong to a second SYN.
        expect(rtt ?? 0).toBeLessThan(SECOND_SYN_MS);
      }
    }
    // Four lost SYNs in a row are rare: 1 in 10,000, or 1 in 39.
    expect(filtered.length).toBeLessThanOrEqual(rows.length / 5);
    expect(rows.some(({ tries, state }) => tries > 1 && state !== "filtered")).toBe(true);
  });

  /** The hop after the lossy link. Before it are edge-ap, core-a, one of two equal paths and core-b. */
  const FIRST_LOSSY = 5;

  /** Returns the loss in percent that another program measures at the target. */
  async function measureLoss(command: readonly string[]): Promise<number> {
    const { stdout } = await network.run("probe-ap", command);
    const percents = Array.from(stdout.matchAll(/([\d.]+)%/g), ([, percent]) => Number(percent));
    return percents.at(-1) ?? Number.NaN;
  }

  it.each([
    { protocol: "udp", loss: 0.1, between: [0, 25], count: 12 },
    { protocol: "udp", loss: 0.4, between: [15, 60], count: 6 },
    { protocol: "tcp", loss: 0.1, between: [0, 25], count: 12 },
    { protocol: "tcp", loss: 0.4, between: [15, 60], count: 6 },
  ] as const)(
    "has its loss in a $protocol trace at each hop after the link, and none before, share $loss",
    async ({ protocol, loss, between: [least, most], count }) => {
      await network.links.set(LINK, { loss });
      const trace = { host: HOST, action: "traceroute", protocol, ...(protocol === "tcp" ? { port: PORT } : {}) };
      const traces = await pings(Array.from({ length: count }, () => trace));
      const { carried, dropped } = await network.links.count(LINK);
      const lossAt = (hop: number) =>
        traces.flatMap(({ hops = [] }) => hops.filter((row) => row.hop === hop)).map((row) => row.loss_percent);
      const mean = (shown: readonly (number | null)[]): number => {
        const known = shown.filter((percent) => percent !== null && percent < 100);
        return known.reduce((sum: number, percent) => sum + (percent ?? 0), 0) / known.length;
      };
      const behind = [FIRST_LOSSY, FIRST_LOSSY + 1, FIRST_LOSSY + 2, FIRST_LOSSY + 3].map(lossAt);
      const theirs = await measureLoss([
        "mtr",
        protocol === "udp" ? "-u" : "-T",
        "-P",
        `${PORT}`,
        "-n",
        "-r",
        "-c",
        "10",
        HOST,
      ]);
      console.log(
        `${protocol} ${loss}: link ${((100 * dropped) / (carried + dropped)).toFixed(1)} %, hops behind it`,
        behind.map((shown) => `${mean(shown).toFixed(1)} (${shown.filter((percent) => percent === null).length} null)`),
        `mtr ${theirs} %`,
      );
      for (let hop = 1; hop < FIRST_LOSSY; hop += 1) expect(lossAt(hop), `hop ${hop}`).toEqual(traces.map(() => 0));
      const shown = mean(behind.flat());
      expect(shown).toBeGreaterThan(least);
      expect(shown).toBeLessThan(most);
      for (const { hops = [], limitations } of traces) {
        if (hops.some(({ loss_percent: percent }) => percent === null)) {
          expect(limitations.join()).toMatch(/Loss at hop .* is not known/);
        }
      }
    },
  );
});
