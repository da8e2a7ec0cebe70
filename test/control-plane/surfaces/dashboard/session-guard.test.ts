import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { nextPath } from "#control-plane/surfaces/dashboard/sign-in/routes.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { noteDashboardRoutes } from "#test/support/dashboard-routes.ts";
import { COOKIE, openBrowser, signIn, signInOwner, startPath, type Browser } from "#test/support/dashboard.ts";
import { askWire } from "#test/support/raw-http.ts";
import { serveAt } from "#test/support/verified-domain.ts";

const noted = noteDashboardRoutes();

interface FoundRoute {
  readonly method: string;
  readonly path: string;
}

/** Every route of the dashboard, with 1 as its parameters. */
const routes = (): readonly FoundRoute[] =>
  noted.map(({ method, url }) => ({ method, path: url.replaceAll(/:[a-z_]+/gi, "1") }));

let plane: TestControlPlane;
let owner: Browser;
let accountId: number;

beforeAll(async () => {
  plane = await startControlPlane({ config: { trustedProxies: ["127.0.0.0/8"] } });
  ({ browser: owner, accountId } = await signInOwner(plane));
});

afterAll(() => plane.stop());

const forms = () => routes().filter(({ method }) => method === "POST");
const inside = ({ path }: FoundRoute) => path.startsWith("/app/");

/** The status of each form when it is sent like this. */
async function statuses(
  among: readonly FoundRoute[],
  send: (path: string, address: string) => Promise<{ readonly status: number }>,
): Promise<readonly (readonly [path: string, status: number])[]> {
  const answers: (readonly [string, number])[] = [];
  for (const [index, { path }] of among.entries())
    answers.push([path, (await send(path, `198.51.100.${index}`)).status]);
  return answers;
}

const others = (answers: readonly (readonly [string, number])[], status: number) =>
  answers.filter(([, got]) => got !== status);

const FORM = "application/x-www-form-urlencoded";
/** The forms of the scope in which a status page has a logo. */
const TAKE_FILES = /^\/app\/status-pages\/(?:new|1)(?:\/preview|\/domain)?$/;

describe("every form of the dashboard", () => {
  it("is found by these tests", () => {
    expect(forms().map(({ path }) => path)).toEqual(expect.arrayContaining(["/sign-in", "/sign-out", "/start/1"]));
  });

  it.each(["https://evil.example", "null", "http://127.0.0.1:1", "http://localhost.evil.example"])(
    "refuses the origin %s",
    async (origin) => {
      const answers = await statuses(forms(), (path) => owner.post(path, {}, { origin }));
      expect(others(answers, 403)).toEqual([]);
    },
  );

  it("refuses a request without an origin", async () => {
    await owner.get("/app/monitors");
    const answers = await statuses(forms(), (path, address) =>
      askWire(
        `${plane.url}${path}`,
        { cookie: `${COOKIE}=${owner.cookie}`, "content-type": FORM, "x-forwarded-for": address },
        "",
      ),
    );
    expect(others(answers, 403)).toEqual([]);
  });

  it("behind the sign-in refuses a missing, wrong or foreign _csrf", async () => {
    const { browser: other } = await signInOwner(plane, "other@example.com");
    const foreign = (await other.get("/app/monitors")).csrf ?? "";
    expect(foreign).not.toBe("");
    const earlier = (await (await signIn(plane, "owner@example.com")).get("/app/monitors")).csrf ?? "";
    for (const csrf of ["", "wrong", foreign, earlier]) {
      // oxlint-disable-next-line no-await-in-loop -- a session of its own: one has a limit of views
      const again = await signIn(plane, "owner@example.com");
      // oxlint-disable-next-line no-await-in-loop -- they are counted by the session
      const answers = await statuses(forms().filter(inside), (path) => again.post(path, { _csrf: csrf }));
      expect(others(answers, 403)).toEqual([]);
    }
  });

  it("behind the sign-in leads there without a session, and with one that has ended", async () => {
    const answers = await statuses(forms().filter(inside), (path, address) => openBrowser(plane, address).post(path));
    expect(others(answers, 303)).toEqual([]);
  });

  it.each(["application/json", "text/plain", "application/x-www-form-urlencoded-not"])(
    "that is sent as %s is refused with the types that it takes",
    async (type) => {
      // A session of its own: one has a limit of views.
      const again = await signIn(plane, "owner@example.com");
      const wrong: unknown[] = [];
      for (const { path } of forms()) {
        // oxlint-disable-next-line no-await-in-loop -- one session
        const { status, headers, html } = await again.post(path, {}, { "content-type": type });
        const [, named] = /Send the form as Content-Type: ([^.]*)\./.exec(html) ?? [];
        const isPage = headers.get("content-type") === "text/html; charset=utf-8" && html.includes('<main id="main"');
        const expected = TAKE_FILES.test(path) ? `${FORM} or multipart/form-data` : FORM;
        if (status !== 415 || named !== expected || !isPage) wrong.push({ path, status, named, isPage });
      }
      expect(wrong).toEqual([]);
    },
  );

  it("that has more text than anybody types is refused before that is looked at, in one field or in several", async () => {
    const half = "a\n".repeat(70_000);
    const asked = [{ lines: `${half}${half}` }, { lines: half, tags: half }, { x: [half, half] }];
    for (const fields of asked) {
      // oxlint-disable-next-line no-await-in-loop -- one session
      const { status, html } = await owner.post("/app/monitors/paste", fields);
      expect([status, html.includes("more than 262144 characters")]).toEqual([413, true]);
    }
  });

  it("that is compressed is refused with the reason", async () => {
    const answer = await owner.post("/app/profile/time-zone", { timezone: "UTC" }, { "content-encoding": "gzip" });
    expect([answer.status, answer.html.includes("Send the body uncompressed")]).toEqual([415, true]);
  });
});

