import { liveTimers } from "#test/support/timers.ts";
import { describe, expect, it } from "vitest";
import { pino } from "pino";
import { connectListener } from "#control-plane/core/database/connect.ts";
import { createNotifications } from "#control-plane/core/database/notifications.ts";
import { recordEvents, type NewEvent } from "#control-plane/checks/measurements/journal-store.ts";
import {
  claimMeasurement,
  finishMeasurement,
  insertMeasurement,
  readAttempts,
  readLocations,
} from "#control-plane/checks/measurements/store.ts";
import { readEvents } from "#control-plane/checks/measurements/stream-store.ts";
import { tailEvents, sweepMeasurements } from "#control-plane/checks/measurements/measurements.ts";
import { createWatch } from "#control-plane/checks/measurements/watch.ts";
import { createManualClock } from "#test/support/clock.ts";
import { openDatabase } from "#test/support/postgres.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const NOW = new Date("2026-01-01T00:00:00Z");

const { sql, url } = await stopAfterAll(openDatabase());
const [row] = await sql<{ id: number }[]>`
  insert into accounts (plan, created_at, updated_at) values ('pro', ${NOW}, ${NOW}) returning id`;
const accountId = row?.id ?? 0;

async function insert(id: string, days = 7, locations = 1): Promise<void> {
  const base = { id, accountId, tool: "ping", params: "{}", expression: null, shareId: null } as const;
  const expiresAt = new Date(NOW.getTime() + days * 86_400_000);
  const open = { location: "{}", status: null, result: null, durationMs: null };
  const rows = Array.from({ length: locations }, (_, ordinal) => ({ ...open, ordinal }));
  await insertMeasurement(sql, { ...base, status: "pending", createdAt: NOW, expiresAt }, rows);
}

const result = (text: string, ordinal = 0): NewEvent => ({
  event: "result",
  ordinal,
  data: '{"attempt":1}',
  result: { location: "{}", status: "ok", result: text, durationMs: 5 },
});

describe("a write of a claim", () => {
  it("is accepted only from the newest claim", async () => {
    await insert("two-runs");
    const first = await claimMeasurement(sql, "two-runs", NOW);
    const second = await claimMeasurement(sql, "two-runs", NOW);
    if (first === null || second === null) throw new Error("not claimed");
    expect(await recordEvents(sql, first, [result('"late"')], 0, 0)).toBe(false);
    expect(await recordEvents(sql, second, [result('"right"')], 0, 0)).toBe(true);
    expect(await finishMeasurement(sql, first, NOW)).toBeNull();
    expect(await finishMeasurement(sql, second, NOW)).toBe("completed");
    expect(await readLocations(sql, "two-runs")).toMatchObject([{ result: '"right"' }]);
    expect(await claimMeasurement(sql, "two-runs", NOW)).toBeNull();
  });

  it("is stored once if it is repeated", async () => {
    await insert("twice");
    const run = await claimMeasurement(sql, "twice", NOW);
    if (run === null) throw new Error("not claimed");
    expect(await recordEvents(sql, run, [result("1")], 0, 0)).toBe(true);
    expect(await recordEvents(sql, run, [result("1")], 0, 0)).toBe(true);
    expect(await readEvents(sql, "twice", 0)).toHaveLength(1);
  });

  it("stores only the first result of a location, and an event only for that", async () => {
    await insert("first-counts");
    const run = await claimMeasurement(sql, "first-counts", NOW);
    if (run === null) throw new Error("not claimed");
    await recordEvents(sql, run, [result("1")], 0, 0);
    await recordEvents(sql, run, [result("2")], 1, 0);
    expect(await readLocations(sql, "first-counts")).toMatchObject([{ result: "1" }]);
    expect((await readEvents(sql, "first-counts", 0)).map(({ number }) => number)).toEqual([1]);
  });

  it("is read a few results at a time, and streamed completely and in order", async () => {
    await insert("many-results", 7, 10);
    const run = await claimMeasurement(sql, "many-results", NOW);
    if (run === null) throw new Error("not claimed");
    const progress: NewEvent = { event: "progress", ordinal: 0, data: "{}", result: null };
    const events = Array.from({ length: 10 }, (_, ordinal) => [progress, result(String(ordinal), ordinal)]).flat();
    await recordEvents(sql, run, events, 0, 0);
    await finishMeasurement(sql, run, NOW);
    const page = await readEvents(sql, "many-results", 0);
    expect(page.filter(({ event }) => event === "result")).toHaveLength(4);
    const listener = connectListener(url, "test");
    const watch = createWatch(sql, createNotifications(listener, liveTimers));
    const streamed: number[] = [];
    for await (const { number } of tailEvents({ sql, watch }, "many-results", 0, new AbortController().signal)) {
      streamed.push(number);
    }
    watch.close();
    await listener.end();
    expect(streamed).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
  });

  it("can contain a NUL character, as answers of targets do", async () => {
    await insert("nul");
    const run = await claimMeasurement(sql, "nul", NOW);
    if (run === null) throw new Error("not claimed");
    const text = JSON.stringify("a\u0000b");
    expect(await recordEvents(sql, run, [result(text)], 0, 0)).toBe(true);
    expect(await readLocations(sql, "nul")).toMatchObject([{ result: text }]);
  });
});

it("earlier attempts are counted by location, regardless of the characters in the probe's location", async () => {
  await insert("attempts", 7, 3);
  const run = await claimMeasurement(sql, "attempts", NOW);
  if (run === null) throw new Error("not claimed");
  const begun = (ordinal: number, attempt: number, city: string): NewEvent => {
    const data = JSON.stringify({ location: { city }, attempt });
    return { event: attempt === 1 ? "probe" : "restart", ordinal, attempt, data, result: null };
  };
  await recordEvents(sql, run, [begun(0, 1, "a\u0000b"), begun(0, 2, "half \ud83d of a pair"), begun(1, 1, "")], 0, 0);
  expect(await readAttempts(sql, "attempts")).toEqual(
    new Map([
      [0, 2],
      [1, 1],
    ]),
  );
});

it("housekeeping deletes expired measurements and fails those that lost their job", async () => {
  await insert("short", 1);
  await insert("long", 7);
  const clock = createManualClock(NOW);
  const deps = { sql, checks: { clock }, log: pino({ level: "silent" }) };
  clock.advance(2 * 86_400_000);
  await sweepMeasurements(deps);
  const left = await sql`select id, status from measurements where id in ('short', 'long')`;
  expect(left).toEqual([{ id: "long", status: "failed" }]);
  const [rows] = await sql<{ n: number }[]>`
    select count(*) as n from measurement_locations where measurement_id = 'short'`;
  expect(rows?.n).toBe(0);
});
