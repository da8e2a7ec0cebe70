import { describe, expect, it } from "vitest";
import { createManualClock } from "#test/support/clock.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { createMonitor } from "#test/support/create-monitor.ts";
import { openBrowser, PASSWORD, signInOwner, type Browser, type FormFields } from "#test/support/dashboard.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const clock = createManualClock(new Date("2026-11-27T20:00:00Z"));
const HOSTILE = '<img src=x onerror="alert(1)">';

const plane = await stopAfterAll(startControlPlane({ overrides: { clock } }));
const { browser: owner, accountId } = await signInOwner(plane);
const key = /vtg_\w{36}/.exec((await owner.post("/app/keys")).html)?.[0] ?? "";
const shop = await monitor("Shop");
const pay = await monitor("Payments");
const mail = await monitor(HOSTILE);
clock.advance(10_000);

async function monitor(name: string): Promise<number> {
  const fields = { check_type: "heartbeat", name, heartbeat: { period_seconds: 3_600 } };
  return (await createMonitor(plane, key, fields)).id;
}

async function api(path: string): Promise<unknown> {
  return (await plane.call(path, { key })).body.data;
}

/** The fields of a form that a browser would send for a page of these monitors, in their order. */
function fieldsOf(slug: string, monitors: readonly number[], more: FormFields = {}): FormFields {
  return {
    do: "save",
    title: "Example Shop",
    slug,
    is_public: "on",
    auto_incidents: "on",
    auto_incidents_after_minutes: "2",
    monitor: monitors.map(String),
    name: monitors.map(() => ""),
    place: monitors.map((_, index) => String(index + 1)),
    group: monitors.map(() => ""),
    ...more,
  };
}

async function create(slug: string, monitors: readonly number[], more: FormFields = {}): Promise<number> {
  const { status, location, html } = await owner.post("/app/status-pages/new", fieldsOf(slug, monitors, more));
  if (status !== 303) throw new Error(`the form answered ${status}: ${html}`);
  return Number(/\/(\d+)\?done=page_created$/.exec(location ?? "")?.[1]);
}

async function openMember(role: string): Promise<Browser> {
  const { body } = await plane.operate("POST", "/api/admin/invites", { account_id: accountId, role });
  const browser = openBrowser(plane);
  const path = `/invite/${(body.data as { token: string }).token}`;
  await browser.post(path, { email: `${role}@example.com`, password: PASSWORD });
  return browser;
}

async function lastChange() {
  const all = { subject: null, actor: null, from: null, to: null };
  const { rows } = await plane.app.changes.list(plane.app.sql, accountId, all, { limit: 1, offset: 0 });
  const [newest] = rows;
  return [newest?.actor.name, newest?.subject.kind, newest?.action, newest?.changed.map(({ field }) => field)];
}

