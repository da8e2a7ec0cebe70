import { Value } from "typebox/value";
import type { Static } from "typebox";
import { describe, expect, it } from "vitest";
import { transact } from "#control-plane/core/database/transaction.ts";
import { openOutages } from "#control-plane/outages/incidents/outages/open.ts";
import { OLD_PUBLIC_PAGE, PUBLIC_PAGE } from "#control-plane/public/status-pages/public-json.ts";
import { errorOf, startPageWorld, URL } from "#test/control-plane/public/status-pages/world.ts";
import { ago } from "#test/support/ago.ts";
import { createManualClock } from "#test/support/clock.ts";
import type { Answer } from "#test/support/control-plane.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

type Shown = Static<typeof PUBLIC_PAGE>;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const world = await stopAfterAll(startPageWorld());
const owner = await world.owner();
const stranger = await world.owner();

const shown = ({ body }: Answer): Shown => body.data;
const seen = async (slug: string) => shown(await world.visit(slug));

const createPage = (more: object = {}) => world.createPage(owner, more);
const createSimple = (more: object = {}) => world.createSimple(owner, more);

/** Opens the incident of an outage. */
async function openOutage(id: number, name: string): Promise<number> {
  const settings = { timeout_seconds: 15, port: null, locations: ["eu-west"] };
  const fault = { stage: "connect", source: "target", reason: "refused", message: "refused" } as const;
  const opened = await transact(world.app.sql, (tx) =>
    openOutages(tx, [
      {
        monitor: {
          id,
          accountId: owner.accountId,
          name,
          url: "https://shop.example.com/",
          checkType: "http",
          settings,
        },
        startedAt: ago(120_000),
        confirmedAt: ago(60_000),
        failing: [{ location: "eu-west", fault }],
        suppressedBy: null,
      },
    ]),
  );
  return opened[0]?.incident.id ?? 0;
}

describe("a public page", () => {
  it("has the documented shape, in both versions and under both names, without a key", async () => {
    const { slug, monitor } = await createSimple({ description: "About" });
    await openOutage(monitor, "shop-internal-7");
    const { body, headers } = await world.visit(slug);
    expect(Value.Errors(PUBLIC_PAGE, body.data)).toEqual([]);
    expect(body.data).toMatchObject({
      title: "Shop",
      slug,
      overall_status: "operational",
      monitors_total: 1,
      monitors_down: 0,
      monitors: [{ id: monitor, name: "Shop", status: "up", response_time_ms: null }],
      description: "About",
      maintenance: [],
      stale: null,
    });
    expect(headers.get("cache-control")).toBe("public, max-age=10");
    expect((await world.call(`/api/v4/status.php?slug=${slug}`)).body.data).toEqual(body.data);
    const { description: _d, maintenance: _m, stale: _s, ...frozen } = body.data as Shown;
    const old = await world.call(`/api/v3/status.php?slug=${slug}`);
    expect(old.body).toMatchObject({ data: frozen, meta: { api_version: "3.0" } });
    expect(Object.keys(old.body.data)).toEqual(Object.keys(OLD_PUBLIC_PAGE.properties));
  });

  it("answers 304 for its ETag until something changes", async () => {
    const { slug, id } = await createSimple();
    const etag = (await world.visit(slug)).headers.get("etag") ?? "";
    expect(etag).toMatch(/^W\/"[\w-]+"$/);
    const again = async () => (await world.visit(slug, { headers: { "if-none-match": etag } })).status;
    expect(await again()).toBe(304);
    await world.put(owner, id, { title: "Changed" });
    await expect.poll(again).toBe(200);
  });

  it("is shown to holders of any key, and of none that is valid", async () => {
    const { slug } = await createSimple();
    for (const key of [owner.key, stranger.key, "vtg_wrong"]) {
      const { status, headers } = await world.visit(slug, { key });
      expect([status, headers.get("cache-control")]).toEqual([200, "public, max-age=10"]);
    }
  });

  it("is limited by address", async () => {
    const { slug } = await createSimple();
    // A replica whose minute does not end.
    const clock = createManualClock(new Date());
    const replica = await startPageWorld({ databaseUrl: world.databaseUrl, overrides: { clock } });
    const visit = (address: string) => replica.call(`${URL}?slug=${slug}`, { headers: { "x-forwarded-for": address } });
    for (let count = 0; count < 60; count += 1) expect((await visit("198.51.100.7")).status).toBe(200);
    const refused = await visit("198.51.100.7");
    expect(errorOf(refused).slice(0, 2)).toEqual([429, "rate_limit_exceeded"]);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    expect((await visit("198.51.100.8")).status).toBe(200);
    await replica.stop();
  });

  it("is absent under any other slug", async () => {
    for (const slug of ["nobody-has-this", "NOBODY", "../etc/passwd", "'; drop table status_pages; --"]) {
      expect(errorOf(await world.visit(slug)).slice(0, 2), slug).toEqual([404, "not_found"]);
    }
    expect(errorOf(await world.visit("a\0b")).slice(0, 3)).toEqual([400, "missing_parameter", "slug"]);
    expect(errorOf(await world.visit("")).slice(0, 3)).toEqual([400, "missing_parameter", "slug"]);
  });
});

