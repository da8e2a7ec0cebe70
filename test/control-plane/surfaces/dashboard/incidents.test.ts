import { describe, expect, it } from "vitest";
import { transact } from "#control-plane/core/database/transaction.ts";
import {
  after,
  insertMonitor,
  openOutage,
  refusedAt,
  resolveOutage,
} from "#test/control-plane/outages/incidents/database.ts";
import { createManualClock } from "#test/support/clock.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import {
  createAccountKey,
  openBrowser,
  PASSWORD,
  signInOwner,
  type Browser,
  type DashboardAnswer,
} from "#test/support/dashboard.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";
import { listChanges } from "#test/support/list-changes.ts";

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

/** Lets a user with this role into the account of the owner. */
async function openMember(role: string): Promise<Browser> {
  const { body } = await plane.operate("POST", "/api/admin/invites", { account_id: accountId, role });
  const browser = openBrowser(plane);
  const path = `/invite/${(body.data as { token: string }).token}`;
  await browser.post(path, { email: `${role}-${accountId}@example.com`, password: PASSWORD });
  return browser;
}

const idsIn = ({ html }: DashboardAnswer) => Array.from(html.matchAll(/<li id="i-(\d+)"/g), ([, id]) => Number(id));
const idIn = (path: string) => Number(path.split("/").at(-1));

const key = await createAccountKey(plane, accountId);
const read = async (id: number) => (await plane.call(`/api/v4/incidents?id=${id}`, { key })).body.data as ShownIncident;

interface ShownIncident {
  readonly timeline: readonly { readonly kind: string; readonly by: string | null; readonly text: string }[];
}

/** What members and programs have written. */
const entriesOf = async (id: number) => (await read(id)).timeline.filter(({ by }) => by !== null);

describe("the list of incidents", () => {
  it("has the open ones first, the longest first of all, then the newest resolved ones; their number is in the title", async () => {
    const { browser, accountId: of } = await signInOwner(plane, "list@example.com");
    const empty = await browser.get("/app/incidents");
    expect([empty.status, empty.html.includes("No incidents yet")]).toEqual([200, true]);
    const middle = await openOne("Middle", { seconds: 100, of });
    const first = await openOne("First", { of });
    const later = await openOne("Later", { seconds: 200, of });
    const ended: number[] = [];
    for (const seconds of [10, 20]) {
      const one = await openOne(`Ended ${seconds}`, { seconds, of });
      const times = { recoveredAt: after(seconds + 60), confirmedAt: after(seconds + 61) };
      await transact(plane.app.sql, (tx) => resolveOutage(tx, one.id, times));
      ended.unshift(one.id);
    }
    const all = await browser.get("/app/incidents");
    expect(idsIn(all)).toEqual([first.id, middle.id, later.id, ...ended]);
    expect(all.html).toContain("<title>(3) Incidents - ");
    expect(all.html).toContain('data-live="10"');
    expect(all.html).toContain(`<a href="/app/monitors/${first.monitor.id}" aria-label="Monitor First">`);
    expect(all.html).toContain("Connection refused");
  });

  it("is filtered by the address: state, monitor and who has opened it", async () => {
    const { browser, accountId: of } = await signInOwner(plane, "filter@example.com");
    const [one, two] = [await openOne("One", { of }), await openOne("Two", { of })];
    const byHand = idIn(await openByForm(browser, { monitor_ids: [String(one.monitor.id)], status: "resolved" }));
    const shown = async (query: string) => idsIn(await browser.get(`/app/incidents?${query}`));
    expect(await shown("state=open")).toEqual([one.id, two.id]);
    expect(await shown("state=resolved")).toEqual([byHand]);
    expect(await shown("kind=manual")).toEqual([byHand]);
    expect(await shown("kind=automatic")).toEqual([one.id, two.id]);
    expect(await shown(`monitor=${two.monitor.id}`)).toEqual([two.id]);
    expect(await shown(`monitor=${one.monitor.id}&state=resolved&kind=manual`)).toEqual([byHand]);
    expect(await shown("state=x&kind=y&monitor=z&page=0")).toEqual([one.id, two.id, byHand]);
    const none = await browser.get(`/app/incidents?monitor=${two.monitor.id}&kind=manual`);
    expect(none.html).toContain("No incident matches.");
    expect(none.html).toContain(`<option value="${two.monitor.id}" selected>Two</option>`);
  });

  it("has 50 incidents a page, each on one of them", async () => {
    const { browser, accountId: of } = await signInOwner(plane, "pages@example.com");
    const open = [await openOne("A", { of }), await openOne("B", { seconds: 9, of })];
    await plane.app.sql`
      insert into incidents (account_id, title, status, impact, is_public, started_at, confirmed_at, resolved_at,
        locations, entry_count, monitor_ids, page_ids)
      select ${of}, 'Ended', 'resolved', 'minor', false, ${after(60)}, ${after(60)}, ${after(60)}, '[]', 0, '{}', '{}'
      from generate_series(1, 60)`;
    const first = await browser.get("/app/incidents");
    const second = await browser.get("/app/incidents?page=2");
    expect(first.html).toContain('rel="next" href="/app/incidents?page=2"');
    expect(second.html).toContain('rel="prev" href="/app/incidents"');
    expect([idsIn(first).length, idsIn(second).length]).toEqual([50, 12]);
    expect(idsIn(first).slice(0, 2)).toEqual(open.map(({ id }) => id));
    expect(new Set([...idsIn(first), ...idsIn(second)]).size).toBe(62);
  });

  it("of one monitor is where its page leads if it has more than the newest ten", async () => {
    const monitor = await createMonitor("Often");
    await plane.app.sql`
      insert into incidents (account_id, title, status, impact, is_public, started_at, confirmed_at, resolved_at,
        locations, entry_count, monitor_ids, page_ids)
      select ${accountId}, 'Ended', 'resolved', 'minor', false, ${after(60)}, ${after(60)}, ${after(60)}, '[]', 0,
        array[${monitor.id}::bigint], '{}'
      from generate_series(1, 11)`;
    const { html } = await owner.get(`/app/monitors/${monitor.id}`);
    expect(html).toContain(`<a href="/app/incidents?monitor=${monitor.id}">and 1 older one</a>`);
    expect(idsIn(await owner.get(`/app/incidents?monitor=${monitor.id}`))).toHaveLength(11);
  });
});

