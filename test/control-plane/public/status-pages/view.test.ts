import { pino } from "pino";
import { afterAll, describe, expect, it } from "vitest";
import { isDatabaseAway } from "#control-plane/core/database/database-away.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import { coveredBetween } from "#control-plane/outages/maintenance/coverage/coverage.ts";
import { createHistory, type History } from "#control-plane/outages/history/history.ts";
import { rollUpHours } from "#control-plane/outages/history/roll-up/hours.ts";
import { addStatusChanges } from "#control-plane/outages/history/record.ts";
import { onPageChanges } from "#control-plane/core/page-changes.ts";
import { createStatusPages } from "#control-plane/public/status-pages/status-pages.ts";
import { startPageWorld } from "#test/control-plane/public/status-pages/world.ts";
import { createManualClock, systemRandom } from "#test/support/clock.ts";
import { markVerified } from "#test/support/verified-domain.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";
import { liveTimers } from "#test/support/timers.ts";

const NOW = new Date("2026-05-10T12:00:00Z");
const TODAY = Date.parse("2026-05-10T00:00:00Z");
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const clock = createManualClock(NOW);
/** Number of views that were built. */
let built = 0;
/** Number of writes of pages whose notification has arrived. */
let writesSeen = 0;

const world = await stopAfterAll(startPageWorld({ overrides: { clock } }));
const owner = await world.owner();
const { sql, notifications } = world.app;
const real = createHistory({
  timers: liveTimers,
  sql,
  clock,
  log: pino({ level: "silent" }),
  retentionMs: 90 * DAY_MS,
  maintenanceBetween: coveredBetween,
});
const history: Pick<History, "days" | "lastResponses" | "hourlyLatency"> = {
  hourlyLatency: (ids) => real.hourlyLatency(ids),
  lastResponses: (monitors) => real.lastResponses(monitors),
  days(monitors, count) {
    built += 1;
    return real.days(monitors, count);
  },
};
const pages = createStatusPages({
  timers: liveTimers,
  sql,
  clock,
  random: systemRandom,
  log: pino({ level: "silent" }),
  history,
  notifications,
  baseUrl: "https://vantage.example.net",
  canSubscribe: false,
});
await pages.start();
// A write of a page sends this as its last notification.
onPageChanges(notifications, {
  accountChanged: () => {},
  addressesChanged: () => void (writesSeen += 1),
  reset: () => {},
});
afterAll(async () => {
  pages.close();
});

/** Creates a page. */
async function createPage(slug: string, more: object = {}): Promise<number> {
  const before = writesSeen;
  const answer = await world.post(owner, { title: "Shop", slug, ...more });
  expect(answer.status, answer.text).toBe(201);
  const { id } = answer.body.data as { readonly id: number };
  // The notification of the creation must not drop what the test reads next.
  await expect.poll(() => writesSeen).toBeGreaterThan(before);
  return id;
}