describe("a page that is not public", () => {
  it("is found with a key of its account only, in the same words as an absent one", async () => {
    const { slug } = await createSimple({ is_public: false });
    const error = (answer: Answer) => [answer.status, answer.body.error, answer.headers.get("cache-control")];
    const absent = error(await world.visit("nobody-has-this"));
    expect(absent[0]).toBe(404);
    expect(error(await world.visit(slug))).toEqual(absent);
    expect(error(await world.visit(slug, { key: stranger.key }))).toEqual(absent);
    expect(error(await world.visit(slug, { key: "vtg_wrong" }))).toEqual(absent);
    const own = await world.visit(slug, { key: owner.key });
    expect([own.status, own.headers.get("cache-control")]).toEqual([200, "private, max-age=10"]);
    expect((await world.call(`/api/v3/status?slug=${slug}&api_key=${owner.key}`)).status).toBe(200);
    expect((await world.call(`/api/v4/status?slug=${slug}&api_key=${owner.key}`)).status).toBe(404);
  });
});

describe("the monitors of a page", () => {
  it("have the statuses that visitors understand, ungrouped ones first", async () => {
    const down = await world.addMonitor(owner, { state: { status: "down" } });
    const slow = await world.addMonitor(owner, { state: { status: "up", isDegraded: true } });
    const paused = await world.addMonitor(owner, { isActive: false, state: { status: "up" } });
    const fresh = await world.addMonitor(owner, { state: { status: "unknown" }, checkedAt: null });
    const monitors = [down, slow, paused, fresh].map((id) => ({ id }));
    const { slug } = await createPage({ monitors, groups: [{ name: "Later", monitor_ids: [down] }] });
    const page = await seen(slug);
    expect(page.monitors.map(({ id, status }) => [id, status])).toEqual([
      [slow, "degraded"],
      [paused, "unknown"],
      [fresh, "unknown"],
      [down, "down"],
    ]);
    expect(page).toMatchObject({ overall_status: "partial_outage", monitors_total: 4, monitors_down: 1 });
  });

  it("of a page whose monitors are all paused are unknown as a whole", async () => {
    const paused = await world.addMonitor(owner, { isActive: false, state: { status: "up" } });
    const { slug } = await createPage({ monitors: [{ id: paused }] });
    expect(await seen(slug)).toMatchObject({ overall_status: "unknown", stale: null });
    expect(await seen((await createPage()).slug)).toMatchObject({ overall_status: "unknown", monitors: [] });
  });

  it("show the response time of the newest successful check", async () => {
    const checkedAt = new Date();
    const monitor = await world.addMonitor(owner, { checkedAt });
    const add = (at: Date, status: number, responseMs: number | null) => world.app.sql`
      insert into checks (monitor_id, checked_at, location, status, response_ms, lag_ms, missed, is_recheck)
      values (${monitor}, ${at}, 'eu-west', ${status}, ${responseMs}, 0, 0, false)`;
    await add(new Date(checkedAt.getTime() - 30 * 60_000), 1, 111);
    await add(new Date(checkedAt.getTime() - 20 * 60_000), 4, 222);
    await add(checkedAt, 2, 333);
    const { slug } = await createPage({ monitors: [{ id: monitor }] });
    expect((await seen(slug)).monitors[0]?.response_time_ms).toBe(222);
  });

  it("make the page stale when the newest check is too old", async () => {
    const checkedAt = ago(136_000);
    const monitor = await world.addMonitor(owner, { checkedAt });
    const { slug, id } = await createPage({ monitors: [{ id: monitor }] });
    expect((await seen(slug)).stale).toEqual({ at: checkedAt.toISOString() });
    const fresh = await world.addMonitor(owner);
    await world.put(owner, id, { monitors: [{ id: monitor }, { id: fresh }] });
    await expect.poll(async () => (await seen(slug)).stale).toBeNull();
  });
});

