import { setTimeout as sleep } from "node:timers/promises";
import { below } from "#test/fleet/random.ts";
import { measureCatchUp, untilAllChecked } from "#test/fleet/monitors/catch-up.ts";
import type { MonitorVerdict } from "#test/fleet/monitors/check.ts";
import { openWorld, type World, type WorldOptions } from "#test/fleet/monitors/world.ts";
import { findFaketime } from "#test/support/faketime.ts";

/** Size of a run: `seconds` is the time with faults. */
export interface ScenarioSize {
  readonly seed: number;
  readonly seconds: number;
  readonly monitors: number;
  readonly intervalSeconds: number;
}

/** Result of a run: what the checker found, and what the scenario counted. */
export interface ScenarioResult {
  readonly verdict: MonitorVerdict;
  readonly figures: Readonly<Record<string, number>>;
}

/** One way to disturb watching. */
export interface Scenario {
  readonly summary: string;
  readonly size: Omit<ScenarioSize, "seed">;
  run(size: ScenarioSize): Promise<ScenarioResult>;
}

/** Every scenario by name. */
export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  restart: {
    summary: "the only replica is killed, and starts again when every monitor is due",
    size: { seconds: 150, monitors: 10_000, intervalSeconds: 60 },
    run: (size) => play(size, { replicas: 1, locations: 1, probeFaults: 0 }, restart),
  },
  kills: {
    summary: "one of two replicas is killed every 20 seconds, while monitors are deleted, changed and paused",
    size: { seconds: 300, monitors: 1_500, intervalSeconds: 60 },
    run: (size) =>
      play(size, { replicas: 2, locations: "mixed" }, async (world) => {
        const [killed, edited] = await Promise.all([kills(world, size), edits(world, size)]);
        return { ...killed, ...edited };
      }),
  },
  database: {
    summary: "the database restarts, stalls for 30 seconds, is cut off for 30 seconds, and loses its connections",
    size: { seconds: 240, monitors: 1_000, intervalSeconds: 60 },
    run: (size) => play(size, { replicas: 2, locations: "mixed" }, (world) => loseDatabase(world, size)),
  },
  clocks: {
    summary: "the clocks of two replicas are an hour ahead and an hour behind, and each is restarted with the other",
    size: { seconds: 180, monitors: 1_000, intervalSeconds: 60 },
    run: (size) => clocks(size),
  },
};

type Disturb = (world: World) => Promise<Readonly<Record<string, number>>>;

async function play(
  { seed, monitors, intervalSeconds }: ScenarioSize,
  options: Pick<WorldOptions, "replicas" | "locations" | "probeFaults" | "env">,
  disturb: Disturb,
): Promise<ScenarioResult> {
  const world = await openWorld({ seed, monitors, intervalSeconds, ...options });
  try {
    const figures = await disturb(world);
    const { verdict } = await world.judge();
    return { verdict, figures };
  } finally {
    await world.end();
  }
}

/** Kills the replica after every monitor was checked, and starts it again when every one is overdue. */
async function restart(world: World): Promise<Readonly<Record<string, number>>> {
  const intervalMs = world.options.intervalSeconds * 1_000;
  await untilAllChecked(world.sql, new Date(0), 5 * intervalMs);
  await sleep(intervalMs);
  const killedAt = Date.now();
  await world.kill(0);
  await sleep(1.25 * intervalMs);
  const startedAt = Date.now();
  await world.start(0);
  const listeningAt = Date.now();
  const allAt = await untilAllChecked(world.sql, new Date(startedAt), 5 * intervalMs);
  const measured = await measureCatchUp(world.sql, new Date(startedAt));
  return {
    deadSeconds: (startedAt - killedAt) / 1_000,
    startSeconds: (listeningAt - startedAt) / 1_000,
    allCheckedSecondsAfterListening: (allAt - listeningAt) / 1_000,
    ...measured,
  };
}

const KILL_EVERY_MS = 20_000;
const DEAD_MS = 3_000;