describe("a view", () => {
  it("has 90 days of each monitor with their uptime, and that of all of them", async () => {
    const monitor = await world.addMonitor(owner, { createdAt: new Date(TODAY - 3 * DAY_MS) });
    const changes = [
      { at: new Date(TODAY - 2 * DAY_MS), status: "up" },
      { at: new Date(TODAY - 2 * DAY_MS + 6 * HOUR_MS), status: "down" },
      { at: new Date(TODAY - DAY_MS), status: "up" },
    ] as const;
    await transact(world.app.sql, (tx) =>
      addStatusChanges(
        tx,
        changes.map((change) => ({ monitorId: monitor, ...change })),
        clock.now(),
      ),
    );
    await createPage("with-bars", { monitors: [{ id: monitor }] });
    const view = await pages.view("with-bars", null);
    const shown = view?.groups[0]?.monitors[0];
    expect(shown?.days).toHaveLength(90);
    expect(shown?.days[0]?.day).toBe("2026-02-10");
    expect(shown?.days.slice(-4)).toEqual([
      { day: "2026-05-07", uptime: null, downSeconds: 0, maintenanceSeconds: 0 },
      { day: "2026-05-08", uptime: 25, downSeconds: 18 * 3_600, maintenanceSeconds: 0 },
      { day: "2026-05-09", uptime: 100, downSeconds: 0, maintenanceSeconds: 0 },
      { day: "2026-05-10", uptime: 100, downSeconds: 0, maintenanceSeconds: 0 },
    ]);
    // 42 of 60 known hours.
    expect(shown?.uptime90).toBe(70);
  });

  it("leaves maintenance out of the uptime of a day and of all days", async () => {
    const monitor = await world.addMonitor(owner, { createdAt: new Date(TODAY - 3 * DAY_MS) });
    const change = { monitorId: monitor, at: new Date(TODAY - DAY_MS), status: "up" } as const;
    await transact(world.app.sql, (tx) => addStatusChanges(tx, [change], clock.now()));
    const times = {
      starts_at: new Date(NOW.getTime() + HOUR_MS).toISOString(),
      ends_at: new Date(NOW.getTime() + 2 * HOUR_MS).toISOString(),
    };
    const planned = await world.call("/api/v4/maintenance", {
      key: owner.key,
      body: { title: "Disks", monitor_ids: [monitor], ...times },
    });
    expect(planned.status, planned.text).toBe(201);
    await world.app.sql`
      insert into maintenance_occurrences (maintenance_id, scope_id, account_id, starts_at, covers_from, ends_at)
      select m.id, s.id, m.account_id, ${new Date(TODAY - DAY_MS)}::timestamptz, ${new Date(TODAY - DAY_MS)}::timestamptz,
        ${new Date(TODAY - DAY_MS + 6 * HOUR_MS)}::timestamptz
      from maintenance as m join maintenance_scopes as s on s.maintenance_id = m.id
      where m.id = ${(planned.body.data as { id: number }).id}`;
    await createPage("with-maintenance", { monitors: [{ id: monitor }] });
    const shown = (await pages.view("with-maintenance", null))?.groups[0]?.monitors[0];
    expect(shown?.days.at(-2)).toEqual({
      day: "2026-05-09",
      uptime: 100,
      downSeconds: 0,
      maintenanceSeconds: 6 * 3_600,
    });
    expect(shown?.uptime90).toBe(100);
  });

  it("groups monitors, and leaves empty groups out", async () => {
    const [a, b, c] = [await world.addMonitor(owner), await world.addMonitor(owner), await world.addMonitor(owner)];
    await createPage("with-groups", {
      monitors: [{ id: a }, { id: b, name: "Bee" }, { id: c }],
      groups: [
        { name: "Empty", monitor_ids: [] },
        { name: "Letters", monitor_ids: [c, a] },
      ],
    });
    const view = await pages.view("with-groups", null);
    expect(view?.groups.map(({ name, monitors }) => [name, monitors.map(({ id }) => id)])).toEqual([
      [null, [b]],
      ["Letters", [c, a]],
    ]);
    expect(view).toMatchObject({
      url: "https://vantage.example.net/status/with-groups",
      canSubscribe: false,
      generatedAt: NOW,
    });
  });

  it("is built once for all who ask at the same time, and again after 10 s", async () => {
    await createPage("asked-often");
    clock.advance(10_000);
    const before = built;
    const views = await Promise.all(Array.from({ length: 50 }, () => pages.view("asked-often", null)));
    expect(new Set(views).size).toBe(1);
    expect(built - before).toBe(1);
    await pages.view("asked-often", null);
    expect(built - before).toBe(1);
    clock.advance(10_000);
    await pages.view("asked-often", null);
    expect(built - before).toBe(2);
  });

  it("is read while more visitors than can wait ask for pages that do not exist; they are refused", async () => {
    await createPage("asked-in-a-flood");
    await pages.view("asked-in-a-flood", null);
    clock.advance(10_000);
    const asked = Array.from({ length: 1_200 }, (_, index) => pages.view(`absent-${index}`, null));
    const settled = Promise.allSettled(asked);
    expect(await pages.view("asked-in-a-flood", null)).toMatchObject({ slug: "asked-in-a-flood" });
    const refused = (await settled).flatMap((one) => (one.status === "rejected" ? [one.reason as unknown] : []));
    expect(refused.length).toBeGreaterThanOrEqual(196);
    expect(refused.length).toBeLessThan(200);
    expect(refused.every(isDatabaseAway)).toBe(true);
  });

  it("belongs to its account if it is not public", async () => {
    await createPage("kept-private", { is_public: false });
    expect(await pages.view("kept-private", null)).toBeNull();
    expect(await pages.view("kept-private", owner.accountId + 1)).toBeNull();
    expect(await pages.view("kept-private", owner.accountId)).toMatchObject({ slug: "kept-private" });
  });

  it("costs somebody who may not see it what an absent page costs: it is not built", async () => {
    await createPage("private-and-slow", { is_public: false });
    const before = built;
    expect(await pages.view("private-and-slow", null)).toBeNull();
    expect(await pages.view("private-and-slow", owner.accountId + 1)).toBeNull();
    expect(await pages.subscribable("private-and-slow")).toBeNull();
    expect(built - before).toBe(0);
  });

  it("is not rebuilt for a change of another account", async () => {
    await createPage("undisturbed");
    await pages.view("undisturbed", null);
    const before = built;
    const other = await world.owner();
    const writesBefore = writesSeen;
    await world.post(other, { title: "Other", slug: "other-page" });
    await expect.poll(() => writesSeen).toBeGreaterThan(writesBefore);
    await pages.view("undisturbed", null);
    expect(built - before).toBe(0);
    expect(await pages.view("other-page", null)).toMatchObject({ slug: "other-page" });
  });
});