describe("the page of an incident", () => {
  it("has its state, its monitor, its cause, the locations with their errors and what has happened", async () => {
    const { path, monitor } = await openOne("Shop");
    const { status, html } = await owner.get(path);
    expect(status).toBe(200);
    const parts = [
      "Shop is down",
      ">Down</span>",
      `href="/app/monitors/${monitor.id}"><bdi>Shop</bdi></a>`,
      "Connection refused",
    ];
    for (const part of [
      ...parts,
      "eu-west",
      "203.0.113.9:443",
      "First failing check",
      'data-live="10"',
      "Times are in",
    ])
      expect(html).toContain(part);
  });

  it("has what was found, and what has changed since the last good check", async () => {
    const { id, path, monitor } = await openOne("Evident");
    const evidence = {
      gathered_at: "2026-03-01T12:00:04.000Z",
      failing: null,
      healthy: null,
      dns: null,
      certificate: null,
      pings: null,
      changed: [
        {
          field: "redirect_target",
          before: HOSTILE,
          after: "https://b.example/",
          last_good_at: "2026-03-01T11:59:00Z",
        },
      ],
      summary: ["the cause", "Changed: redirect target"],
      truncated: false,
    };
    await plane.app.sql`
      insert into incident_evidence (incident_id, account_id, monitor_id, host, cause_code, cause_key, confirmed_at,
        status, gathered_at, lines, body)
      values (${id}, ${accountId}, ${monitor.id}, '', 'x', 'x', ${after(5)}, 'gathered', ${after(9)}, '[]',
        ${JSON.stringify(evidence)})`;
    const { html } = await owner.get(path);
    for (const part of ["What was found", "Changed since the last good check", "https://b.example/", "&lt;script&gt;"])
      expect(html).toContain(part);
    expect(html).not.toContain("<script>");
  });

  it("shows a viewer no form", async () => {
    const viewer = await openMember("viewer");
    const { path } = await openOne("Seen");
    expect((await viewer.get("/app/incidents")).html).not.toContain("/app/incidents/new");
    const page = await viewer.get(path);
    expect([page.status, page.html.includes(`action="${path}`)]).toEqual([200, false]);
  });

  it("is acknowledged once, by the first who says so, and that can be taken back", async () => {
    const editor = await openMember("editor");
    const { id, path } = await openOne("Acknowledged");
    const first = await editor.post(`${path}/acknowledge`, { acknowledged: "yes" });
    expect([first.status, first.location]).toEqual([303, `${path}?done=incident_acknowledged`]);
    expect((await owner.post(`${path}/acknowledge`, { acknowledged: "yes" })).status).toBe(303);
    const by = `editor-${accountId}@example.com`;
    expect(await read(id)).toMatchObject({ acknowledged: { by } });
    expect((await owner.get(path)).html).toContain(`Acknowledged by ${by}`);
    expect((await owner.get("/app/incidents")).html).toContain(`acknowledged by ${by}`);
    await owner.post(`${path}/acknowledge`, { acknowledged: "no" });
    expect(await read(id)).toMatchObject({ acknowledged: null });
    expect(await entriesOf(id)).toMatchObject([
      { kind: "acknowledged", by },
      { kind: "unacknowledged", by: OWNER },
    ]);
  });

  it("gets notes of several lines, and keeps what was typed of one that is refused", async () => {
    const { id, path } = await openOne("Noted");
    expect((await owner.post(`${path}/note`, { text: "The disk is full.\r\nWe free it." })).location).toBe(
      `${path}?done=incident_noted`,
    );
    expect(await entriesOf(id)).toMatchObject([{ kind: "note", by: OWNER, text: "The disk is full.\nWe free it." }]);
    // Browsers count a line break once, and send two characters for it.
    expect((await owner.post(`${path}/note`, { text: "a\r\n".repeat(2_500) })).status).toBe(303);
    const refused = await owner.post(`${path}/note`, { text: "a\u202Eb" });
    expect(refused.status).toBe(400);
    expect(refused.html).toMatch(/class="problem" id="f-note-problem"/);
    expect(refused.html).toContain("a\u202Eb</textarea>");
    expect(refused.html).not.toContain("data-live");
  });

  it("of a monitor ends with its recovery, and not by hand", async () => {
    const { id, path } = await openOne("Lasting");
    expect((await owner.get(path)).html).not.toContain(`${path}/resolve`);
    expect((await owner.post(`${path}/resolve`)).status).toBe(400);
    const published = await owner.post(`${path}/publish`, { status: "resolved", text: "Over." });
    expect([published.status, published.html.includes('id="p-status"')]).toEqual([400, true]);
    expect(published.html).toContain("Over.</textarea>");
    expect(await read(id)).toMatchObject({ status: "investigating" });
  });
});