async function kills(world: World, { seconds }: ScenarioSize): Promise<Readonly<Record<string, number>>> {
  const endAt = Date.now() + seconds * 1_000;
  let killed = 0;
  while (Date.now() + KILL_EVERY_MS < endAt) {
    await sleep(KILL_EVERY_MS - DEAD_MS);
    await world.kill(killed % 2);
    await sleep(DEAD_MS);
    await world.start(killed % 2);
    killed += 1;
  }
  return { killed };
}

const AWAY_MS = 30_000;

/** Restarts the database, lets it stall, cuts it off, and breaks all its connections again and again. */
async function loseDatabase(world: World, { seconds }: ScenarioSize): Promise<Readonly<Record<string, number>>> {
  const quarterMs = (seconds * 1_000) / 4;
  const awayMs = Math.min(AWAY_MS, quarterMs / 2);
  await sleep(quarterMs / 4);
  await world.restartDatabase();
  await sleep(quarterMs / 2);
  world.proxy.stall();
  await sleep(awayMs);
  world.proxy.resume();
  await sleep(quarterMs / 2);
  world.proxy.cut();
  await sleep(awayMs);
  world.proxy.resume();
  const endAt = Date.now() + quarterMs;
  let broken = 0;
  while (Date.now() < endAt) {
    await sleep(500 + world.dice() * 2_500);
    world.proxy.breakAll();
    broken += 1;
  }
  return { restarted: 1, awaySeconds: awayMs / 1_000, broken };
}

/** Path of Debian's libfaketime; undefined: it is not installed. */
export const FAKETIME = findFaketime();

/** Runs two replicas with wrong clocks. Each is killed and started again with a clock that is two hours off the last. */
async function clocks(size: ScenarioSize): Promise<ScenarioResult> {
  if (FAKETIME === undefined) throw new Error("libfaketime is not installed (Debian: libfaketime)");
  const offsets = ["+1h", "+0h"];
  const env = (replica: number) => ({
    LD_PRELOAD: FAKETIME ?? "",
    FAKETIME: offsets[replica] ?? "+0h",
    FAKETIME_DONT_FAKE_MONOTONIC: "1",
  });
  return play(size, { replicas: 2, locations: "mixed", env }, async (world) => {
    const partMs = (size.seconds * 1_000) / 4;
    let steps = 1;
    for (const offset of ["-1h", "+1h", "+0h"]) {
      await sleep(partMs);
      await world.kill(0);
      offsets[0] = offset;
      await world.start(0);
      steps += 1;
    }
    await sleep(partMs);
    return { steps };
  });
}

/** Changes monitors at random, several at the same time. */
async function edits(world: World, { seconds }: ScenarioSize): Promise<Readonly<Record<string, number>>> {
  const { monitors, dice } = world;
  const endAt = Date.now() + seconds * 1_000;
  const paused = new Set<number>();
  const gone = new Set<number>();
  const busy = new Set<number>();
  const counts: Record<string, number> = {};
  const editOne = async () => {
    const monitor = monitors[below(dice, monitors.length)];
    if (monitor === undefined || gone.has(monitor.id) || busy.has(monitor.id)) return;
    busy.add(monitor.id);
    const roll = dice();
    const isPaused = paused.has(monitor.id);
    const kind =
      isPaused && roll < 0.7
        ? "resume"
        : roll < 0.12
          ? "delete"
          : roll < 0.35
            ? "pause"
            : roll < 0.55
              ? "retarget"
              : roll < 0.9
                ? "readdress"
                : "rename";
    if (kind === "pause") paused.add(monitor.id);
    if (kind === "resume") paused.delete(monitor.id);
    if (kind === "delete") gone.add(monitor.id);
    await world.act(kind, monitor);
    counts[kind] = (counts[kind] ?? 0) + 1;
    busy.delete(monitor.id);
  };
  const edit = async () => {
    while (Date.now() < endAt) {
      await editOne();
      await sleep(dice() * 300);
    }
  };
  await Promise.all(Array.from({ length: 4 }, edit));
  return counts;
}
