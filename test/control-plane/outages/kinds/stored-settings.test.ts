import { describe, expect, it } from "vitest";
import { readSilent } from "#control-plane/watching/checking/survey.ts";
import { judgedFinding, type Finding } from "#control-plane/watching/checking/watch/observe.ts";
import { DEFAULT_SETTINGS } from "#control-plane/outages/kinds/defaults.ts";
import { readStoredSettings } from "#control-plane/outages/kinds/stored-settings.ts";
import { openSweepWorld } from "#test/control-plane/watching/checking/timeout-sweep/sweep-world.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const REFUSED = { stage: "connect", source: "target", reason: "refused", message: "nobody listens" } as const;
const DOWN: Finding = { ...judgedFinding("down", REFUSED), responseMs: null, httpStatus: null };
const UP: Finding = { ...judgedFinding("up", null), responseMs: 20, httpStatus: 200 };

const world = await stopAfterAll(openSweepWorld());

/** A monitor as a release wrote it that had none of the other options. */
async function oldMonitor(locations: readonly string[]): Promise<number> {
  const { ids } = await world.account(1, { locations });
  const [id = 0] = ids;
  await world.sql`update monitors set settings = ${JSON.stringify({ locations })} where id = ${id}`;
  return id;
}

describe("settings that were stored before an option was added", () => {
  it("have its default, and keep what they say", () => {
    expect(readStoredSettings('{"locations":["eu-west"],"retries":0}')).toEqual({
      ...DEFAULT_SETTINGS,
      locations: ["eu-west"],
      retries: 0,
    });
  });

  it("are checked with the default number of re-checks and of good checks", async () => {
    const id = await oldMonitor(["eu-west"]);
    await world.check([id], UP);
    for (let failed = 0; failed <= DEFAULT_SETTINGS.retries; failed += 1) {
      expect(await world.status(id)).toBe("up");
      await world.check([id], DOWN);
    }
    expect(await world.status(id)).toBe("down");
    await world.check([id], UP);
    expect(await world.status(id)).toBe("up");
  });

  it("are visited when the default time limit has passed too", async () => {
    const id = await oldMonitor(["eu-west"]);
    await world.check([id], UP);
    const freshMs = 2 * 60_000 + DEFAULT_SETTINGS.timeout_seconds * 1_000;
    world.clock.advance(freshMs);
    await world.sweep();
    expect(await world.status(id)).toBe("up");
    world.clock.advance(1);
    await world.sweep();
    expect(await world.status(id)).toBe("unknown");
  });

  it("are surveyed with the default time limit: recent results are not missing", async () => {
    const id = await oldMonitor(["eu-west", "us-east"]);
    await world.check([id], UP, "eu-west");
    const silent = (await readSilent(world.sql, world.clock.now())).find((one) => one.id === id);
    expect(silent?.missing ?? ["us-east"]).toEqual(["us-east"]);
    world.clock.advance(140_000);
    const later = (await readSilent(world.sql, world.clock.now())).find((one) => one.id === id);
    expect(later?.missing).toEqual(["eu-west", "us-east"]);
  });
});
