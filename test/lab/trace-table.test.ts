import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Outcome } from "#shared/contracts/outcome.ts";
import type { PingResult } from "#shared/tools/ping/contract.ts";
import type { TraceRun } from "#probe-agent/port/packets.ts";
import { addressOf } from "#test/lab/addresses.ts";
import { inTurns } from "#test/lab/driver.ts";
import { hopsToCheck, traceProblems, type TracedPath } from "#test/lab/expected-trace.ts";
import { startLab, type Lab } from "#test/lab/lab.ts";
import { whyNoLab } from "#test/lab/namespaces.ts";
import { expectedHops } from "#test/lab/paths.ts";
import { CYMRU_ZONES } from "#test/lab/services/zones.ts";
import { LAB, LAB_RANGES, REGIONS, type Region } from "#test/lab/topology.ts";
import { compareHops, TRACE_TOOLS, type Seen, type TraceTool } from "#test/lab/trace-tools.ts";
import { ROOT } from "#test/laws/source-files.ts";
import { hasRawSockets } from "#test/support/raw-sockets.ts";

const why = whyNoLab() ?? ((await hasRawSockets()) ? null : "skipped: raw sockets need CAP_NET_RAW");
if (why !== null) console.warn(why);

const AT_ONCE = 6;
const ATTEMPTS = 3;
/** Less than eight hops take one after the other with a second between them, as mtr takes. */
const EIGHT_HOPS_MS = 5_000;
const HOSTS = Object.keys(LAB.nodes).filter((node) => LAB.nodes[node]?.kind === "host");
const [ORIGIN, ORIGIN6, ASN] = CYMRU_ZONES.split(",");