describe("the incidents of a page", () => {
  it("are those of its monitors and those that name it, public ones only, with their public updates", async () => {
    const { slug, id, monitor } = await createSimple({ auto_incidents_after_minutes: 1 });
    const elsewhere = await world.addMonitor(owner);
    const open = async (body: object) =>
      (await world.call("/api/v4/incidents", { key: owner.key, body: { text: "We look into it.", ...body } })).body
        .data as { readonly id: number };
    const outage = await openOutage(monitor, "shop-internal-7");
    const named = await open({ title: "Payments are delayed", page_ids: [id] });
    const both = await open({ title: "Both", monitor_ids: [monitor, elsewhere], impact: "critical" });
    await open({ title: "Hidden", monitor_ids: [monitor], public: false });
    await open({ title: "Elsewhere", monitor_ids: [elsewhere] });
    const change = (update: object) =>
      world.call(`/api/v4/incidents?id=${named.id}`, { method: "PUT", key: owner.key, body: update });
    await change({ note: "Do not tell", update: { text: "Internal", public: false } });
    await change({ update: { text: "Line 1\nLine 2", status: "identified" } });
    const { recent_incidents: incidents } = await seen(slug);
    expect(incidents.map((incident) => incident.id)).toEqual([both.id, named.id, outage]);
    expect(incidents[1]).toMatchObject({
      title: "Payments are delayed",
      status: "identified",
      impact: "minor",
      resolved_at: null,
      monitor_ids: [],
      regions: [],
      cause: null,
      updates: [
        { status: "identified", text: "Line 1\nLine 2" },
        { status: "investigating", text: "We look into it." },
      ],
    });
    expect(incidents[0]?.monitor_ids).toEqual([monitor]);
    const words = { cause: "The service does not answer", regions: [] };
    expect(incidents[2]).toMatchObject({ title: "Shop is down", impact: "major", ...words });
    expect(incidents[2]?.duration_seconds).toBeGreaterThanOrEqual(120);
    expect(JSON.stringify(incidents)).not.toMatch(/internal|Do not tell/i);
  });

  it("have the causes and locations of outages if the page shows them", async () => {
    const { slug, id, monitor } = await createSimple({ auto_incidents_after_minutes: 0, show_causes: true });
    await openOutage(monitor, "shop-internal-7");
    const cause = "Connection refused from eu-west (port 443)";
    expect((await seen(slug)).recent_incidents).toMatchObject([{ cause, regions: ["eu-west"] }]);
    await world.put(owner, id, { show_causes: false });
    const becomes = async () => (await seen(slug)).recent_incidents[0];
    await expect.poll(becomes).toMatchObject({ cause: "The service does not answer", regions: [] });
  });

  it("have outages from the minutes of the page on, or when somebody writes about them", async () => {
    const { slug, id, monitor } = await createSimple();
    const outage = await openOutage(monitor, "shop-internal-7");
    expect((await seen(slug)).recent_incidents).toEqual([]);
    const becomes = async () => (await seen(slug)).recent_incidents.map((incident) => incident.id);
    await world.put(owner, id, { auto_incidents_after_minutes: 1 });
    await expect.poll(becomes).toEqual([outage]);
    await world.put(owner, id, { auto_incidents: false });
    await expect.poll(becomes).toEqual([]);
    const change = { update: { text: "We look into it.", status: "identified" } };
    await world.call(`/api/v4/incidents?id=${outage}`, { method: "PUT", key: owner.key, body: change });
    await expect.poll(becomes).toEqual([outage]);
  });

  it("have no outage of a monitor in maintenance", async () => {
    const { slug, monitor } = await createSimple({ auto_incidents_after_minutes: 0 });
    const outage = await openOutage(monitor, "shop-internal-7");
    expect((await seen(slug)).recent_incidents.map((incident) => incident.id)).toEqual([outage]);
    const times = { starts_at: ago(HOUR_MS).toISOString(), ends_at: new Date(Date.now() + HOUR_MS).toISOString() };
    const body = { title: "Updates", monitor_ids: [monitor], ...times };
    expect((await world.call("/api/v4/maintenance", { key: owner.key, body })).status).toBe(201);
    await expect.poll(async () => (await seen(slug)).recent_incidents).toEqual([]);
    expect((await seen(slug)).monitors).toMatchObject([{ status: "maintenance" }]);
  });

  /** Stores an incident of a page whose title is its start. */
  const add = (page: number, startedAt: Date, resolvedAt: Date | null, impact = "minor") => world.app.sql`
    insert into incidents (account_id, monitor_ids, page_ids, title, status, impact, is_public, started_at,
      confirmed_at, resolved_at, locations, entry_count)
    values (${owner.accountId}, '{}', ${[page]}::bigint[], ${startedAt.toISOString()},
      ${resolvedAt === null ? "investigating" : "resolved"}, ${impact}, true, ${startedAt}, ${startedAt}, ${resolvedAt},
      '[]', 0)`;

  it("end with 14 days and with 20, except one that is open", async () => {
    const { slug, id } = await createSimple();
    const old = ago(100 * DAY_MS);
    await add(id, old, null);
    await add(id, ago(16 * DAY_MS), ago(15 * DAY_MS));
    await add(id, ago(16 * DAY_MS), ago(13 * DAY_MS));
    for (let hours = 1; hours <= 25; hours += 1) await add(id, ago(hours * HOUR_MS), ago(hours * HOUR_MS - 60_000));
    const { recent_incidents: incidents } = await seen(slug);
    expect(incidents).toHaveLength(20);
    expect(incidents.at(-1)?.title).toBe(old.toISOString());
    const starts = incidents.map((incident) => incident.started_at);
    expect(starts).toEqual(starts.toSorted().toReversed());
  });

  it("are the 20 newest of those that are open if there are more, and none that has ended", async () => {
    const { slug, id } = await createSimple();
    const starts = Array.from({ length: 25 }, (_, index) => ago((index + 2) * HOUR_MS));
    for (const start of starts) await add(id, start, null);
    await add(id, ago(HOUR_MS), ago(HOUR_MS / 2));
    const { recent_incidents: incidents } = await seen(slug);
    expect(incidents.map(({ started_at: at }) => at)).toEqual(starts.slice(0, 20).map((start) => start.toISOString()));
  });

  it("can be planned work, in every form of the page", async () => {
    const { slug, monitor } = await createSimple();
    const body = { title: "Move to new racks", text: "As planned.", monitor_ids: [monitor], impact: "maintenance" };
    expect((await world.call("/api/v4/incidents", { key: owner.key, body })).status).toBe(201);
    expect((await seen(slug)).recent_incidents[0]).toMatchObject({ impact: "maintenance" });
    const read = async (path: string) => (await world.call(`/status/${slug}${path}`)).text;
    expect(JSON.parse(await read("/summary.json"))).toMatchObject({ incidents: [{ impact: "maintenance" }] });
    expect(await read("")).toMatch(/Maintenance,\sless\sthan\s1\smin\sso\sfar/);
    for (const feed of ["/feed.rss", "/feed.atom", "/feed.json"]) {
      expect(await read(feed)).toContain("Investigating. Maintenance.");
    }
  });

  it("cannot name a page of another account", async () => {
    const { id } = await createSimple();
    const body = { title: "Mine", text: "Now.", page_ids: [id] };
    expect((await world.call("/api/v4/incidents", { key: stranger.key, body })).status).toBe(404);
  });
});