describe("a domain", () => {
  it("leads to its page once it is verified, whatever the case, the port and a final dot", async () => {
    const id = await createPage("with-domain", { domain: "status.example.com" });
    const url = async () => (await pages.view("with-domain", null))?.url;
    expect(await url()).toBe("https://vantage.example.net/status/with-domain");
    expect(pages.slugOfDomain("status.example.com")).toBeNull();
    await markVerified(world.app.sql, "status.example.com");
    await expect.poll(() => pages.slugOfDomain("status.example.com")).toBe("with-domain");
    await expect.poll(url).toBe("https://status.example.com");
    for (const host of ["STATUS.example.COM:8443", "status.example.com."]) {
      expect(pages.slugOfDomain(host), host).toBe("with-domain");
    }
    const others = ["example.com", "vantage.example.net", "localhost:8080", "[::1]:80", "", "a".repeat(300), "\0.com"];
    for (const host of others) expect(pages.slugOfDomain(host), host).toBeNull();
    await world.put(owner, id, { slug: "moved-domain" });
    await expect.poll(() => pages.slugOfDomain("status.example.com")).toBe("moved-domain");
    await world.put(owner, id, { domain: "new.example.com" });
    await expect.poll(() => pages.slugOfDomain("status.example.com")).toBeNull();
    expect(pages.slugOfDomain("new.example.com")).toBeNull();
  });
});

// Last, because it rolls up the history of all monitors.
describe("a page with graphs", () => {
  it("has the response times of the last whole hours of all locations, on a page that shows them", async () => {
    const monitor = await world.addMonitor(owner, { createdAt: new Date(TODAY - DAY_MS) });
    const at = new Date(TODAY + 9 * HOUR_MS);
    await world.app.sql`
      insert into checks (monitor_id, checked_at, location, status, response_ms, lag_ms, is_recheck, missed)
      select ${monitor}, ${at}, location, 1, ms, 0, false, 0
      from (values ('eu-west', 20), ('us-east', 30), ('ap-south', 60)) as seen (location, ms)`;
    // The progress of the roll-up is read every 5 s.
    clock.advance(6_000);
    while ((await rollUpHours(world.app.sql, clock.now(), 100)) === "moved");
    await createPage("without-graph", { monitors: [{ id: monitor }] });
    expect((await pages.view("without-graph", null))?.responses).toBeNull();
    await createPage("with-graph", { monitors: [{ id: monitor }], response_graph: true });
    const responses = (await pages.view("with-graph", null))?.responses;
    expect(responses).toMatchObject({ from: NOW.getTime() - DAY_MS, to: NOW.getTime(), stepMs: HOUR_MS });
    expect(responses?.series.get(monitor)?.points).toEqual([{ at, p50: 30, p95: 60, p99: 60 }]);
    expect(JSON.stringify([...(responses?.series ?? [])])).not.toMatch(/eu-west|us-east|ap-south/);
  });
});
