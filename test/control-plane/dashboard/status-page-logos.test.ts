import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createManualClock } from "#test/support/clock.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { createMonitor } from "#test/support/create-monitor.ts";
import { signInOwner, type Browser, type FormFields } from "#test/support/dashboard.ts";
import { dataUri, drawPng } from "#test/support/logos.ts";

const clock = createManualClock(new Date("2026-11-27T20:00:00Z"));
const HOSTILE = '<img src=x onerror="alert(1)">';
let plane: TestControlPlane;
let owner: Browser;
let accountId: number;
let key: string;
let shop: number;
let pay: number;

beforeAll(async () => {
  plane = await startControlPlane({ overrides: { clock } });
  ({ browser: owner, accountId } = await signInOwner(plane));
  key = /vtg_\w{36}/.exec((await owner.post("/app/keys")).html)?.[0] ?? "";
  const heartbeat = { check_type: "heartbeat", heartbeat: { period_seconds: 3_600 } };
  shop = (await createMonitor(plane, key, { ...heartbeat, name: "Shop" })).id;
  pay = (await createMonitor(plane, key, { ...heartbeat, name: "Payments" })).id;
  clock.advance(10_000);
});

afterAll(() => plane.stop());

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

async function lastChange() {
  const all = { subject: null, actor: null, from: null, to: null };
  const { rows } = await plane.app.changes.list(plane.app.sql, accountId, all, { limit: 1, offset: 0 });
  const [newest] = rows;
  return [newest?.actor.name, newest?.subject.kind, newest?.action, newest?.changed.map(({ field }) => field)];
}

