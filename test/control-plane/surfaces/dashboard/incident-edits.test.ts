import { describe, expect, it } from "vitest";
import { transact } from "#control-plane/core/database/transaction.ts";
import { after, insertMonitor, openOutage, refusedAt } from "#test/control-plane/outages/incidents/database.ts";
import { createManualClock } from "#test/support/clock.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { createAccountKey, signInOwner, type Browser } from "#test/support/dashboard.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(1)>';
const OWNER = "owner@example.com";

const clock = createManualClock(new Date("2026-11-27T20:00:00Z"));

const plane = await stopAfterAll(startControlPlane({ overrides: { clock } }));
const { browser: owner, accountId } = await signInOwner(plane, OWNER);

/** Creates a monitor, which views show from now on: they read the monitors of an account every 5 s. */
async function createMonitor(name: string, of = accountId) {
  const monitor = await insertMonitor(plane.app.sql, of, name);
  clock.advance(6_000);
  return monitor;
}

/** Opens the incident of an outage of a new monitor, which began some seconds after the others. */
async function openOne(name: string, { seconds = 0, of = accountId } = {}) {
  const { sql } = plane.app;
  const monitor = await createMonitor(name, of);
  const outage = {
    monitor,
    startedAt: after(seconds),
    confirmedAt: after(seconds + 5),
    failing: refusedAt("eu-west"),
    suppressedBy: null,
  };
  const { incident } = await transact(sql, (tx) => openOutage(tx, outage));
  return { monitor, id: incident.id, path: `/app/incidents/${incident.id}` };
}

/** Opens an incident by the form. Returns its path. */
async function openByForm(browser: Browser, fields: Record<string, string | readonly string[]>): Promise<string> {
  const opened = await browser.post("/app/incidents/new", {
    title: "Payments are delayed",
    text: "We look into it.",
    status: "investigating",
    impact: "minor",
    ...fields,
  });
  expect([opened.status, opened.html]).toEqual([303, ""]);
  return (opened.location ?? "").replace("?done=incident_opened", "");
}

const idIn = (path: string) => Number(path.split("/").at(-1));

const key = await createAccountKey(plane, accountId);
const read = async (id: number) => (await plane.call(`/api/v4/incidents?id=${id}`, { key })).body.data as ShownIncident;

interface ShownIncident {
  readonly page_ids: readonly number[];
  readonly timeline: readonly { readonly by: string | null; readonly text: string }[];
}

describe("an incident that is edited or published", () => {
  it("has its title and impact changed, and what was typed is kept if that is refused; an outage has no such form", async () => {
    const monitor = await createMonitor("Edited");
    const path = await openByForm(owner, { monitor_ids: [String(monitor.id)] });
    const typed = { title: "  Payments fail  ", impact: "critical" };
    expect((await owner.post(`${path}/edit`, typed)).location).toBe(`${path}?done=incident_edited`);
    expect(await read(idIn(path))).toMatchObject({ title: "Payments fail", impact: "critical" });
    const page = await owner.get(path);
    expect(page.html).toMatch(/name="title"[^>]*value="Payments fail"/);
    expect(page.html).toMatch(/value="critical" selected/);
    const refused = await owner.post(`${path}/edit`, { title: `${HOSTILE}${"x".repeat(200)}`, impact: "none" });
    expect([refused.status, refused.html.includes('id="p-title"')]).toEqual([400, true]);
    expect(refused.html).toMatch(/value="none" selected/);
    expect(refused.html).not.toMatch(/<img src=x/);
    const unknown = await owner.post(`${path}/edit`, { title: "Payments fail", impact: "huge" });
    expect([unknown.status, unknown.html.includes('id="p-impact"')]).toEqual([400, true]);
    const outage = await openOne("Automatic");
    expect((await owner.get(outage.path)).html).not.toContain(`${outage.path}/edit`);
  });

  it("is published on the pages that are chosen; those of its monitors are named and not asked for", async () => {
    const { path, monitor, id } = await openOne("Chosen");
    const page = async (slug: string, monitors: readonly number[]) =>
      plane.app.sql<{ id: number }[]>`
        with made as (
          insert into status_pages (account_id, slug, title, is_public, domain_token, group_names, created_at, updated_at)
          values (${accountId}, ${slug}, ${slug}, true, 'x', '{}', now(), now()) returning id
        ), shown as (
          insert into status_page_monitors (page_id, monitor_id, position)
          select made.id, monitor, 0 from made, unnest(${[...monitors]}::bigint[]) as monitor
        ) select id from made`;
    const [own] = await page("chosen-own", [monitor.id]);
    const [free] = await page("chosen-free", []);
    const [gone] = [{ id: 999_999 }];
    await plane.app
      .sql`update incidents set page_ids = array[${own?.id ?? 0}, ${gone?.id ?? 0}]::bigint[] where id = ${id}`;
    const { html } = await owner.get(path);
    expect(html).toMatch(/show it in any case: <bdi>chosen-own<\/bdi>/);
    expect(html).toMatch(new RegExp(`type="checkbox"[^>]*name="page_ids" value="${free?.id}">`));
    const named = Array.from(html.matchAll(/type="hidden" name="page_ids" value="(\d+)"/g), ([, value]) =>
      Number(value),
    );
    expect(named).toEqual([own?.id, gone?.id]);
    const pageIds = async () => (await read(id)).page_ids;
    const update = { status: "identified", text: "We know the cause.", public: "yes", pages: "shown" };
    const chosen = [...named, free?.id ?? 0].map(String);
    expect((await owner.post(`${path}/publish`, { ...update, page_ids: chosen })).status).toBe(303);
    expect(await pageIds()).toEqual([...named, free?.id]);
    const entries = (await read(id)).timeline.filter(({ by }) => by !== null);
    expect(entries).toMatchObject([{ text: "Status pages changed" }, { text: "identified: We know the cause." }]);
    const shown = await owner.get(path);
    expect(shown.html).toMatch(new RegExp(`name="page_ids" value="${free?.id}" checked`));
    // Forms without the choice leave the pages as they are.
    const { pages: _pages, ...plain } = update;
    expect((await owner.post(`${path}/publish`, plain)).status).toBe(303);
    expect(await pageIds()).toEqual([...named, free?.id]);
    const foreign = await owner.post(`${path}/publish`, { ...update, page_ids: ["424242"] });
    expect([foreign.status, foreign.html.includes('id="p-page_ids">No status page has the id 424242')]).toEqual([
      404,
      true,
    ]);
    expect(await pageIds()).toEqual([...named, free?.id]);
    const alone = await openByForm(owner, { page_ids: [String(free?.id)] });
    const none = await owner.post(`${alone}/publish`, update);
    expect([none.status, none.html.includes('id="p-page_ids"')]).toEqual([400, true]);
    expect(none.html).toContain("We know the cause.</textarea>");
  });
});