describe("the maintenance of a page", () => {
  const post = (body: object) => world.call("/api/v4/maintenance", { key: owner.key, body: { public: true, ...body } });
  const later = (ms: number) => new Date(Date.now() + ms).toISOString();

  it("hides what its monitors report, by id or by tag, and is listed if it is public", async () => {
    const tagged = await world.addMonitor(owner, { tags: ["covered"], state: { status: "down" } });
    const plain = await world.addMonitor(owner);
    const monitors = [{ id: tagged }, { id: plain }];
    const { slug } = await createPage({ monitors });
    expect((await seen(slug)).overall_status).toBe("partial_outage");
    const times = { starts_at: ago(60_000).toISOString(), ends_at: later(HOUR_MS) };
    await post({ title: "Now", tags: ["covered"], ...times });
    await post({ title: "Soon", monitor_ids: [plain], starts_at: later(DAY_MS), duration_seconds: 600 });
    await post({ title: "Too late", monitor_ids: [plain], starts_at: later(15 * DAY_MS), duration_seconds: 600 });
    await post({ title: "Secret", monitor_ids: [plain], ...times, starts_at: later(HOUR_MS / 2), public: false });
    await post({ title: "Elsewhere", monitor_ids: [await world.addMonitor(owner)], ...times });
    await expect.poll(async () => (await seen(slug)).maintenance.length).toBe(2);
    const page = await seen(slug);
    expect(page.monitors.map(({ status }) => status)).toEqual(["maintenance", "up"]);
    expect(page).toMatchObject({ overall_status: "under_maintenance", monitors_down: 0 });
    expect(page.maintenance).toMatchObject([
      { title: "Now", status: "in_progress", monitor_ids: [tagged] },
      { title: "Soon", status: "scheduled", monitor_ids: [plain] },
    ]);
  });

  it("shows the next occurrence of a repeated window, and the last one of a window that is over", async () => {
    const { slug, monitor } = await createSimple();
    const weekly = { starts_at: later(-3 * DAY_MS), duration_seconds: 600, rrule: "FREQ=WEEKLY" };
    await post({ title: "Weekly", monitor_ids: [monitor], ...weekly });
    const { body } = await post({
      title: "Over",
      monitor_ids: [monitor],
      starts_at: ago(60_000).toISOString(),
      ends_at: later(60_000),
    });
    const { id } = body.data as { readonly id: number };
    const change = { ends_at: later(1_000) };
    await world.call(`/api/v4/maintenance?id=${id}`, { method: "PUT", key: owner.key, body: change });
    await world.app.sql`update maintenance_occurrences set covers_from = ${ago(90_000)}, starts_at = ${ago(90_000)},
      ends_at = ${ago(30_000)} where maintenance_id = ${id}`;
    await expect.poll(async () => (await seen(slug)).maintenance.length).toBe(2);
    expect((await seen(slug)).maintenance).toMatchObject([
      { title: "Over", status: "completed" },
      { title: "Weekly", status: "scheduled" },
    ]);
  });
});