describe("an incident opened by hand", () => {
  it("is opened with its monitors and pages, logged as by the member, and resolved by a button", async () => {
    const monitor = await createMonitor("Checkout");
    const form = await owner.get(`/app/incidents/new?monitor=${monitor.id}`);
    expect(form.html).toMatch(new RegExp(`value="${monitor.id}" checked`));
    const path = await openByForm(owner, { monitor_ids: [String(monitor.id)], impact: "major", status: "identified" });
    const page = await owner.get(path);
    for (const part of [
      "Payments are delayed",
      ">Identified<",
      "Opened by hand.",
      "We look into it.",
      "Checkout",
      "major",
    ])
      expect(page.html).toContain(part);
    expect(await read(idIn(path))).toMatchObject({ status: "identified", public: false });
    expect((await owner.post(`${path}/resolve`)).location).toBe(`${path}?done=incident_resolved`);
    expect(await read(idIn(path))).toMatchObject({ status: "resolved" });
    expect((await owner.get(path)).html).not.toContain(`${path}/resolve`);
    const logged = await listChanges(plane, key, `subject=incident:${idIn(path)}`);
    expect(logged.map(({ action }) => action)).toEqual(["changed", "created"]);
  });

  it("names a monitor or a page, and keeps what was typed until it does", async () => {
    const refused = await owner.post("/app/incidents/new", {
      title: HOSTILE,
      text: `</textarea>${HOSTILE}`,
      status: "monitoring",
      impact: "critical",
      public: "yes",
    });
    expect(refused.status).toBe(400);
    expect(refused.html).toContain('class="problem" id="p-monitor_ids"');
    expect(refused.html).toMatch(/value="monitoring" selected/);
    expect(refused.html).toMatch(/value="critical" selected/);
    expect(refused.html).toMatch(/name="public" value="yes" checked/);
    expect(refused.html).not.toMatch(/<script>|<img src=x/);
    expect(refused.html).toContain("&lt;/textarea&gt;");
  });

  it("shows hostile titles, texts and names as text", async () => {
    const { monitor } = await openOne(HOSTILE);
    const path = await openByForm(owner, { monitor_ids: [String(monitor.id)], title: HOSTILE, text: HOSTILE });
    await owner.post(`${path}/note`, { text: HOSTILE });
    await owner.post(`${path}/publish`, { status: "identified", text: HOSTILE });
    for (const page of ["/app/incidents", `/app/incidents?monitor=${monitor.id}`, path, "/app/incidents/new"]) {
      const { status, html } = await owner.get(page);
      expect(status).toBe(200);
      expect(html).toContain("&lt;script&gt;");
      expect(html).not.toMatch(/<script>|<img src=x/);
    }
  });
});
