import { describe, expect, it } from "vitest";
import { summariesOf } from "#control-plane/outages/state/summary.ts";
import { judgedFinding, NO_AGENT, type Finding } from "#control-plane/watching/checking/watch/observe.ts";
import { findStale } from "#control-plane/public/status-pages/read/build-page.ts";
import { openSweepWorld } from "#test/control-plane/watching/checking/timeout-sweep/sweep-world.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const UP: Finding = { ...judgedFinding("up", null), responseMs: 20, httpStatus: 200 };
/** Two intervals of a minute and a timeout of 15 s. */
const FRESH_MS = 135_000;

const world = await stopAfterAll(openSweepWorld());

const visitAt = async (id: number): Promise<number> => {
  const [row] = await world.sql<{ at: Date }[]>`select visit_at as at from monitor_states where monitor_id = ${id}`;
  return row?.at.getTime() ?? 0;
};

describe("a monitor whose checks no longer run", () => {
  it("is unknown when its newest result is no longer fresh, once over all replicas", async () => {
    const { ids } = await world.account(20, { locations: ["eu-west"] });
    await world.check(ids, UP);
    world.clock.advance(FRESH_MS);
    await world.sweep();
    for (const id of ids) expect(await world.status(id)).toBe("up");
    world.clock.advance(1);
    await world.sweep(3);
    for (const id of ids) {
      expect(await world.status(id)).toBe("unknown");
      expect(await world.statuses(id)).toEqual(["up", "unknown"]);
    }
    await world.sweep(2);
    for (const id of ids) expect(await world.statuses(id)).toHaveLength(2);
  });

  it("stays as it is while results arrive, however late it is swept", async () => {
    const { ids } = await world.account(1, { locations: ["eu-west"] });
    const [id = 0] = ids;
    for (let minute = 0; minute < 10; minute += 1) {
      await world.check(ids, UP);
      world.clock.advance(60_000);
      await world.sweep();
    }
    expect(await world.statuses(id)).toEqual(["up"]);
  });

  it("is swept in time after its status has become known, and not with every check", async () => {
    const { ids } = await world.account(1, { locations: ["eu-west"] });
    const [id = 0] = ids;
    await world.sweep();
    expect(await visitAt(id)).toBeGreaterThan(world.clock.now().getTime() + FRESH_MS + 1);
    await world.check(ids, UP);
    const first = await visitAt(id);
    expect(first).toBe(world.clock.now().getTime() + FRESH_MS + 1);
    world.clock.advance(60_000);
    await world.check(ids, UP);
    expect(await visitAt(id)).toBe(first);
    world.clock.advance(FRESH_MS - 60_000 + 1);
    await world.sweep();
    expect(await visitAt(id)).toBe(first + 60_000);
  });

  it("is unknown when all of its locations have lost their probes, and not before", async () => {
    const { ids } = await world.account(1, { locations: ["eu-west", "us-east"] });
    const [id = 0] = ids;
    await world.check(ids, UP);
    world.absent.add("us-east");
    world.clock.advance(60_000);
    await world.check(ids, UP, "eu-west");
    world.clock.advance(FRESH_MS - 60_000 + 1);
    await world.sweep();
    expect(await world.status(id)).toBe("up");
    world.absent.add("eu-west");
    world.clock.advance(60_001);
    await world.sweep();
    expect(await world.status(id)).toBe("unknown");
    world.absent.clear();
  });

  it("makes its page stale from the last result on, whatever attempts without a probe were recorded since", async () => {
    const { ids, accountId } = await world.account(1, { locations: ["eu-west"] });
    const [id = 0] = ids;
    await world.check(ids, UP);
    const at = world.clock.now();
    const stale = async () => {
      const facts = await summariesOf(world.sql, accountId, ids);
      return findStale([...facts.values()], world.clock.now());
    };
    world.clock.advance(FRESH_MS);
    await world.check(ids, NO_AGENT);
    expect(await stale()).toBeNull();
    world.clock.advance(1);
    await world.sweep();
    await world.check(ids, NO_AGENT);
    expect(await world.status(id)).toBe("unknown");
    expect(await stale()).toEqual({ at });
  });

  it("is not swept while it is paused, nor if it waits for pings", async () => {
    const { ids } = await world.account(2, { locations: ["eu-west"] });
    const [paused = 0, heartbeat = 0] = ids;
    await world.sql`update monitors set is_active = false where id = ${paused}`;
    await world.sql`update monitors set check_type = 'heartbeat' where id = ${heartbeat}`;
    await world.sweep();
    const rows = await world.sql`
      select from monitor_states where monitor_id = any(${[paused, heartbeat]}::bigint[]) and visit_at is null`;
    expect(rows).toHaveLength(2);
  });
});
