import { describe, expect, it } from "vitest";
import { createManualClock } from "#test/support/clock.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { noteDashboardRoutes, type FoundRoute } from "#test/support/dashboard-routes.ts";
import { brokenOutOf, fillAccount, HOSTILE_TEXT, pathsOf, readAll } from "#test/support/dashboard-world.ts";
import { drawPng } from "#test/support/logos.ts";
import { openBrowser, signInOwner, type Browser } from "#test/support/dashboard.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const routes = noteDashboardRoutes();
const clock = createManualClock(new Date());

/** Nothing listens there. */
const NO_SERVER = { host: "127.0.0.1", port: 1, tls: "never", isVerified: true, credentials: null } as const;

type Who = "owner" | "editor" | "viewer" | "nobody" | "stranger";
type Expected = Readonly<Record<Who, number>>;

// Every page exists: that of the sign-up asks for both.
const mail = { server: NO_SERVER, from: "Vantage <alerts@example.com>" };
const plane = await stopAfterAll(startControlPlane({ overrides: { clock }, config: { mail, signUp: "open" } }));
const account = await fillAccount(plane, "hostile", HOSTILE_TEXT);
const people = {
  owner: account.owner,
  editor: await account.join("editor@example.com", "editor"),
  viewer: await account.join("viewer@example.com", "viewer"),
  nobody: openBrowser(plane),
  stranger: (await signInOwner(plane, "stranger@example.com")).browser,
};

/** Pages and forms for everybody: who is signed in makes no difference to whether they answer. */
const OPEN = /^\/(?:sign-in|sign-out|sign-up|start\/|invite\/|reset)/;

const READ = { owner: 200, editor: 200, viewer: 200, nobody: 303, stranger: 200 };
const READ_OWN = { ...READ, stranger: 404 };
const WRITE = { ...READ, viewer: 403 };
const WRITE_OWN = { ...READ_OWN, viewer: 403 };
const MANAGE = { ...WRITE, editor: 403 };
const MANAGE_OWN = { ...MANAGE, stranger: 404 };

/** What a GET answers, by the first prefix that fits. A route that none fits fails its test. */
const PAGES: readonly (readonly [prefix: string, expected: Expected])[] = [
  ["/app/monitors/new", WRITE],
  ["/app/monitors/next-runs", WRITE],
  ["/app/monitors/paste", WRITE],
  ["/app/monitors/bulk", WRITE],
  // There is no such picture.
  ["/app/monitors/:id/pictures", { owner: 404, editor: 404, viewer: 404, nobody: 303, stranger: 404 }],
  ["/app/monitors/:id/rotate", WRITE_OWN],
  ["/app/monitors/:id/edit", WRITE_OWN],
  ["/app/monitors/:id/delete", WRITE_OWN],
  ["/app/monitors/:id", READ_OWN],
  ["/app/monitors", READ],
  ["/app/incidents/new", WRITE],
  ["/app/incidents/:id", READ_OWN],
  ["/app/incidents", READ],
  ["/app/maintenance/new", WRITE],
  ["/app/maintenance/:id/edit", WRITE_OWN],
  ["/app/maintenance/:id/delete", WRITE_OWN],
  ["/app/maintenance/:id", READ_OWN],
  ["/app/maintenance", READ],
  ["/app/tools", READ],
  ["/app/status-pages/new", WRITE],
  ["/app/status-pages/:id/subscribers", MANAGE_OWN],
  ["/app/status-pages/:id/delete", WRITE_OWN],
  ["/app/status-pages/:id/preview", READ_OWN],
  ["/app/status-pages/:id", WRITE_OWN],
  ["/app/status-pages", READ],
  ["/app/changes", READ],
  ["/app/profile", READ],
  ["/app/keys/:id", MANAGE_OWN],
  ["/app/keys", MANAGE],
  ["/app/members/:id", MANAGE_OWN],
  ["/app/members", MANAGE],
  ["/app/*", { owner: 404, editor: 404, viewer: 404, nobody: 303, stranger: 404 }],
];

/**
 * Who may send a form, by the first prefix that fits: `write` and `manage` refuse the others with 403. What becomes of
 * an empty form that is let in is the view's.
 */
const FORMS: readonly (readonly [prefix: string, refused: readonly Who[]])[] = [
  ["/app/monitors", ["viewer"]],
  ["/app/incidents", ["viewer"]],
  ["/app/maintenance", ["viewer"]],
  ["/app/tools", ["viewer"]],
  ["/app/status-pages/:id/subscribers", ["viewer", "editor"]],
  ["/app/status-pages", ["viewer"]],
  ["/app/profile", []],
  ["/app/keys", ["viewer", "editor"]],
  ["/app/members", ["viewer", "editor"]],
];