describe("the logo of a status page", () => {
  const png = drawPng(320, 80);
  const sendNew = (slug: string, more: FormFields, logo: Buffer) =>
    owner.postFiles("/app/status-pages/new", fieldsOf(slug, [shop], more), { logo });
  const pageAt = (location: string | null) => /\/app\/status-pages\/(\d+)/.exec(location ?? "")?.[1] ?? "";
  const shownUrl = async (id: string) =>
    ((await api(`/api/v4/status?id=${id}`)) as { logo_url: string | null }).logo_url;

  it("is a file of the form, is shown in it, stays when the form is saved again, and is removed by a checkbox", async () => {
    const made = await sendNew("logo-shop", { title: HOSTILE }, png);
    expect(made.status, made.html).toBe(303);
    const id = pageAt(made.location);
    const url = await shownUrl(id);
    const sent = await fetch(`${plane.url}${new URL(url ?? "").pathname}`);
    expect(Buffer.from(await sent.arrayBuffer()).equals(png)).toBe(true);
    const editor = await owner.get(`/app/status-pages/${id}`);
    expect(editor.html).toContain(`src="${dataUri(png)}" alt="The present logo"`);
    expect(editor.html).toContain(`enctype="multipart/form-data"`);
    const path = `/app/status-pages/${id}`;
    const none = { logo: Buffer.alloc(0) };
    expect((await owner.postFiles(path, fieldsOf("logo-shop", [shop], { title: "Kept" }), none)).status).toBe(303);
    expect(await shownUrl(id)).toBe(url);
    expect(await lastChange()).toEqual(["owner@example.com", "status_page", "changed", ["title"]]);
    const removed = fieldsOf("logo-shop", [shop], { title: "Kept", remove_logo: "on" });
    expect((await owner.postFiles(path, removed, none)).status).toBe(303);
    expect(await shownUrl(id)).toBeNull();
    expect(await lastChange()).toEqual(["owner@example.com", "status_page", "changed", ["logo"]]);
  });

  it("that was chosen is kept while the form is changed or refused", async () => {
    const added = await sendNew("kept-logo", { do: "add", add: [String(pay)] }, png);
    expect(added.html).toContain(`name="logo_kept" value="${dataUri(png)}"`);
    expect(added.html).toContain(`src="${dataUri(png)}" alt="The chosen logo"`);
    const refused = await sendNew("Not A Slug", {}, png);
    expect([refused.status, refused.html.includes(`name="logo_kept" value="${dataUri(png)}"`)]).toEqual([400, true]);
    const saved = await sendNew("kept-logo", { logo_kept: dataUri(png) }, Buffer.alloc(0));
    expect(saved.status, saved.html).toBe(303);
    expect(await shownUrl(pageAt(saved.location))).toMatch(/\.png$/);
    const dropped = await sendNew("dropped-logo", { logo_kept: dataUri(png), remove_logo: "on" }, Buffer.alloc(0));
    expect(await shownUrl(pageAt(dropped.location))).toBeNull();
  });

  it.each([
    ["an SVG", Buffer.from("<svg onload=alert(1)>")],
    ["a picture of 5 MB", Buffer.concat([drawPng(5, 3), Buffer.alloc(5_000_000)])],
    ["a picture of 3,000 pixels", drawPng(3_000, 1)],
  ])("is refused beside its field, before the save too, and what was typed stays: %s", async (_what, content) => {
    for (const action of ["save", "add"]) {
      const { status, html } = await sendNew("bad-logo", { do: action, title: "Typed" }, content);
      expect([status, html.includes('value="Typed"')]).toEqual([action === "save" ? 400 : 200, true]);
      expect(html).toMatch(/id="p-logo">[^<]*a PNG, JPEG or WebP image of at most 64 KB/);
      expect(html).not.toMatch(/<img|logo_kept/);
    }
    expect((await plane.call("/api/v4/status?slug=bad-logo")).status).toBe(404);
  });

  it("is in the preview, before it is saved and after", async () => {
    const fields = fieldsOf("seen-logo", [shop]);
    const fresh = await owner.postFiles("/app/status-pages/new/preview", fields, { logo: png });
    expect(fresh.html).toContain(`<img class="logo" src="${dataUri(png)}" alt="Example Shop" width="160" height="40">`);
    expect(fresh.headers.get("content-security-policy")).toContain("img-src data:;");
    const { location } = await sendNew("seen-logo", {}, png);
    const saved = await owner.get(`/app/status-pages/${pageAt(location)}/preview`);
    expect(saved.html).toContain(`src="${dataUri(png)}"`);
    const path = `/app/status-pages/${pageAt(location)}/preview`;
    const without = await owner.postFiles(path, { ...fields, remove_logo: "on" });
    expect(without.html).not.toContain("<img");
  });

  it("is in a form of at most one file and 1,000 fields, none of which is a name of the language", async () => {
    const many = { ...fieldsOf("many-logo", [shop]), x: Array.from({ length: 1_000 }, () => "1") };
    expect((await owner.postFiles("/app/status-pages/new", many)).status).toBe(400);
    const two = await owner.postFiles("/app/status-pages/new", fieldsOf("two-logo", [shop]), { logo: png, more: png });
    expect(two.status).toBe(400);
    const huge = Buffer.alloc(9_000_000);
    expect((await sendNew("huge-logo", {}, huge)).status).toBe(413);
    const own = { ...fieldsOf("own-logo", [shop]), constructor: "x", __proto__x: "y", hasOwnProperty: "z" };
    expect((await owner.postFiles("/app/status-pages/new", own)).status).toBe(303);
    for (const body of ["", "--x", '--x\r\nContent-Disposition: form-data; name="title"\r\n\r\ncut']) {
      const headers = { origin: plane.url, cookie: `vantage_session=${owner.cookie}` };
      for (const type of ["multipart/form-data; boundary=x", "multipart/form-data"]) {
        const answer = await fetch(`${plane.url}/app/status-pages/new`, {
          method: "POST",
          headers: { ...headers, "content-type": type },
          body,
        });
        expect([400, 403], `${type} ${body}`).toContain(answer.status);
      }
    }
  });
});
