import { pino } from "pino";
import { describe, expect, it } from "vitest";
import { judgeComposite, type MemberStatus } from "#control-plane/watching/checking/timeout-sweep/composite.ts";
import { wakeComposites } from "#control-plane/watching/checking/timeout-sweep/store.ts";
import { judgedFinding, type Finding } from "#control-plane/watching/checking/watch/observe.ts";
import { setMembers } from "#control-plane/outages/composites.ts";
import { createMaintenance, type MonitorsOf } from "#control-plane/outages/maintenance/maintenance.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import type { CompositeSettings } from "#control-plane/outages/kinds/composite.ts";
import { DEFAULT_SETTINGS } from "#control-plane/outages/kinds/defaults.ts";
import { insertStates } from "#control-plane/outages/state/store.ts";
import { insertMonitors, reserveIds } from "#control-plane/monitors/store.ts";
import { openSweepWorld } from "#test/control-plane/watching/checking/timeout-sweep/sweep-world.ts";
import type { WatchedAccount } from "#test/support/watched-account.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";
import { liveTimers } from "#test/support/timers.ts";

const REFUSED = { stage: "connect", source: "target", reason: "refused", message: "nobody listens" } as const;
const DOWN: Finding = { ...judgedFinding("down", REFUSED), responseMs: null, httpStatus: null };
const UP: Finding = { ...judgedFinding("up", null), responseMs: 20, httpStatus: 200 };

/** Members named a, b, c ... by their statuses: u(p), d(own), ? (unknown), m(aintenance). */
function members(statuses: string): readonly MemberStatus[] {
  const words = { u: "up", d: "down", "?": "unknown", m: "maintenance" } as const;
  return Array.from(statuses, (status, index) => ({
    name: String.fromCodePoint(97 + index),
    status: words[status as keyof typeof words],
  }));
}

describe("a composite is judged by its monitors:", () => {
  it.each([
    ["any", null, "uu", "up"],
    ["any", null, "ud", "down"],
    ["any", null, "u?", "up"],
    ["any", null, "?d", "down"],
    ["any", null, "??", "unknown"],
    ["any", null, "", "unknown"],
    ["any", null, "d", "down"],
    ["any", null, "um", "up"],
    ["any", null, "?m", "up"],
    ["any", null, "dm", "down"],
    ["all", null, "dm", "up"],
    ["all", null, "ud", "up"],
    ["all", null, "dd", "down"],
    ["all", null, "d?", "up"],
    ["all", null, "??", "unknown"],
    ["percent", 50, "uudd", "down"],
    ["percent", 51, "uudd", "up"],
    ["percent", 50, "??dd", "down"],
    ["percent", 34, "uud", "up"],
    ["percent", 33, "uud", "down"],
    ["percent", 1, "uuuu", "up"],
    ["percent", 100, "ddd", "down"],
  ] as const)("%s %s of %s is %s", (rule, percent, statuses, verdict) => {
    expect(judgeComposite({ down_when: rule, percent }, members(statuses)).verdict).toBe(verdict);
  });

  it.each([
    ["du", "1 of 2 monitors is down: a"],
    ["dd", "2 of 2 monitors are down: a and b"],
    ["ddud", "3 of 4 monitors are down: a, b and d"],
    ["ddddd", "5 of 5 monitors are down: a, b, c and 2 more"],
  ])("%s says that %s", (statuses, message) => {
    expect(judgeComposite({ down_when: "any", percent: null }, members(statuses)).fault?.message).toBe(message);
  });

  it("long names are cut, so that the cause fits its line", () => {
    const long = members("dddd").map((member) => ({ ...member, name: "n".repeat(200) }));
    const { fault } = judgeComposite({ down_when: "any", percent: null }, long);
    expect(fault?.message.length).toBeLessThan(200);
    expect(fault?.message).toMatch(/ and 1 more$/);
  });
});

const world = await stopAfterAll(openSweepWorld());

/** Adds a composite of these monitors to their account. Returns its id. */
async function follow(
  { accountId }: WatchedAccount,
  ids: readonly number[],
  settings: Partial<CompositeSettings> = {},
): Promise<number> {
  return transact(world.sql, async (tx) => {
    const made = await reserveIds(tx, 1);
    const [id = 0] = made;
    const composite = { monitor_ids: ids, down_when: "any", percent: null, ...settings } as const;
    const row = { accountId, name: "Platform", url: "", checkType: "composite", intervalMinutes: 5 } as const;
    const rest = { isActive: true, pausedReason: null, tags: [], dependsOn: null, secrets: null };
    await insertMonitors(
      tx,
      [{ ...row, ...rest, id, settings: { ...DEFAULT_SETTINGS, composite } }],
      world.clock.now(),
    );
    await insertStates(tx, made);
    await setMembers(tx, [{ id, memberIds: ids }]);
    return id;
  });
}

