import { describe, expect, it } from "vitest";
import { startPageWorld } from "#test/control-plane/public/status-pages/world.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let visitors = 0;
const world = await stopAfterAll(startPageWorld());
const owner = await world.owner();

const ago = (ms: number): Date => new Date(world.app.clock.now().getTime() - ms);
const monthOf = (time: Date): string => time.toISOString().slice(0, 7);

/** Asks from an address that nobody else has. */
function ask(path: string, key?: string) {
  visitors += 1;
  const headers = { "x-forwarded-for": `10.2.${visitors >> 8}.${visitors & 255}` };
  return world.call(path, { headers, ...(key === undefined ? {} : { key }) });
}

const statusOf = async (path: string, key?: string): Promise<number> => (await ask(path, key)).status;

/** Stores an outage of a monitor under its own name, which pages must not show. */
async function addOutage(monitor: number, startedAt: Date, resolvedAt: Date | null): Promise<number> {
  const [row] = await world.app.sql<{ id: number }[]>`
    insert into incidents (account_id, monitor_id, monitor_name, monitor_url, check_type, monitor_ids, page_ids, title,
      status, impact, is_public, started_at, confirmed_at, resolved_at, cause_code, cause_message, locations, entry_count)
    values (${owner.accountId}, ${monitor}, 'shop-internal-7', 'https://10.9.8.7/secret', 'http', ${[monitor]}::bigint[],
      '{}', 'shop-internal-7 is down', ${resolvedAt === null ? "investigating" : "resolved"}, 'major', true, ${startedAt},
      ${startedAt}, ${resolvedAt}, 'connect_refused', 'Connection refused from eu-west (10.9.8.7 port 443)',
      '[{"location":"eu-west"}]', 0)
    returning id`;
  return row?.id ?? 0;
}

/** Opens an incident by hand and returns its id. */
async function open(body: object): Promise<number> {
  const made = await world.call("/api/v4/incidents", { key: owner.key, body: { text: "We look into it.", ...body } });
  expect(made.status, made.text).toBe(201);
  return (made.body.data as { readonly id: number }).id;
}

describe("the page of an incident", () => {
  it("is linked from the status page and its feeds, and has all public updates", async () => {
    const { slug, id } = await world.createSimple(owner);
    const incident = await open({ title: "Payments are late", page_ids: [id] });
    const change = (body: object) =>
      world.call(`/api/v4/incidents?id=${incident}`, { method: "PUT", key: owner.key, body });
    for (let count = 1; count <= 25; count += 1) {
      await change({ update: { text: `Step ${count} is done.`, status: "identified" } });
    }
    await change({ note: "Do not tell", update: { text: "Internal", public: false } });
    const path = `/status/${slug}/incidents/${incident}`;
    const read = async (form: string) => (await ask(`/status/${slug}${form}`)).text;
    await expect.poll(() => read("")).toContain(`href="${path}"`);
    for (const feed of ["/feed.rss", "/feed.atom", "/feed.json", "/summary.json"])
      expect(await read(feed)).toContain(path);
    const { status, text, headers } = await ask(path);
    expect([status, headers.get("content-type"), headers.get("cache-control")]).toEqual([
      200,
      "text/html; charset=utf-8",
      "public, max-age=10",
    ]);
    for (const words of ["Payments are late", "Step 1 is done.", "Step 25 is done.", "We look into it."]) {
      expect(text).toContain(words);
    }
    expect(text).not.toMatch(/Do not tell|Internal/);
  });

  it("has an outage, however long ago, in the words of the page and without a fact of its target", async () => {
    const { slug, monitor, id } = await world.createSimple(owner);
    const outage = await addOutage(monitor, ago(300 * DAY_MS), ago(299 * DAY_MS));
    const path = `/status/${slug}/incidents/${outage}`;
    const { text } = await ask(path);
    expect(text).toContain("Shop was down");
    expect(text).toContain("The service does not answer");
    expect(text).not.toMatch(/internal|10\.9\.8\.7|secret|eu-west|443|refused/);
    await world.put(owner, id, { show_causes: true });
    await expect.poll(async () => (await ask(path)).text).toContain("Noticed from <bdi>eu-west");
  });

  it("is 404 for what the page does not show, and for what is no id", async () => {
    const { slug, monitor, id } = await world.createSimple(owner);
    const other = await world.createSimple(owner);
    const at = (incident: number | string) => `/status/${slug}/incidents/${incident}`;
    const [short, shown] = [
      await addOutage(monitor, ago(20 * DAY_MS), ago(20 * DAY_MS - 60_000)),
      await addOutage(monitor, ago(20 * DAY_MS), ago(19 * DAY_MS)),
    ];
    const hidden = await open({ title: "Hidden", monitor_ids: [monitor], public: false });
    const elsewhere = await open({ title: "Elsewhere", page_ids: [other.id] });
    expect(await statusOf(at(shown))).toBe(200);
    for (const incident of [short, hidden, elsewhere, 999_999_999, "0", "1x", "-1", "1".repeat(30)]) {
      expect(await statusOf(at(incident)), String(incident)).toBe(404);
    }
    await world.put(owner, id, { auto_incidents: false });
    await expect.poll(() => statusOf(at(shown))).toBe(404);
  });

  it("is 404 for an open outage of a monitor in maintenance, until that ends", async () => {
    const { slug, monitor } = await world.createSimple(owner);
    const outage = await addOutage(monitor, ago(HOUR_MS), null);
    const path = `/status/${slug}/incidents/${outage}`;
    expect(await statusOf(path)).toBe(200);
    const times = { starts_at: ago(HOUR_MS).toISOString(), ends_at: ago(-HOUR_MS).toISOString() };
    const body = { title: "Updates", monitor_ids: [monitor], ...times };
    expect((await world.call("/api/v4/maintenance", { key: owner.key, body })).status).toBe(201);
    await expect.poll(() => statusOf(path)).toBe(404);
  });

  it("of a page that is not public is there for a key of its account alone, as is the archive", async () => {
    const { slug, id } = await world.createSimple(owner, { is_public: false });
    const incident = await open({ title: "Ours", page_ids: [id] });
    const stranger = await world.owner();
    for (const path of [`/status/${slug}/incidents/${incident}`, `/status/${slug}/history`]) {
      const refused = await ask(path);
      expect([refused.status, await statusOf(path, stranger.key), await statusOf(path, owner.key)]).toEqual([
        404, 404, 200,
      ]);
      expect(refused.text).toBe((await ask(`/status/nothing-here${path.slice(`/status/${slug}`.length)}`)).text);
    }
  });
});

