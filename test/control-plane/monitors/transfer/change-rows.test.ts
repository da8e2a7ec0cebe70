import { describe, expect, it } from "vitest";
import { transact } from "#control-plane/core/database/transaction.ts";
import { documentOf } from "#control-plane/monitors/transfer/parse-document.ts";
import { countStatements } from "#test/control-plane/watching/checking/watch/changes-world.ts";
import { startMonitorsWorld } from "#test/control-plane/monitors/routes/world.ts";
import { WIDE_PLANS } from "#test/support/wide-plans.ts";
import { createWatchedAccount } from "#test/support/watched-account.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const world = await stopAfterAll(startMonitorsWorld());

describe("an import", () => {
  it("of 1,000 monitors that all change takes as many statements as one of two", async () => {
    const { accountId, ids } = await createWatchedAccount(world, world.app.sql, 1_000);
    const rows = (more: object) =>
      ids.map((id) => ({ name: `m${id}`, url: "https://shop.example.com/", check_type: "http", ...more }));
    const count = (monitors: readonly object[]) =>
      transact(world.app.sql, async (tx) => {
        const document = documentOf({ version: 2, monitors: [...monitors] });
        const counted = countStatements(tx);
        const done = await world.monitors.import(counted.tx, accountId, document, { parts: [], isDryRun: false });
        if (!done.ok) throw new Error(done.refusal.message);
        return { updated: done.value.updated, statements: counted.statements() };
      });
    const change = { interval_minutes: 7, tags: ["imported"] };
    const few = await count(rows(change).slice(0, 2));
    expect(few.updated).toBe(2);
    expect(await count(rows(change))).toEqual({ updated: 998, statements: few.statements });
    const pause = await count(rows({ ...change, is_active: false }).slice(0, 2));
    expect(await count(rows({ ...change, is_active: false }))).toEqual({ updated: 998, statements: pause.statements });
  });

  describe("of monitors that lead to each other", () => {
    const site = (name: string, more: object = {}) => ({
      name,
      url: "https://example.com/",
      locations: ["eu-west"],
      ...more,
    });
    const group = (name: string, monitors: readonly string[], more: object = {}) => {
      return { name, check_type: "composite", composite: { monitors, down_when: "any" }, ...more };
    };
    const take = async (key: string, ...monitors: readonly object[]) =>
      world.call("/api/v4/monitors?action=import", { key, body: { version: 2, monitors } });
    const followedOf = async (key: string, name: string) => {
      const { body } = await world.call(`/api/v4/monitors?q=${name}`, { key });
      const [found] = body.data as { composite: { members: { name: string }[] } }[];
      return found?.composite.members.map((member) => member.name).toSorted();
    };

    it("turns round which composite follows which", async () => {
      const key = await world.createKey();
      const sites = [site("one"), site("two")];
      const first = await take(key, ...sites, group("outer", ["inner", "one"]), group("inner", ["one", "two"]));
      expect(first.status, first.text).toBe(201);
      const turned = await take(key, ...sites, group("inner", ["outer", "two"]), group("outer", ["one", "two"]));
      expect([turned.status, turned.body.data], turned.text).toMatchObject([201, { updated: 2, unchanged: 2 }]);
      expect(await followedOf(key, "inner")).toEqual(["outer", "two"]);
    });

    it("refuses a circle over both, and a monitor that a composite follows twice, by their rows", async () => {
      const key = await world.createKey();
      const sites = [site("one"), site("two")];
      const stored = [group("outer", ["inner", "one"]), group("inner", ["one", "two"])];
      expect((await take(key, ...sites, ...stored)).status).toBe(201);
      const circle = await take(
        key,
        ...sites,
        stored[0] ?? {},
        group("inner", ["one", "two"], { depends_on: "outer" }),
      );
      expect([circle.status, circle.body], circle.text).toMatchObject([
        400,
        { error: { problems: [{ row: "monitors.3", field: "depends_on", reason: "range" }] } },
      ]);
      const fresh = await take(
        key,
        ...sites,
        ...stored,
        group("new", ["newer", "one"]),
        group("newer", ["new", "two"]),
      );
      expect(fresh.body, fresh.text).toMatchObject({
        error: { problems: [{ row: "monitors.5", field: "composite.monitors", reason: "range" }] },
      });
      const twice = await take(key, ...sites, stored[0] ?? {}, group("inner", ["two", "one", "two"]));
      expect(twice.body, twice.text).toMatchObject({
        error: { problems: [{ row: "monitors.3", field: "composite.monitors.2", reason: "duplicate" }] },
      });
    });

    it("resumes as many as the plan allows with those that it pauses before", async () => {
      const { body } = await world.operate("POST", "/api/admin/keys", { plan: "captain" });
      const { key, account_id: accountId } = body.data as { key: string; account_id: number };
      expect((await take(key, site("on"), site("off", { is_active: false }))).status).toBe(201);
      await world.app.sql`
        insert into monitors (account_id, name, url, check_type, interval_minutes, is_active, tags, settings, created_at, updated_at)
        select account_id, 'more-' || n, url, check_type, interval_minutes, true, tags, settings, created_at, updated_at
        from monitors, generate_series(2, ${WIDE_PLANS.captain.monitors}) as n where account_id = ${accountId} and name = 'on'`;
      const resumed = [site("off", { is_active: true }), site("on", { is_active: false })];
      const refused = await take(key, ...resumed);
      expect(refused.body, refused.text).toMatchObject({
        error: { code: "plan_limit_exceeded", problems: [{ row: "monitors.0", field: "is_active" }] },
      });
      const taken = await take(key, ...resumed.toReversed());
      expect([taken.status, taken.body.data], taken.text).toMatchObject([201, { updated: 2 }]);
    });
  });
});