const woken = async () => (await world.sql`select composite_id from composite_wakes`).length;

const causes = (id: number) =>
  world.sql<{ code: string; message: string; evidence: number; resolved: boolean }[]>`
    select cause_code as code, cause_message as message, resolved_at is not null as resolved,
      (select count(*) from incident_evidence where incident_id = incidents.id) as evidence
    from incidents where monitor_id = ${id} order by id`;

const eventsOf = async (id: number) =>
  (await world.sql<{ type: string }[]>`select type from events where monitor_id = ${id} order by created_at, id`).map(
    ({ type }) => type,
  );

describe("a composite", () => {
  it("follows its monitors down and up, with an incident of its own, its cause and history", async () => {
    const account = await world.account(3, { locations: ["eu-west"], retries: 0, notify_email: true });
    const [one = 0, two = 0, three = 0] = account.ids;
    const id = await follow(account, account.ids, { down_when: "percent", percent: 60 });
    await world.sweep();
    expect(await world.status(id)).toBe("unknown");
    await world.check(account.ids, UP);
    await world.sweep();
    expect(await world.status(id)).toBe("up");
    world.clock.advance(1_000);
    await world.check([one], DOWN);
    await world.sweep();
    expect(await world.status(id)).toBe("up");
    await world.check([three], DOWN);
    await world.sweep(3);
    expect(await world.status(id)).toBe("down");
    const message = `2 of 3 monitors are down: m${one} and m${three}`;
    expect(await causes(id)).toMatchObject([{ code: "members_down", message, resolved: false, evidence: 0 }]);
    world.clock.advance(1_000);
    await world.check([two], DOWN);
    await world.sweep();
    await world.check(account.ids, UP);
    await world.sweep();
    expect(await world.status(id)).toBe("up");
    expect(await world.statuses(id)).toEqual(["up", "down", "up"]);
    expect(await causes(id)).toMatchObject([{ resolved: true }]);
    expect(await woken()).toBe(0);
  });

  it("does not go down with a monitor in maintenance, and does when that ends before the monitor is up", async () => {
    const account = await world.account(2, { locations: ["eu-west"], retries: 0 });
    const [one = 0, two = 0] = account.ids;
    const id = await follow(account, account.ids);
    await world.check(account.ids, UP);
    await world.sweep();
    const { sql, clock } = world;
    const log = pino({ level: "silent" });
    const monitorsOf: MonitorsOf = (_on, _account, ids) => Promise.resolve(new Set(ids));
    const maintenance = createMaintenance({ timers: liveTimers, sql, clock, log, monitorsOf });
    const at = (hours: number) => new Date(clock.now().getTime() + hours * 3_600_000).toISOString();
    const window = { title: "Upgrade", monitor_ids: [one], starts_at: at(0), ends_at: at(1) };
    const written = await transact(sql, (tx) => maintenance.create(tx, account.accountId, window));
    expect(written).toMatchObject({ ok: true });
    world.clock.advance(1_000);
    await world.check([one], DOWN);
    await world.sweep();
    expect([await world.status(one), await world.status(id)]).toEqual(["down", "up"]);
    expect(await causes(id)).toEqual([]);
    world.clock.advance(30_000);
    await world.sweep();
    expect(await world.status(id)).toBe("up");
    // The window ends early.
    await sql`update maintenance_occurrences set ends_at = ${clock.now()} where account_id = ${account.accountId}`;
    maintenance.close();
    // Nothing changes about the monitor itself.
    world.clock.advance(30_000);
    await world.sweep();
    expect(await causes(id)).toMatchObject([{ message: `1 of 2 monitors is down: m${one}`, resolved: false }]);
    expect(await world.status(two)).toBe("up");
  });

  it("is unknown when all its monitors are, and tells of no outage that goes on through it", async () => {
    const account = await world.account(2, { locations: ["eu-west"], retries: 0 });
    const id = await follow(account, account.ids, { down_when: "all" });
    await world.check(account.ids, DOWN);
    await world.sweep();
    expect(await world.status(id)).toBe("down");
    world.clock.advance(136_000);
    await world.sweep();
    await world.sweep();
    expect(await world.status(id)).toBe("unknown");
    await world.check(account.ids, DOWN);
    await world.sweep();
    expect(await world.statuses(id)).toEqual(["down", "unknown", "down"]);
    expect(await causes(id)).toHaveLength(1);
  });

  it("follows another composite", async () => {
    const account = await world.account(2, { locations: ["eu-west"], retries: 0 });
    const inner = await follow(account, account.ids);
    const outer = await follow(account, [inner, account.ids[1] ?? 0], { down_when: "any" });
    await world.check([account.ids[0] ?? 0], DOWN);
    await world.sweep();
    await world.sweep();
    expect([await world.status(inner), await world.status(outer)]).toEqual(["down", "down"]);
    expect(await causes(outer)).toMatchObject([{ message: "1 of 2 monitors is down: Platform" }]);
  });

  it("is judged by another process if the one that recorded the change ends before it", async () => {
    const account = await world.account(2, { locations: ["eu-west"], retries: 0 });
    const id = await follow(account, account.ids);
    await world.check(account.ids, UP);
    await world.sweep();
    await world.check([account.ids[0] ?? 0], DOWN);
    // The wish is a row of the transaction that changed the monitor. Taking it over, and ending then, loses nothing either.
    expect(await woken()).toBeGreaterThan(0);
    await wakeComposites(world.sql, world.clock.now(), 100);
    expect(await woken()).toBe(0);
    expect(await world.status(id)).toBe("up");
    await world.sweep();
    expect(await world.status(id)).toBe("down");
  });

  it("that another transaction has locked is judged when it is free", async () => {
    const account = await world.account(2, { locations: ["eu-west"], retries: 0 });
    const id = await follow(account, account.ids);
    await world.sweep();
    await transact(world.sql, async (tx) => {
      await tx`select from monitor_states where monitor_id = ${id} for update`;
      await world.check([account.ids[0] ?? 0], DOWN);
      await world.sweep();
      expect(await woken()).toBeGreaterThan(0);
    });
    await world.sweep();
    expect(await world.status(id)).toBe("down");
  });

  it("reminds of an outage that goes on", async () => {
    const account = await world.account(2, { locations: ["eu-west"], retries: 0 });
    const id = await follow(account, account.ids);
    const settings = JSON.stringify({
      composite: { monitor_ids: account.ids, down_when: "any", percent: null },
      notify_email: true,
      repeat_minutes: 5,
    });
    await world.sql`update monitors set settings = ${settings} where id = ${id}`;
    await world.check(account.ids, DOWN);
    await world.sweep();
    world.clock.advance(5 * 60_000 + 1);
    await world.sweep();
    const lines = await world.sql<{ kind: string }[]>`
      select e.kind from incident_entries as e join incidents as i on i.id = e.incident_id
      where i.monitor_id = ${id} order by e.id`;
    expect(lines.map(({ kind }) => kind)).toContain("reminder");
  });

  it("holds its notices while the monitor it depends on is down, and sends what is still so afterwards", async () => {
    const account = await world.account(3, { locations: ["eu-west"], retries: 0 });
    const [one = 0, two = 0, router = 0] = account.ids;
    const id = await follow(account, [one, two]);
    await world.sql`update monitors set depends_on = ${router} where id = ${id}`;
    await world.check(account.ids, UP);
    await world.sweep();
    await world.check([router], DOWN);
    await world.check([one], DOWN);
    await world.sweep();
    expect(await world.status(id)).toBe("down");
    const [incident] = await world.sql`select suppressed_by as "by" from incidents where monitor_id = ${id}`;
    expect(incident).toEqual({ by: router });
    expect(await eventsOf(id)).toEqual([]);
    await world.check([router], UP);
    for (let look = 0; look < 3; look += 1) {
      world.clock.advance(30_000);
      await world.check(account.ids.slice(1), UP);
      await world.check([one], DOWN);
      await world.sweep();
    }
    expect(await eventsOf(id)).toEqual(["monitor.down"]);
  });

  it("holds back the notices of a monitor that depends on it", async () => {
    const account = await world.account(3, { locations: ["eu-west"], retries: 0 });
    const [one = 0, two = 0, shop = 0] = account.ids;
    const id = await follow(account, [one, two]);
    await world.sql`update monitors set depends_on = ${id} where id = ${shop}`;
    await world.check(account.ids, UP);
    await world.sweep();
    await world.check([one], DOWN);
    await world.sweep();
    await world.check([shop], DOWN);
    expect(await world.status(shop)).toBe("down");
    expect([await eventsOf(id), await eventsOf(shop)]).toEqual([["monitor.down"], []]);
  });
});