describe("the archive", () => {
  it("has the incidents and the maintenance of a month beyond the 14 days of the page", async () => {
    const { slug, monitor, id } = await world.createSimple(owner);
    // The page is as old as the archive reaches.
    await world.app.sql`update status_pages set created_at = ${ago(400 * DAY_MS)} where id = ${id}`;
    await world.put(owner, id, { title: "Old shop" });
    const start = new Date(Date.UTC(ago(60 * DAY_MS).getUTCFullYear(), ago(60 * DAY_MS).getUTCMonth(), 10));
    const later = (ms: number): Date => new Date(start.getTime() + ms);
    const outage = await addOutage(monitor, start, later(HOUR_MS));
    const times = { starts_at: ago(-HOUR_MS).toISOString(), ends_at: ago(-2 * HOUR_MS).toISOString() };
    const body = { title: "New disks", monitor_ids: [monitor], public: true, ...times };
    const planned = await world.call("/api/v4/maintenance", { key: owner.key, body });
    expect(planned.status, planned.text).toBe(201);
    // An earlier time of the same window: windows cannot be planned in the past.
    await world.app.sql`
      insert into maintenance_occurrences (maintenance_id, scope_id, account_id, starts_at, covers_from, ends_at)
      select m.id, s.id, m.account_id, ${later(2 * HOUR_MS)}::timestamptz, ${later(2 * HOUR_MS)}::timestamptz,
        ${later(3 * HOUR_MS)}::timestamptz
      from maintenance as m join maintenance_scopes as s on s.maintenance_id = m.id
      where m.id = ${(planned.body.data as { id: number }).id}`;
    const path = `/status/${slug}/history?month=${monthOf(start)}`;
    await expect.poll(async () => (await ask(path)).text).toContain("Old shop");
    const { text } = await ask(path);
    expect(text).toContain(`<a href="/status/${slug}/incidents/${outage}">Shop was down</a>`);
    expect(text).toContain("New disks");
    expect(text).not.toMatch(/internal|10\.9\.8\.7|eu-west/);
    expect((await ask(`/status/${slug}`)).text).toContain(`href="/status/${slug}/history"`);
    expect((await ask(`/status/${slug}/history`)).text).not.toContain("Shop was down");
    for (const month of ["2019-01", monthOf(ago(-40 * DAY_MS)), "x", "2026-1"]) {
      expect(await statusOf(`/status/${slug}/history?month=${month}`), month).toBe(404);
    }
  });
});
