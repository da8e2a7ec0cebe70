import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openScene, type Scene } from "#test/fleet/scenario.ts";
import { createTestDatabase, type TestDatabase } from "#test/support/postgres.ts";

// The short form of test/bench/fleet.ts: 60 agents, 300 jobs/s.
const SIZE = { processes: 4, agentsEach: 15, regions: 12 };
const LOAD = { callsPerSecond: 30, perCall: 10 };
const CALM_SECONDS = 3;
const CHAOS_SECONDS = 20;
const CHAOS = { cut: 2, freeze: 0.3, duplicate: 3, forge: 3, decline: 3, kill: 0.2 };
const SEED = 20_260_301;

let database: TestDatabase;
let scene: Scene;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "vantage-faults-"));
  database = await createTestDatabase();
  scene = await openScene({ databaseUrl: database.url, size: SIZE, folder, seed: SEED });
});

afterAll(async () => {
  await scene.end();
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

it("every job of a fleet without faults is answered by the agent it was given to", async () => {
  await scene.run({ ...LOAD, seconds: CALM_SECONDS });
  const check = scene.checkCalls();
  expect(check.examples).toEqual([]);
  expect(check.rows).toBe(CALM_SECONDS * LOAD.callsPerSecond * LOAD.perCall);
  expect(check.unavailable).toEqual({});
});

it("each job has one result while agents are killed, cut off, frozen and busy, and send false results", async () => {
  await scene.run({ ...LOAD, seconds: CHAOS_SECONDS, chaos: CHAOS });
  const check = scene.checkCalls();
  expect(check.examples).toEqual([]);
  expect(check.rows).toBe(CHAOS_SECONDS * LOAD.callsPerSecond * LOAD.perCall);
  // All planned faults happened, and the agents affected handled them.
  const { sent } = scene.fleet.notes();
  for (const kind of ["duplicate", "late", "forged"] as const) {
    expect(sent.filter((result) => result.kind === kind).length, kind).toBeGreaterThan(0);
  }
  expect(check.restarted).toBeGreaterThan(0);
  const without = Object.values(check.unavailable).reduce((sum, count) => sum + count, 0);
  expect(without).toBeLessThan(check.restarted);
});