const fits = (url: string) => (entry: readonly [prefix: string, unknown]) =>
  url === entry[0] || url.startsWith(`${entry[0]}/`);

const pages = () => routes.filter(({ method, url }) => method === "GET" && !url.startsWith("/app/assets/"));
const forms = () => routes.filter(({ method }) => method === "POST");

/** Longer than a view may take of the views of a minute; all of this test is over before a password has to be given again. */
const VIEW_MS = 300;

async function load(who: Browser, path: string) {
  clock.advance(VIEW_MS);
  return who.get(path);
}

/** Every page that somebody is shown, of every route. */
async function* everyPage(who: Browser) {
  for (const { url } of pages())
    for (const path of pathsOf(url, account)) {
      const answer = await load(who, path);
      yield { path, ...answer };
    }
}

describe("roles", () => {
  it("open every page to whom it is for, and those of an account to nobody of another one", async () => {
    const wrong: unknown[] = [];
    for (const { url } of pages().filter((route) => !OPEN.test(route.url) && !/^\/app\/?$/.test(route.url))) {
      const expected = PAGES.find(fits(url))?.[1];
      if (expected === undefined) throw new Error(`say in PAGES who may see ${url}`);
      const [path = ""] = pathsOf(url, account);
      for (const [who, status] of Object.entries(expected)) {
        const got = (await load(people[who as Who], path)).status;
        if (got !== status) wrong.push({ who, path, status, got });
      }
    }
    expect(wrong).toEqual([]);
  });

  it("open every form to whom it is for", async () => {
    const wrong: unknown[] = [];
    const inside = forms().filter(({ url }) => !OPEN.test(url));
    expect(inside.length).toBeGreaterThan(10);
    for (const { url } of inside) {
      const refused = FORMS.find(fits(url))?.[1];
      if (refused === undefined) throw new Error(`say in FORMS who may send ${url}`);
      const [path = ""] = pathsOf(url, account);
      for (const who of refused) {
        clock.advance(VIEW_MS);
        const got = [(await people[who].post(path)).status, (await people[who].postFiles(path)).status];
        if (got.some((status) => status !== 403)) wrong.push({ who, path, got });
      }
      for (const sent of [await people.nobody.post(path), await people.nobody.postFiles(path)]) {
        const { status, location } = sent;
        if (status !== 303 || location !== "/sign-in") wrong.push({ who: "nobody", path, status, location });
      }
    }
    expect(wrong).toEqual([]);
  });

  it("let nobody of another account change anything by a form, whose things are not there for them", async () => {
    const own = forms().filter(({ url }) => url.includes(":id"));
    expect(own.length).toBeGreaterThan(5);
    const before = await readAll(plane, account);
    const wrong: unknown[] = [];
    for (const { url } of own)
      for (const path of pathsOf(url, account)) {
        clock.advance(VIEW_MS);
        // The answer for the invite of another account is that for one that has just expired.
        const allowed = url.startsWith("/app/members/invites/") ? [303] : [404];
        const fields = { name: HOSTILE_TEXT, do: "save", role: "owner" };
        const { status } = await people.stranger.post(path, fields);
        if (!allowed.includes(status)) wrong.push({ path, status });
        const withFile = await people.stranger.postFiles(path, fields, { logo: drawPng(5, 3) });
        if (withFile.status !== (takesFiles(url) ? 404 : 415)) wrong.push({ path, status: withFile.status });
      }
    expect(wrong).toEqual([]);
    expect(await readAll(plane, account)).toEqual(before);
  });
});

/** Whether a form has a field for a file; every other one refuses the type of such forms. */
const takesFiles = (url: string) => /^\/app\/status-pages\/(?:new|:id)(?:\/preview|\/domain)?$/.test(url);

describe("a form with a file", () => {
  it("is asked for the origin and the token of the session, as every other form", async () => {
    const paths = forms().flatMap(({ url }) => (takesFiles(url) ? pathsOf(url, account) : []));
    expect(paths.length).toBeGreaterThan(3);
    const before = await readAll(plane, account);
    const files = { logo: drawPng(5, 3) };
    for (const path of paths) {
      clock.advance(VIEW_MS);
      const statuses = [
        await people.owner.postFiles(path, { _csrf: "0".repeat(32) }, files),
        await people.owner.postFiles(path, { _csrf: [] }, files),
        await people.owner.postFiles(path, {}, files, { origin: "https://evil.example" }),
        await people.owner.postFiles(path, {}, files, { origin: "null" }),
      ].map(({ status }) => status);
      expect(statuses, path).toEqual([403, 403, 403, 403]);
    }
    expect(await readAll(plane, account)).toEqual(before);
  });
});

