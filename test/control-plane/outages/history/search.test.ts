import { afterEach, describe, expect, it } from "vitest";
import { DAY_MS, HOUR_MS } from "#control-plane/outages/history/period.ts";
import { searchChecks, type CheckSearch, type FoundChecks } from "#control-plane/outages/history/search.ts";
import { createHistoryDatabase } from "#test/support/history.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const NOW = Date.parse("2026-03-28T12:30:00Z");
const MINUTE = 60_000;
const ALL: CheckSearch = { location: null, status: null, before: null, after: null };

const database = await stopAfterAll(createHistoryDatabase());
afterEach(() => database.clear());

/** Creates a monitor that is ten days old with checks these milliseconds ago, the first one newest. */
async function createChecked(ago: readonly number[], over: object = {}): Promise<number> {
  const { id } = await database.addMonitor(NOW - 10 * DAY_MS);
  const given = ago.map((ms, index) => ({ monitorId: id, at: NOW - ms, responseMs: index, ...over }));
  await database.addChecks(given.toReversed());
  return id;
}

function search(id: number, wanted: Partial<CheckSearch>, limit = 3, intervalMinutes = 1): Promise<FoundChecks> {
  const monitor = { id, createdAt: new Date(NOW - 10 * DAY_MS), intervalMinutes };
  return searchChecks(database.sql, monitor, { ...ALL, ...wanted }, limit, new Date(NOW));
}

const shown = ({ checks }: FoundChecks) => checks.map((check) => check.response_time_ms);

describe("the search of checks", () => {
  it("shows every check once, page by page, to the oldest and back, also those of one time", async () => {
    const id = await createChecked([1, 1, 1, 1, MINUTE, 2 * MINUTE, 90 * MINUTE]);
    const first = await search(id, {});
    expect([shown(first), first.newer]).toEqual([[0, 1, 2], null]);
    const second = await search(id, { before: first.older });
    expect(shown(second)).toEqual([3, 4, 5]);
    const third = await search(id, { before: second.older });
    expect(shown(third)).toEqual([6]);
    const back = await search(id, { after: third.newer });
    expect(shown(back)).toEqual([3, 4, 5]);
    const top = await search(id, { after: back.newer });
    expect(shown(top)).toEqual([0, 1, 2]);
    expect(shown(await search(id, { before: top.older }))).toEqual([3, 4, 5]);
  });

  it("ends after two days of a check a minute, and says where it goes on", async () => {
    const id = await createChecked([MINUTE, 5 * DAY_MS]);
    const near = await search(id, {});
    expect([shown(near), near.searchedTo]).toEqual([[0], near.older?.at]);
    expect(NOW - (near.searchedTo ?? 0)).toBeLessThanOrEqual(2 * DAY_MS + HOUR_MS);
    let found = near;
    for (let pages = 0; pages < 2; pages += 1) found = await search(id, { before: found.older });
    expect(shown(found)).toEqual([1]);
    for (let pages = 0; pages < 5 && found.older !== null; pages += 1)
      found = await search(id, { before: found.older });
    expect([found.older, found.searchedTo]).toEqual([null, null]);
  });

  it("goes further back for checks that are further apart", async () => {
    const id = await createChecked([DAY_MS, 2 * DAY_MS, 8 * DAY_MS]);
    expect(shown(await search(id, {}, 3, 1_440))).toEqual([0, 1, 2]);
  });

  it("finds by location and by verdict", async () => {
    const id = await createChecked([MINUTE, 2 * MINUTE]);
    const at = NOW - HOUR_MS;
    await database.addChecks([
      { monitorId: id, at, location: "us", status: 2, responseMs: 7 },
      { monitorId: id, at, location: "us", status: 4, responseMs: 8 },
      { monitorId: id + 1, at, location: "us", status: 2, responseMs: 9 },
    ]);
    expect(shown(await search(id, { location: "us" }))).toEqual([8, 7]);
    expect(shown(await search(id, { status: "down" }))).toEqual([7]);
    expect(shown(await search(id, { status: "degraded", location: "us" }))).toEqual([8]);
    expect(shown(await search(id, { status: "unknown" }))).toEqual([]);
  });
});