describe("the form of a status page", () => {
  it("creates a page that the API shows as it was typed", async () => {
    const id = await create("typed-shop", [pay, shop, mail], {
      homepage_url: "https://www.example.com",
      description: "First line\r\nsecond line",
      footer: "",
      accent_color: "#8250DF",
      response_graph: "on",
      name: ["Cards", "", ""],
      group: ["1", "0", ""],
      group_name: ["Europe", "Asia"],
      group_place: ["1", "2"],
    });
    expect(await api(`/api/v4/status?id=${id}`)).toMatchObject({
      title: "Example Shop",
      slug: "typed-shop",
      homepage_url: "https://www.example.com/",
      description: "First line\nsecond line",
      footer: null,
      accent_color: "#8250df",
      is_public: true,
      show_causes: false,
      auto_incidents: true,
      response_graph: true,
      monitors: [
        { id: mail, name: HOSTILE },
        { id: shop, name: "Shop" },
        { id: pay, name: "Cards" },
      ],
      groups: [
        { name: "Europe", monitor_ids: [shop] },
        { name: "Asia", monitor_ids: [pay] },
      ],
    });
    expect(await lastChange()).toEqual(["owner@example.com", "status_page", "created", []]);
  });

  it("changes nothing when it is saved as it was shown, and logs nothing", async () => {
    const body = {
      title: "Example Shop",
      slug: "kept-shop",
      monitors: [{ id: pay }, { id: shop }],
      groups: [{ name: "Europe", monitor_ids: [pay] }],
    };
    const created = await plane.call("/api/v4/status", { key, body });
    const { id } = created.body.data as { id: number };
    const before = await api(`/api/v4/status?id=${id}`);
    const group = { group: ["", "0"], group_name: ["Europe"], group_place: ["1"] };
    const shown = fieldsOf("kept-shop", [shop, pay], group);
    const saved = await owner.post(`/app/status-pages/${id}`, shown);
    expect([saved.status, saved.location]).toEqual([303, `/app/status-pages/${id}?done=page_saved`]);
    expect(await api(`/api/v4/status?id=${id}`)).toEqual(before);
    expect((await lastChange()).slice(1)).toEqual(["status_page", "created", []]);
  });

  it("moves a monitor to the number that was typed, down and up, and logs that by the member", async () => {
    const id = await create("moved-shop", [shop, pay, mail]);
    const order = async () =>
      (await api(`/api/v4/status?id=${id}`)) as { readonly monitors: readonly { readonly id: number }[] };
    const ids = async () => (await order()).monitors.map((one) => one.id);
    await owner.post(`/app/status-pages/${id}`, fieldsOf("moved-shop", [shop, pay, mail], { place: ["3", "2", "3"] }));
    expect(await ids()).toEqual([pay, mail, shop]);
    expect(await lastChange()).toEqual(["owner@example.com", "status_page", "changed", ["monitors"]]);
    await owner.post(`/app/status-pages/${id}`, fieldsOf("moved-shop", [pay, mail, shop], { place: ["1", "2", "1"] }));
    expect(await ids()).toEqual([shop, pay, mail]);
  });

  it("adds, searches and removes monitors and groups without a save", async () => {
    const asked = fieldsOf("unsaved-shop", [shop, pay], { group_name: ["Europe"], group_place: ["1"] });
    const added = await owner.post("/app/status-pages/new", { ...asked, do: "add", add: [String(mail)] });
    expect(added.status).toBe(200);
    expect(added.html).toContain(`name="monitor" value="${mail}"`);
    const removed = await owner.post("/app/status-pages/new", { ...asked, do: `remove ${shop}`, new_group: "Asia" });
    expect(removed.html).not.toContain(`name="monitor" value="${shop}"`);
    expect(removed.html).toContain(`name="monitor" value="${pay}"`);
    expect(removed.html).toMatch(/name="group_name" value="Europe"[^]*name="group_name" value="Asia"/);
    const none = { ...fieldsOf("unsaved-shop", []), do: "enter", find: "paym", found: "" };
    const found = await owner.post("/app/status-pages/new", none);
    expect([found.status, found.html.includes(`value="${pay}"`), found.html.includes(`value="${shop}"`)]).toEqual([
      200,
      true,
      false,
    ]);
    expect((await plane.call("/api/v4/status?slug=unsaved-shop")).status).toBe(404);
  });

  it("shows of more monitors and groups than a page can have one too many, since each row names every group", async () => {
    const group_name = Array.from({ length: 60 }, (_, index) => `${index} ${"x".repeat(500)}`);
    const rows = Array.from({ length: 210 }, () => shop);
    const { status, html } = await owner.post("/app/status-pages/new", fieldsOf("wide-shop", rows, { group_name }));
    expect([status, html.split('name="monitor"').length - 1, html.split('name="group_name"').length - 1]).toEqual([
      400, 201, 51,
    ]);
    expect(html).not.toContain(`${"x".repeat(201)}</option>`);
  });

  it("says what the API's own parser refuses beside the field, and keeps what was typed", async () => {
    const first = await owner.post("/app/status-pages/new", fieldsOf("Not A Slug", [shop], { footer: "kept <b>" }));
    expect(first.status).toBe(400);
    expect(first.html).toMatch(/id="p-slug">Must have 3 to 60/);
    expect(first.html).toContain('value="Not A Slug"');
    expect(first.html).toContain("kept &lt;b&gt;");
    const colour = await owner.post("/app/status-pages/new", fieldsOf("bad-colour", [shop], { accent_color: "red" }));
    expect(colour.html).toMatch(/id="p-accent_color">Must be a colour such as #0969da/);
    const minutes = await owner.post(
      "/app/status-pages/new",
      fieldsOf("bad-minutes", [shop], { auto_incidents_after_minutes: "soon" }),
    );
    expect([minutes.status, minutes.html.includes('id="p-auto_incidents_after_minutes"')]).toEqual([400, true]);
    const name = { name: ["", "x".repeat(201)] };
    const component = await owner.post("/app/status-pages/new", fieldsOf("bad-component", [shop, pay], name));
    expect([component.status, component.html.includes(`id="p-c${pay}"`)]).toEqual([400, true]);
    await create("taken-shop", [shop]);
    const taken = await owner.post("/app/status-pages/new", fieldsOf("taken-shop", [shop]));
    expect([taken.status, /id="p-slug">Another status page has/.test(taken.html)]).toEqual([400, true]);
  });

  it("shows the record of the domain, and has it looked for again", async () => {
    const id = await create("own-domain", [shop], { domain: "Status.Example.com" });
    const page = (await api(`/api/v4/status?id=${id}`)) as { domain_record: { name: string; value: string } };
    const shown = await owner.get(`/app/status-pages/${id}`);
    expect(shown.html).toContain(page.domain_record.name);
    expect(shown.html).toContain(page.domain_record.value);
    expect(shown.html).toContain("waits for its record");
    const dueAt = new Date("2026-12-01T00:00:00Z");
    await plane.app.sql`update status_pages set domain_due_at = ${dueAt} where id = ${id}`;
    const asked = await owner.post(`/app/status-pages/${id}/domain`);
    expect([asked.status, asked.location]).toEqual([303, `/app/status-pages/${id}?done=domain_asked`]);
    const [row] = await plane.app.sql<{ at: Date }[]>`select domain_due_at as at from status_pages where id = ${id}`;
    expect(row?.at).not.toEqual(dueAt);

    await plane.app.sql`
      update status_pages set domain_state = 'verified', domain_due_at = null, domain_missing_since = now() where id = ${id}`;
    const warned = await owner.get(`/app/status-pages/${id}`);
    expect(warned.html).toContain("verified, but its record is missing");
    expect(warned.html).toContain("The record of status.example.com has been missing since ");
    expect(warned.html).toContain("Check again");
    expect((await owner.get("/app/status-pages")).html).toContain(
      "status.example.com: verified, but its record is missing",
    );
  });
});

describe("the preview of a status page", () => {
  it("is the page as it would be, without a save, in a frame of the dashboard alone", async () => {
    const id = await create("seen-shop", [shop]);
    const form = fieldsOf("seen-shop", [shop, pay], { title: HOSTILE, name: ["Till <i>", ""] });
    const preview = await owner.post(`/app/status-pages/${id}/preview`, form);
    expect([preview.status, preview.headers.get("content-encoding")]).toEqual([200, "gzip"]);
    expect(preview.html).toContain("&lt;img src=x onerror=&quot;alert(1)&quot;&gt;");
    expect(preview.html).toContain("Till &lt;i&gt;");
    expect(preview.html).not.toContain("<img");
    expect(preview.html).not.toContain("<script");
    const policy = preview.headers.get("content-security-policy");
    expect(policy).toContain("frame-ancestors 'self'; sandbox");
    expect(policy).not.toContain("script-src");
    expect(await api(`/api/v4/status?id=${id}`)).toMatchObject({ title: "Example Shop", monitors: [{ id: shop }] });
    const editor = await owner.get(`/app/status-pages/${id}`);
    expect(editor.headers.get("content-security-policy")).toContain("frame-src 'self'");
    expect(editor.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    expect((await owner.get("/app/status-pages")).headers.get("content-security-policy")).not.toContain("frame-src");
  });

  it("of a new page needs no saved one, and says in its frame why there is none", async () => {
    const fresh = await owner.post("/app/status-pages/new/preview", fieldsOf("fresh-shop", [pay]));
    expect([fresh.status, fresh.html.includes("Payments")]).toEqual([200, true]);
    const refused = await owner.post("/app/status-pages/new/preview", fieldsOf("x", [pay]));
    expect([refused.status, refused.html.includes("slug: must have")]).toEqual([400, true]);
    expect(refused.headers.get("content-security-policy")).toContain("frame-ancestors 'self'");
    const foreign = await owner.post("/app/status-pages/new/preview", fieldsOf("fresh-shop", [999_999]));
    expect([foreign.status, foreign.html.includes("no monitor of your account")]).toEqual([400, true]);
  });
});

describe("the list of status pages", () => {
  it("has the state, the address and the confirmed subscribers of each page, escaped", async () => {
    const id = await create("listed-shop", [mail], { title: HOSTILE, domain: "listed.example.com" });
    await plane.app.sql`
      insert into status_page_subscribers (page_id, email, asked_at, confirmed_at)
      values (${id}, 'a@example.com', now(), now()), (${id}, 'b@example.com', now(), null)`;
    const { html } = await owner.get("/app/status-pages");
    const row = html.split("<li>").find((one) => one.includes(`/app/status-pages/${id}"`)) ?? "";
    expect(row).toContain("Status unknown");
    expect(row).toContain("/status/listed-shop");
    expect(row).toContain("public, 1 subscriber<");
    expect(row).toContain("listed.example.com: waits for its record");
    expect(html).not.toContain("<img");
    expect((await owner.get(`/app/status-pages/${id}`)).html).not.toContain("<img");
    expect((await owner.get(`/app/status-pages/${id}/delete`)).html).not.toContain("<img");
  });

  it("is read by viewers, who see private pages too", async () => {
    const id = await create("private-shop", [shop], { is_public: [] });
    expect((await plane.call("/api/v4/status?slug=private-shop")).status).toBe(404);
    const viewer = await openMember("viewer");
    const list = await viewer.get("/app/status-pages");
    expect([list.status, list.html.includes("Create a page")]).toEqual([200, false]);
    expect(list.html).toContain(`href="/app/status-pages/${id}/preview"`);
    expect((await viewer.get(`/app/status-pages/${id}/preview`)).html).toContain("Example Shop");
  });
});

describe("the removal of a status page", () => {
  it("asks for its slug, and is logged", async () => {
    const id = await create("gone-shop", [shop]);
    const wrong = await owner.post(`/app/status-pages/${id}/delete`, { slug: "other-shop" });
    expect([wrong.status, wrong.html.includes("Nothing was deleted.")]).toEqual([400, true]);
    expect(await api(`/api/v4/status?id=${id}`)).toMatchObject({ slug: "gone-shop" });
    const gone = await owner.post(`/app/status-pages/${id}/delete`, { slug: "gone-shop" });
    expect([gone.status, gone.location]).toEqual([303, "/app/status-pages?done=page_deleted"]);
    expect((await owner.get(`/app/status-pages/${id}`)).status).toBe(404);
    expect(await lastChange()).toEqual(["owner@example.com", "status_page", "deleted", []]);
  });
});

describe("the subscribers of a status page", () => {
  it("are listed for owners with their state, and removed", async () => {
    const id = await create("read-shop", [shop]);
    const email = '"<b>"@example.com';
    const [row] = await plane.app.sql<{ id: number }[]>`
      insert into status_page_subscribers (page_id, email, asked_at, confirmed_at)
      values (${id}, ${email}, now(), now()) returning id`;
    await plane.app.sql`
      insert into status_page_subscribers (page_id, email, asked_at) values (${id}, 'asked@example.com', now())`;
    const path = `/app/status-pages/${id}/subscribers`;
    const { html } = await owner.get(path);
    expect(html).toContain("2 addresses");
    expect(html).toMatch(/&lt;b&gt;[^]*?<td>confirmed/);
    expect(html).toMatch(/asked@example.com<\/th><td>asked, not confirmed/);
    expect(html).not.toContain("<b>");
    const remove = String(row?.id);
    const { browser: stranger } = await signInOwner(plane, "nosy@example.com");
    const own = await create("other-shop", [shop]);
    expect((await stranger.get(path)).status).toBe(404);
    expect((await stranger.post(path, { remove })).status).toBe(404);
    expect((await owner.post(`/app/status-pages/${own}/subscribers`, { remove })).status).toBe(404);
    const editor = await openMember("editor");
    expect((await editor.get(path)).status).toBe(403);
    expect((await editor.post(path, { remove })).status).toBe(403);
    const removed = await owner.post(path, { remove });
    expect([removed.status, removed.location]).toEqual([303, `${path}?done=subscriber_removed`]);
    expect((await owner.get(path)).html).toContain("1 address<");
    expect(await lastChange()).toEqual(["owner@example.com", "status_page", "changed", ["subscribers"]]);
    expect((await owner.post(path, { remove })).status).toBe(404);
  });
});