describe("every page", () => {
  it("is in no cache, no frame and no search, and gives its address to no other site", async () => {
    const wrong: unknown[] = [];
    for (const who of [people.owner, people.nobody]) {
      for await (const { path, status, headers, html } of everyPage(who)) {
        if (html === "" && status === 303) continue;
        const policy = headers.get("content-security-policy") ?? "";
        if (path.endsWith("/preview")) {
          // A page for visitors, in a frame of the editor alone, without scripts.
          expect(policy).toMatch(
            /^default-src 'none'; style-src 'sha256-[^;]*; img-src data:; .*frame-ancestors 'self'/,
          );
          expect(policy).toMatch(/; sandbox$/);
          continue;
        }
        const isSafe =
          headers.get("cache-control") === "no-store" &&
          /^default-src 'none'.*form-action 'self'; base-uri 'none'; frame-ancestors 'none'(?:; frame-src 'self')?$/.test(
            policy,
          ) &&
          !policy.includes("unsafe") &&
          headers.get("referrer-policy") === "same-origin" &&
          headers.get("cross-origin-opener-policy") === "same-origin" &&
          headers.get("x-content-type-options") === "nosniff" &&
          headers.get("x-robots-tag") === "noindex";
        if (!isSafe) wrong.push({ path, status, headers: Object.fromEntries(headers) });
      }
    }
    expect(wrong).toEqual([]);
  });

  it("shows hostile texts as texts", async () => {
    // The address of a user and the name of its program are texts of others, too.
    const program = `"><script>alert(1)</script><img src=x onerror=alert(4)>`;
    const obrien = await account.join("o'brien&sons@example.com", "owner", program);
    let shown = 0;
    const wrong: unknown[] = [];
    for (const who of [obrien, people.viewer]) {
      for await (const { path, html } of everyPage(who)) {
        const found = brokenOutOf(html);
        if (found.length > 0) wrong.push({ path, found });
        if (html.includes("&lt;script>alert(1)") || html.includes("&lt;script&gt;alert(1)")) shown += 1;
      }
    }
    expect(wrong).toEqual([]);
    // The texts are there: what is missing cannot break a page. Those of owners too.
    expect(shown).toBeGreaterThan(30);
    const ofOwners = ["/app/keys", "/app/members", "/app/profile"];
    expect(await Promise.all(ofOwners.map(async (path) => (await load(obrien, path)).status))).toEqual([200, 200, 200]);
  });

  it("has what cannot be undone as a button in the colour of danger", async () => {
    const found: string[] = [];
    const wrong: unknown[] = [];
    for await (const { path, html } of everyPage(people.owner)) {
      for (const [link, action = ""] of html.matchAll(/<a [^>]*href="[^"]*\/(delete|remove|revoke|rotate)"[^>]*>/g)) {
        found.push(action);
        if (!link.includes('class="button danger"')) wrong.push({ path, link });
      }
    }
    expect([...new Set(found)].toSorted()).toEqual(["delete", "remove", "revoke", "rotate"]);
    expect(wrong).toEqual([]);
  });

  it("shows no stored secret to anybody, and the address of a heartbeat to those who may change it", async () => {
    const wrong: unknown[] = [];
    const withAddress: Record<string, number> = {};
    const token = new URL(account.heartbeatUrl).pathname.split("/").at(-1) ?? "";
    expect(token.length).toBeGreaterThan(10);
    for (const who of ["owner", "editor", "viewer", "stranger"] as const) {
      withAddress[who] = 0;
      for await (const { path, html } of everyPage(people[who])) {
        const found = account.secrets.filter((secret) => html.includes(secret));
        if (found.length > 0) wrong.push({ who, path, found });
        if (html.includes(token)) withAddress[who] += 1;
      }
    }
    expect(wrong).toEqual([]);
    expect(withAddress).toEqual({ owner: 1, editor: 1, viewer: 0, stranger: 0 });
  });
});

describe("the tables of this test", () => {
  it("have a row for every route", () => {
    const rowOf = ({ method, url }: FoundRoute) => (method === "GET" ? PAGES : FORMS).some(fits(url));
    const missing = routes.filter(
      ({ method, url }) =>
        method !== "HEAD" && !OPEN.test(url) && !/^\/app(?:\/?$|\/assets\/)/.test(url) && !rowOf({ method, url }),
    );
    expect(missing).toEqual([]);
  });
});
