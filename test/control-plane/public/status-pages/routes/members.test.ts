import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { COOKIE, openBrowser, PASSWORD, signInOwner, type Browser } from "#test/support/dashboard.ts";
import { askWire } from "#test/support/raw-http.ts";
import { serveAt } from "#test/support/verified-domain.ts";

const DOMAIN = "status.inside.example";
const LOGO =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=";
const SEEN = ["", "/history"];
const WITH_KEYS = ["/feed.rss", "/feed.atom", "/feed.json", "/badge.svg", "/summary.json", "/api/v2/status.json"];

let plane: TestControlPlane;
let owner: Browser;
let accountId: number;
let key: string;
let id: number;
let logo: string;
let addresses = 0;

/** An address of a client that nobody else has: visits are limited by address. */
const nextAddress = () => `10.7.0.${(addresses += 1)}`;

beforeAll(async () => {
  plane = await startControlPlane({ config: { trustedProxies: ["127.0.0.0/8"] } });
  ({ browser: owner, accountId } = await signInOwner(plane));
  key = /vtg_\w{36}/.exec((await owner.post("/app/keys")).html)?.[0] ?? "";
  const body = { title: "Inside", slug: "inside", is_public: false, domain: DOMAIN, logo: LOGO };
  const made = await plane.call("/api/v4/status", { key, body });
  ({ id } = made.body.data);
  logo = /\/logo\/.*$/.exec((made.body.data as { logo_url: string }).logo_url)?.[0] ?? "";
});
afterAll(() => plane?.stop());

async function openMember(role: string): Promise<Browser> {
  const { body } = await plane.operate("POST", "/api/admin/invites", { account_id: accountId, role });
  const browser = openBrowser(plane, nextAddress());
  const path = `/invite/${(body.data as { token: string }).token}`;
  await browser.post(path, { email: `${role}@inside.example`, password: PASSWORD });
  return browser;
}

/** Status and body of an answer; what differs between requests is left out. */
async function seenBy(browser: Browser, path: string): Promise<readonly [number, string | null, string]> {
  const { status, headers, html } = await browser.get(path, { "x-forwarded-for": nextAddress() });
  return [status, headers.get("cache-control"), html.replaceAll(/"(?:request_id|duration_ms)":[^,]*/g, "")];
}

describe("a page that is not public", () => {
  it.each(["owner", "editor", "viewer"])("is shown to a member who is signed in: %s", async (role) => {
    const member = role === "owner" ? owner : await openMember(role);
    for (const path of [...SEEN, logo]) {
      const [status, cache, html] = await seenBy(member, `/status/inside${path}`);
      expect([path, status, cache]).toEqual([path, 200, "private, no-store"]);
      if (path !== logo) expect(html).toContain("Inside");
    }
    expect((await member.get("/status/inside")).headers.get("age")).toBeNull();
    const list = await member.get("/app/status-pages");
    expect(list.html).toContain('<a href="/status/inside">');
  });

  it("is to everybody else what a page is that does not exist", async () => {
    const { browser: other } = await signInOwner(plane, "other@example.com");
    const nobody = openBrowser(plane);
    const forger = openBrowser(plane);
    forger.cookie = "x".repeat(43);
    for (const path of [...SEEN, ...WITH_KEYS, logo]) {
      const missing = await seenBy(nobody, `/status/missing${path}`);
      expect(missing.slice(0, 2)).toEqual([404, "no-store"]);
      for (const who of [other, nobody, forger]) expect(await seenBy(who, `/status/inside${path}`)).toEqual(missing);
      // What a member has seen is kept for nobody else.
      await seenBy(owner, `/status/inside${path}`);
      expect(await seenBy(nobody, `/status/inside${path}`)).toEqual(missing);
    }
  });

  it("gives its feeds, its badge and its JSON to keys alone", async () => {
    for (const path of WITH_KEYS) {
      const missing = await seenBy(owner, `/status/missing${path}`);
      expect(await seenBy(owner, `/status/inside${path}`)).toEqual(missing);
      const keyed = await owner.get(`/status/inside${path}`, { "x-api-key": key, "x-forwarded-for": nextAddress() });
      expect([keyed.status, keyed.headers.get("cache-control")]).toEqual([200, "private, no-store"]);
    }
    expect((await seenBy(owner, "/api/v4/status?slug=inside"))[0]).toBe(404);
  });

  it("knows no session on its own domain", async () => {
    await plane.call(`/api/v4/status?id=${id}`, { key, method: "PUT", body: { is_public: true } });
    await serveAt(plane, DOMAIN);
    await plane.call(`/api/v4/status?id=${id}`, { key, method: "PUT", body: { is_public: false } });
    for (const path of ["/", "/history", logo, "/status/inside"]) {
      const status = async () => {
        const headers = { host: DOMAIN, cookie: `${COOKIE}=${owner.cookie}`, "x-forwarded-for": nextAddress() };
        return (await askWire(`${plane.url}${path}`, headers)).status;
      };
      await expect.poll(status, { message: path }).toBe(404);
    }
    expect((await seenBy(owner, "/status/inside"))[0]).toBe(200);
    expect((await owner.get(`/app/status-pages/${id}`)).html).toContain('<a href="/status/inside">');
  });

  it("is again one for every cache once it is public", async () => {
    await plane.call(`/api/v4/status?id=${id}`, { key, method: "PUT", body: { is_public: true } });
    const nobody = openBrowser(plane);
    const cacheFor = async (browser: Browser) => (await seenBy(browser, "/status/inside"))[1];
    await expect.poll(() => cacheFor(nobody)).toBe("public, max-age=10");
    expect(await cacheFor(owner)).toBe("public, max-age=10");
  });
});
