import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { HOURS_KEPT_MS } from "#control-plane/outages/history/roll-up/retention.ts";
import { MOST_BUSY } from "#control-plane/watching/checking/watch/claim-loop.ts";
import { COSTS, LIMITS } from "../../deploy/capacity/figures.ts";
import {
  findMostMonitors,
  PARTS,
  simulate,
  type Costs,
  type Deployment,
  type Load,
  type Trouble,
} from "../../deploy/capacity/simulate.ts";
import { ROOT } from "#test/laws/source-files.ts";

/** Ten checks a second. */
const LOAD: Load = {
  monitors: 600,
  intervalSeconds: 60,
  locations: 1,
  answerMs: 100,
  timeoutSeconds: 15,
  outagesPerMonth: 0,
  receivers: 0,
  readsPerSecond: 0,
  keptDays: 7,
};
const WIDE: Deployment = {
  shards: 1,
  replicas: 10,
  agents: 10,
  agentJobs: 200,
  databaseCores: 10,
  walMbPerSecond: 100,
  diskTb: 10,
  databaseConnections: 10_000,
  databaseGb: 4,
  replicaGb: 2,
  agentGb: 2,
};
/** Nothing but checks costs anything, each 7 ms of every processor: a replica, an agent or a core does 100 a second. */
const PLAIN: Costs = {
  ...COSTS,
  check: { controlPlane: 7_000, agent: 7_000, database: 7_000 },
  attachedAgent: { controlPlane: 0, database: 0 },
  idle: { controlPlane: 0, agent: 0, database: 0 },
  baseMemory: { controlPlane: 1e6, agent: 1e6, database: 1e6 },
};

const run = (load: Load, deployment: Deployment, troubles: readonly Trouble[] = []) =>
  simulate(load, deployment, PLAIN, LIMITS, troubles);

it("the limits are those of the code", () => {
  expect(LIMITS.checksOfReplica).toBe(MOST_BUSY);
  expect(LIMITS.hoursKeptDays * 86_400_000).toBe(HOURS_KEPT_MS);
});

