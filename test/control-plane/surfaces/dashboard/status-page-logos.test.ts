import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { createManualClock } from "#test/support/clock.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { createMonitor } from "#test/support/create-monitor.ts";
import { COOKIE, signInOwner, type FormFields } from "#test/support/dashboard.ts";
import { dataUri, drawPng } from "#test/support/logos.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const clock = createManualClock(new Date("2026-11-27T20:00:00Z"));
const HOSTILE = '<img src=x onerror="alert(1)">';

const plane = await stopAfterAll(startControlPlane({ overrides: { clock } }));
const { browser: owner, accountId } = await signInOwner(plane);
const key = /vtg_\w{36}/.exec((await owner.post("/app/keys")).html)?.[0] ?? "";
const heartbeat = { check_type: "heartbeat", heartbeat: { period_seconds: 3_600 } };
const shop = (await createMonitor(plane, key, { ...heartbeat, name: "Shop" })).id;
const pay = (await createMonitor(plane, key, { ...heartbeat, name: "Payments" })).id;
clock.advance(10_000);

async function api(path: string): Promise<unknown> {
  return (await plane.call(path, { key })).body.data;
}

const BOUNDARY = "----WebKitFormBoundaryAbCdEfGhIjKlMnOp";

/** Writes a field of a form with files. */
function fieldOf(name: string, value: string): string {
  return `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
}

/** Writes the beginning of a file of a form. */
function fileOf(name: string): string {
  const head = `Content-Disposition: form-data; name="${name}"; filename="a.png"\r\nContent-Type: image/png`;
  return `--${BOUNDARY}\r\n${head}\r\n\r\n${"x".repeat(200)}`;
}

/**
 * Begins to send a form of 4 MB to the path of a new page, of which only `body` comes. Resolves with the answer, while
 * the rest is still to come.
 */
function beginForm(body: string, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const fields = {
    host: new URL(plane.url).host,
    origin: plane.url,
    cookie: `${COOKIE}=${owner.cookie}`,
    "content-type": `multipart/form-data; boundary=${BOUNDARY}`,
    "content-length": "4000000",
    ...headers,
  };
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  const socket = connect(Number(new URL(plane.url).port), "127.0.0.1");
  let answer = "";
  socket.write(`POST /app/status-pages/new HTTP/1.1\r\n${head.join("")}\r\n${body}`);
  socket.on("data", (chunk: Buffer) => (answer += chunk.toString())).on("error", reject);
  // The rest of the body never comes: the server closes behind its answer.
  socket.on("close", () => resolve(answer));
  return promise;
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
    const long = { ...fieldsOf("long-logo", [shop]), x: Array.from({ length: 9 }, () => "1".repeat(120_000)) };
    expect((await owner.postFiles("/app/status-pages/new", long)).status).toBe(413);
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

  it("is read of a form only that has proved first to be of the session", async () => {
    const { csrf } = await owner.get("/app/monitors");
    const own = fieldOf("_csrf", csrf ?? "");
    const refused: readonly (readonly [string, string, Readonly<Record<string, string>>?])[] = [
      ["another session", fileOf("logo")],
      ["another session", `${fieldOf("_csrf", "wrong")}${fieldOf("title", "x".repeat(200))}`],
      ["another session", `${fieldOf("title", "x".repeat(70_000))}${own}`],
      ["another session", `${fieldOf("title", "x")}${fileOf("logo")}\r\n${own}`],
      ["VANTAGE_BASE_URL", `${own}${fileOf("logo")}`, { origin: "https://evil.example" }],
    ];
    for (const [message, body, headers] of refused) {
      const answer = await beginForm(body, headers);
      expect([answer.slice(9, 12), answer.includes(message)], body.slice(0, 300)).toEqual(["403", true]);
    }
  });

  it("is in a form whose parts are not read any more after the first refusal", async () => {
    const { csrf } = await owner.get("/app/monitors");
    const parts = `${fieldOf("_csrf", csrf ?? "")}${`--${BOUNDARY}\r\n`.repeat(1_200)}`;
    const answer = await beginForm(parts);
    expect([answer.slice(9, 12), answer.includes("more than 1,000 fields")]).toEqual(["400", true]);
    const long = await beginForm(fieldOf("_csrf", csrf ?? ""), {
      "content-type": `multipart/form-data; boundary=${"x".repeat(300)}`,
    });
    expect([long.slice(9, 12), long.includes("boundary")]).toEqual(["400", true]);
  });
});
