import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createObservations, type Observations } from "#control-plane/checks/observations.ts";
import { pruneObservations } from "#control-plane/checks/observations-store.ts";
import { createManualClock } from "#test/support/clock.ts";
import { openDatabase } from "#test/support/postgres.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

let clock: ReturnType<typeof createManualClock>;
let observations: Observations;

const { sql } = await stopAfterAll(openDatabase());
beforeEach(async () => {
  await sql`truncate observations`;
  clock = createManualClock(new Date("2026-03-01T11:59:59Z"));
  // The cache treats a time of 0 as no time.
  clock.advance(1_000);
  observations = createObservations(sql, clock);
});
afterEach(() => observations.close());

const IP = "192.0.2.7";
const hosts = async (accountId: number | null) => (await observations.at(IP, accountId)).map(({ host }) => host);

describe("names seen at an address", () => {
  it("are public if a caller without an account saw them, else only for the account that did", async () => {
    observations.note(null, [{ host: "open.example", ip: IP }]);
    observations.note(7, [{ host: "mine.example", ip: IP }]);
    await expect.poll(() => hosts(7)).toHaveLength(2);
    expect(await hosts(null)).toEqual(["open.example"]);
    expect(await hosts(8)).toEqual(["open.example"]);
    expect((await hosts(7)).toSorted()).toEqual(["mine.example", "open.example"]);
  });

  it("keep the time when they were first seen, and move to the top when seen again", async () => {
    observations.note(null, [{ host: "old.example", ip: IP }]);
    await expect.poll(() => hosts(null)).toHaveLength(1);
    clock.advance(2 * 3_600_000);
    observations.note(null, [{ host: "new.example", ip: IP }]);
    await expect.poll(() => hosts(null)).toEqual(["new.example", "old.example"]);
    clock.advance(2 * 3_600_000);
    observations.note(null, [{ host: "old.example", ip: IP }]);
    await expect.poll(() => hosts(null)).toEqual(["old.example", "new.example"]);
    const [first] = await observations.at(IP, null);
    expect(first?.firstSeen.toISOString()).toBe("2026-03-01T12:00:00.000Z");
    expect(first?.lastSeen.toISOString()).toBe("2026-03-01T16:00:00.000Z");
  });

  it("include no addresses, and at most 20 names of one check", async () => {
    observations.note(null, [{ host: "192.0.2.9", ip: IP }]);
    observations.note(
      null,
      Array.from({ length: 500 }, (_, at) => ({ host: `n${at}.example`, ip: IP })),
    );
    await expect.poll(() => hosts(null)).toHaveLength(20);
  });

  it("are deleted with their account, and when they have not been seen for a long time", async () => {
    observations.note(7, [{ host: "mine.example", ip: IP }]);
    observations.note(null, [{ host: "open.example", ip: IP }]);
    await expect.poll(() => hosts(7)).toHaveLength(2);
    expect(await observations.export(sql, 7)).toMatchObject([{ host: "mine.example", ip: IP }]);
    await observations.forget(sql, 7);
    expect(await hosts(7)).toEqual(["open.example"]);
    expect(await pruneObservations(sql, new Date("2026-03-02T00:00:00Z"), 10)).toBe(1);
    expect(await hosts(7)).toEqual([]);
  });
});