describe("npm run capacity", () => {
  const document = readFileSync(join(ROOT, "deploy/capacity.md"), "utf8");
  const runIn = (words: readonly string[]) =>
    spawnSync(process.execPath, [join(ROOT, "deploy/capacity/main.ts"), ...words], { encoding: "utf8" });

  it("prints the table of the document", () => {
    expect(document).toContain(`\n${runIn([]).stdout}`);
  });

  it("describes one deployment: the use of each part, its most monitors and its troubles", () => {
    const commands = Array.from(document.matchAll(/`npm run capacity -- ([^`]+)`/g), ([, words = ""]) => words);
    expect(commands).toHaveLength(2);
    for (const command of commands) {
      const { stdout } = runIn(command.split(" "));
      for (const part of PARTS) expect(stdout).toMatch(new RegExp(`^${part} +\\d+\\.\\d % of what is planned$`, "m"));
      expect(stdout).toContain("1,000,000 monitors: it ");
      expect(stdout).toMatch(
        /^When the database is away for 30 s: checks are up to \d+\.\d s late, [\d,]+ are left out.$/m,
      );
    }
  });

  it.each([
    ["--monitor", "1"],
    ["--monitors", "many"],
    ["--monitors", "-1"],
  ])("lists the options after one that it cannot read: %s %s", (...words) => {
    const { status, stderr } = runIn(words);
    expect(status).toBe(2);
    expect(stderr).toContain(words[0]);
    expect(stderr).toMatch(/^Options: --monitors, --interval-seconds, .*--agent-gb$/m);
  });
});

describe("the part that fills first", () => {
  it.each<[string, Partial<Load>, Partial<Deployment>]>([
    ["control plane: processor", {}, { replicas: 1 }],
    ["control plane: checks at once", { answerMs: 30_000 }, { replicas: 1, agents: 1_000 }],
    ["control plane: memory", {}, { replicaGb: 0.005 }],
    ["agents: processor", {}, { agents: 1 }],
    ["agents: jobs at once", { answerMs: 2_000 }, { agentJobs: 3 }],
    ["agents: memory", {}, { agentGb: 0.002 }],
    ["database: processor", {}, { databaseCores: 1 }],
    ["database: WAL", {}, { walMbPerSecond: 0.02 }],
    ["database: disk", { keptDays: 900 }, { diskTb: 0.1 }],
    ["database: memory", {}, { databaseGb: 0.01 }],
    ["database: connections", {}, { databaseConnections: 500 }],
  ])("is %s", (part, load, deployment) => {
    expect(run({ ...LOAD, ...load }, { ...WIDE, ...deployment }).fullest).toBe(part);
  });

  it("is used by exactly as much as is planned at the largest number of monitors", () => {
    const one = { ...WIDE, replicas: 1 };
    // 100 checks a second, once a minute each.
    expect(findMostMonitors(LOAD, one, PLAIN, LIMITS) / 6_000).toBeCloseTo(1, 1);
    expect(run({ ...LOAD, monitors: 6_000 }, one)).toMatchObject({ holds: true, latest: 0, leftOut: 0 });
    expect(run({ ...LOAD, monitors: 6_100 }, one).holds).toBe(false);
  });

  it("is divided by shards, and by locations the other way round", () => {
    const most = (load: Partial<Load>, deployment: Partial<Deployment>) =>
      findMostMonitors({ ...LOAD, ...load }, { ...WIDE, replicas: 1, ...deployment }, PLAIN, LIMITS);
    expect(most({}, { shards: 4 }) / most({}, {})).toBeCloseTo(4, 1);
    expect(most({}, {}) / most({ locations: 4 }, {})).toBeCloseTo(4, 1);
  });

  it("is a replica's processor, however many replicas there are, when the agents that attach to all are too many", () => {
    const attached = { ...PLAIN, attachedAgent: { controlPlane: 70, database: 0 } };
    const most = (replicas: number) =>
      findMostMonitors(LOAD, { ...WIDE, replicas, agents: 10_000, replicaGb: 100 }, attached, LIMITS);
    expect(most(1)).toBe(0);
    expect(most(100)).toBe(0);
  });
});

describe("a trouble", () => {
  it("makes checks late while the database is away, and leaves none out within an interval", () => {
    const away = (seconds: number) => run(LOAD, WIDE, [{ fromSecond: 100, seconds, database: true }]);
    expect(away(30)).toMatchObject({ holds: true, leftOut: 0 });
    expect(away(30).latest).toBeCloseTo(30, 5);
    // Sixty seconds of checks wait at most: what was due before that is left out.
    expect(away(90).leftOut).toBeCloseTo(30 * 10, 5);
  });

  it("is over when what waited has been done, which takes longer the fuller the service is", () => {
    const troubles = [{ fromSecond: 3_500, seconds: 40, database: true }];
    // 400 checks wait; 10 + 90 a second are done in the 60 s that are left, or 100 of 99.
    expect(run(LOAD, { ...WIDE, replicas: 1 }, troubles).holds).toBe(true);
    expect(run({ ...LOAD, monitors: 5_940 }, { ...WIDE, replicas: 1 }, troubles).holds).toBe(false);
  });

  it("of one replica or agent leaves the work to the others", () => {
    const gone = (part: "replicas" | "agents") =>
      run({ ...LOAD, monitors: 54_000 }, WIDE, [{ fromSecond: 100, seconds: 600, [part]: 1 }]);
    expect(gone("replicas")).toMatchObject({ holds: true, latest: 0 });
    expect(gone("agents")).toMatchObject({ holds: true, latest: 0 });
    const full = run({ ...LOAD, monitors: 60_000 }, WIDE, [{ fromSecond: 100, seconds: 600, replicas: 1 }]);
    expect(full.latest).toBeGreaterThan(10);
  });

  it("of targets that hang fills the places of checks, not the processors", () => {
    const hang = (agentJobs: number) =>
      run({ ...LOAD, monitors: 6_000 }, { ...WIDE, agentJobs }, [{ fromSecond: 100, seconds: 900, hanging: 0.5 }]);
    // 50 a second hang for 15 s each: 750 places, of which ten agents have 2,000 or 500.
    expect(hang(200)).toMatchObject({ holds: true, leftOut: 0 });
    expect(hang(50).leftOut).toBeGreaterThan(0);
  });
});