describe("every page of the dashboard", () => {
  it("is absent from the domains of status pages", async () => {
    const { body } = await plane.operate("POST", "/api/admin/keys", { account_id: accountId });
    const key = (body.data as { key: string }).key;
    const page = { title: "Shop", slug: "shop", domain: "status.shop.example" };
    expect((await plane.call("/api/v4/status", { key, body: page })).status).toBe(201);
    await serveAt(plane, "status.shop.example");
    const cookie = `${COOKIE}=${owner.cookie}`;
    for (const path of ["/sign-in", "/app/monitors", "/app/", "/start/1", "/invite/1", "/reset", "/sign-up"]) {
      const answer = await askWire(`${plane.url}${path}`, { host: "status.shop.example", cookie });
      expect([path, answer.status]).toEqual([path, 404]);
      expect(answer.body.toString()).not.toContain("owner@example.com");
    }
    const posted = await askWire(
      `${plane.url}/sign-in`,
      { host: "status.shop.example", origin: "http://status.shop.example", "content-type": FORM },
      "email=owner%40example.com&password=x",
    );
    expect(posted.status).toBe(404);
  });
});

describe("the cookie of a session", () => {
  it("is read by no script, sent by no foreign form, and for the whole service", async () => {
    const browser = openBrowser(plane);
    const answer = await browser.post(await startPath(plane, accountId), {
      email: "owner@example.com",
      password: "another good password",
    });
    const [cookie = ""] = answer.headers.getSetCookie();
    expect(
      cookie
        .split("; ")
        .slice(1)
        .toSorted((a, b) => a.localeCompare(b)),
    ).toEqual(["HttpOnly", "Max-Age=7776000", "Path=/", "SameSite=Lax"]);
    ({ browser: owner } = { browser });
  });

  it("goes over https alone where the service is reached by it", async () => {
    const baseUrl = "https://vantage.example.com";
    const secure = await startControlPlane({ databaseUrl: plane.databaseUrl, config: { baseUrl, isBaseUrlSet: true } });
    try {
      const path = await startPath(secure, accountId);
      const browser = openBrowser(secure);
      const typed = { email: "owner@example.com", password: "another good password" };
      // Loopback is no exception there.
      expect((await browser.post(path, typed)).status).toBe(403);
      const answer = await browser.post(path, typed, { origin: baseUrl });
      expect([answer.status, answer.headers.getSetCookie()[0]?.includes("; Secure")]).toEqual([303, true]);
      owner.cookie = browser.cookie;
    } finally {
      await secure.stop();
    }
  });

  it("opens nothing under /api", async () => {
    const headers = { cookie: `${COOKIE}=${owner.cookie}` };
    for (const path of ["/api/v4/monitors", "/api/v4/account", "/api/v4/check?url=https://example.com"])
      expect([path, (await plane.call(path, { headers })).status]).toEqual([path, 401]);
    const value = owner.cookie ?? "";
    expect((await plane.call("/api/v4/monitors", { key: value })).status).toBe(401);
    expect((await plane.call("/api/admin/keys", { headers })).status).toBe(401);
    const bearer = { authorization: `Bearer ${value}` };
    expect((await plane.call("/api/admin/keys", { headers: bearer })).status).toBe(401);
  });
});

describe("where a sign-in leads", () => {
  it.each([
    "https://evil.example/",
    "//evil.example/",
    "/\\evil.example",
    "/app/../\\evil.example",
    "/app/\nx",
    "javascript:alert(1)",
    "/sign-out",
    "/app",
    "app/monitors",
    "/app/é",
    `/app/${"a".repeat(2_000)}`,
    ["/app/monitors", "/app/keys"],
    undefined,
  ])("is never %j", (given) => {
    expect(nextPath(given)).toBe("/app/");
  });

  it("is a page of the dashboard, which exists", async () => {
    expect(nextPath("/app/monitors?page=2")).toBe("/app/monitors?page=2");
    const first = await owner.get("/app/");
    expect([first.status, first.location]).toEqual([303, "/app/monitors"]);
    const sent = await owner.get("/sign-in?next=https://evil.example/");
    expect([sent.status, sent.location]).toEqual([303, "/app/"]);
  });
});