describe.skipIf(why !== null)("our own traceroute", () => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await startLab();
  });
  afterAll(() => lab?.close());

  function pathsFrom(region: Region): readonly TracedPath[] {
    const from = `probe-${region}`;
    return HOSTS.filter((to) => to !== from).flatMap((to) =>
      ([4, 6] as const).flatMap((family) =>
        (["icmp", "udp", "tcp"] as const).map((protocol) => ({ from, to, family, protocol })),
      ),
    );
  }

  function traces(region: Region, paths: readonly TracedPath[]): Promise<readonly PingResult[]> {
    const params = paths.map(({ to, family, protocol }) => {
      return { host: addressOf(LAB, to, family), action: "traceroute", protocol };
    });
    return run(region, params);
  }

  /** Runs our ping tool at a probe with each of these parameters in one process, with names from its resolver. */
  async function run(region: Region, params: readonly object[]): Promise<readonly PingResult[]> {
    const order = JSON.stringify({
      params,
      allow: LAB_RANGES,
      resolver: addressOf(LAB, `resolver-${region}`),
      cymruZones: { origin: ORIGIN, origin6: ORIGIN6, asn: ASN },
    });
    const command = [process.execPath, `${ROOT}/test/support/ping-here.ts`, order];
    const { stdout, stderr } = await lab.network.run(`probe-${region}`, command);
    if (stdout === "") throw new Error(stderr);
    const done = JSON.parse(stdout) as readonly { readonly outcome: Outcome<PingResult> }[];
    return done.map(({ outcome }) => {
      if (outcome.status !== "ok") throw new Error(JSON.stringify(outcome));
      return outcome.data;
    });
  }

  /** Queries the resolver once: an empty cache may leave the first question below ip6.arpa unanswered. */
  async function warmUp(region: Region): Promise<void> {
    const resolver = addressOf(LAB, `resolver-${region}`);
    const question = ["-x", addressOf(LAB, "core-a", 6)];
    await lab.network.run(`resolver-${region}`, ["dig", "+time=2", "+tries=3", `@${resolver}`, ...question]);
  }

  /**
   * Traces all paths, and those with problems again, because a busy machine delays packets, but not three times in a
   * row.
   */
  async function traceAll(region: Region): Promise<ReadonlyMap<TracedPath, PingResult>> {
    await warmUp(region);
    const good = new Map<TracedPath, PingResult>();
    let paths = pathsFrom(region);
    let wrong: readonly string[] = [];
    for (let attempt = 0; attempt < ATTEMPTS && paths.length > 0; attempt += 1) {
      const results = await traces(region, paths);
      wrong = [];
      for (const [index, path] of paths.entries()) {
        const result = results[index] as PingResult;
        const problems = traceProblems(path, result);
        if (problems.length === 0) good.set(path, result);
        wrong = [...wrong, ...problems];
      }
      paths = paths.filter((path) => !good.has(path));
      if (paths.length > 0) console.log(`${region}, attempt ${attempt + 1}: ${wrong.join("; ")}`);
    }
    expect(wrong).toEqual([]);
    return good;
  }

  async function runTool({ name, command, read }: TraceTool, { from, to, family }: TracedPath): Promise<Seen> {
    const { stdout, stderr } = await lab.network.run(from, command(addressOf(LAB, to, family), family));
    if (stdout === "") throw new Error(`${name}: ${stderr}`);
    return read(stdout);
  }

  it.each(REGIONS)(
    "matches the table on every path from %s, by ICMP, UDP and TCP, in both families, as traceroute and mtr do",
    async (region) => {
      const ours = await traceAll(region);
      const byIcmp = [...ours].filter(([{ protocol }]) => protocol === "icmp");
      const compared = await inTurns(byIcmp, AT_ONCE, async ([path, { hops = [] }]) => {
        const expected = expectedHops(LAB, path.from, path.to, path.family);
        const own = hopsToCheck(path, hops).map(({ replies }) => [...new Set(replies.flatMap(({ ip }) => ip ?? []))]);
        const rows = [];
        for (const tool of TRACE_TOOLS) {
          const theirs = await runTool(tool, path);
          rows.push({
            tool: tool.name,
            ...compareHops(own, theirs, expected),
            path: `${path.from} ${path.to} ${path.family}`,
          });
        }
        return rows;
      });
      const rows = compared.flat();
      for (const { name } of TRACE_TOOLS) {
        const sums = rows.filter(({ tool }) => tool === name);
        const sum = (of: "same" | "twin" | "star") => sums.reduce((total, row) => total + row[of], 0);
        console.log(`${region}, ${name}: ${sum("same")} same, ${sum("twin")} on the equal path, ${sum("star")} stars`);
        expect(sum("same")).toBeGreaterThan(9 * sum("star"));
      }
      expect(rows.flatMap(({ tool, path, other }) => other.map((line) => `${tool} ${path}: ${line}`))).toEqual([]);
    },
  );

  it("shows no loss if a router answers once a second, which mtr reports as loss", async () => {
    const ip = addressOf(LAB, "behind-limited");
    const limited = expectedHops(LAB, "probe-eu", "behind-limited").findIndex(
      (hop) => hop[0] === addressOf(LAB, "limited"),
    );
    const { stdout } = await lab.network.run("probe-eu", [
      "mtr",
      "-n",
      "--report",
      "-c",
      "20",
      "-i",
      "0.1",
      "-G",
      "1",
      ip,
    ]);
    const losses = Array.from(stdout.matchAll(/([\d.]+)%/g), ([, loss]) => Number(loss));
    expect(losses[limited]).toBeGreaterThan(30);
    expect(losses.at(-1)).toBe(0);
    // One after the other, because three concurrent traces would share the one answer a second.
    for (const protocol of ["icmp", "udp", "tcp"] as const) {
      const [result] = await run("eu", [{ host: ip, action: "traceroute", protocol, queries: 5 }]);
      const { hops = [], reached } = result ?? {};
      expect(reached).toBe(true);
      const answers = hops[limited]?.replies.flatMap((reply) => reply.ip ?? []) ?? [];
      expect(new Set(answers)).toEqual(new Set([addressOf(LAB, "limited")]));
      expect(hops.map((hop) => hop.loss_percent)).toEqual(hops.map(() => 0));
    }
  });

  it("is whole over eight hops within a budget that leaves no time for a pause at each hop", async () => {
    const ip = addressOf(LAB, "long");
    const expected = expectedHops(LAB, "probe-eu", "long");
    expect(expected).toHaveLength(8);
    for (const protocol of ["icmp", "udp", "tcp"] as const) {
      const request = { ip, protocol, maxHops: 30, queries: 1, budgetMs: EIGHT_HOPS_MS };
      const order = JSON.stringify({ request, allow: LAB_RANGES });
      const command = [process.execPath, `${ROOT}/test/lab/trace-here.ts`, order];
      const { stdout } = await lab.network.run("probe-eu", command);
      const { outcome } = JSON.parse(stdout) as { outcome: Outcome<TraceRun> };
      if (outcome.status !== "ok") throw new Error(stdout);
      expect(outcome.data.reached).toBe(true);
      const answered = outcome.data.hops.map(({ replies }) => replies[0]?.ip ?? "");
      expect(answered.map((hop, index) => expected[index]?.includes(hop))).toEqual(expected.map(() => true));
    }
  });
});
