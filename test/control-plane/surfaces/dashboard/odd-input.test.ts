import { describe, expect, it } from "vitest";
import { createManualClock } from "#test/support/clock.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { noteDashboardRoutes } from "#test/support/dashboard-routes.ts";
import { fillAccount, pathsOf } from "#test/support/dashboard-world.ts";
import { createAccount, openBrowser, PASSWORD, signIn, startPath } from "#test/support/dashboard.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

/** Nothing listens there. */
const NO_SERVER = { host: "127.0.0.1", port: 1, tls: "never", isVerified: true, credentials: null } as const;
/** Names of fields that the queries of pages have. */
const QUERY = [
  "q",
  "text",
  "tag",
  "kind",
  "state",
  "sort",
  "page",
  "next",
  "from",
  "to",
  "done",
  "at",
  "id",
  "name",
  "host",
];
/** Longer than a view may take of the views of a minute. */
const VIEW_MS = 300;

const routes = noteDashboardRoutes();
const clock = createManualClock(new Date());

const mail = { server: NO_SERVER, from: "Vantage <alerts@example.com>" };
const plane = await stopAfterAll(
  startControlPlane({
    overrides: { clock },
    config: { mail, signUp: "open", trustedProxies: ["127.0.0.0/8"] },
  }),
);
const account = await fillAccount(plane, "plain", "plain text");

describe("a NUL, which the database does not store", () => {
  it("is refused in every form, with 400", async () => {
    const wrong: unknown[] = [];
    const forms = routes.filter(({ method, url }) => method === "POST" && url !== "/sign-out");
    expect(forms.length).toBeGreaterThan(20);
    for (const { url } of forms) {
      const [path = ""] = url.startsWith("/reset/") ? [`/reset/${"A".repeat(32)}`] : pathsOf(url, account);
      const browser = url.startsWith("/app/") ? account.owner : openBrowser(plane);
      for (const field of ["email", "password", "name", "do", "odd"]) {
        clock.advance(VIEW_MS);
        const typed = { email: "a@example.com", password: PASSWORD, [field]: "a\0b@example.com and more" };
        const { status } = await browser.post(path, typed);
        if (status !== 400) wrong.push({ path, field, status });
      }
    }
    expect(wrong).toEqual([]);
  });

  it("in the address of a page is no failure of the service", async () => {
    const wrong: unknown[] = [];
    for (const { url } of routes.filter(({ method }) => method === "GET"))
      for (const [path = ""] of [pathsOf(url, account)])
        for (const field of QUERY) {
          if (path === "" || path.includes("?")) continue;
          clock.advance(VIEW_MS);
          const { status } = await account.owner.get(`${path}?${field}=a%00b`);
          if (status >= 500) wrong.push({ path, field, status });
        }
    expect(wrong).toEqual([]);
  });
});

describe("an email address", () => {
  it("with a domain in other letters signs in as it was typed, and in any case", async () => {
    const path = await startPath(plane, await createAccount(plane));
    const typed = { email: "Ops+status@Bücher.example", password: PASSWORD };
    expect((await openBrowser(plane).post(path, typed)).status).toBe(303);
    for (const email of ["ops+status@bücher.example", "OPS+STATUS@BÜCHER.EXAMPLE", "ops+status@xn--bcher-kva.example"])
      await signIn(plane, email);
    await expect(signIn(plane, "ops@bücher.example")).rejects.toThrow("403");
  });

  it("of any length, or none, is answered as an unknown one", async () => {
    for (const email of ["", "x".repeat(200_000), "ops@example.com.", "Ünïcode@example.com", "\u202Eops@example.com"]) {
      clock.advance(60_000);
      const { status, html } = await openBrowser(plane).post("/sign-in", { email, password: "not the password" });
      expect([email.slice(0, 30), status, html.includes("Email or password is wrong")]).toEqual([
        email.slice(0, 30),
        403,
        true,
      ]);
    }
  });
});

describe("a password", () => {
  it("of 256 characters of four bytes is set and signs in, and one of 257 is refused", async () => {
    clock.advance(60_000);
    const path = await startPath(plane, await createAccount(plane));
    const password = "\u{1F511}".repeat(256);
    const browser = openBrowser(plane);
    const typed = { email: "keys@example.com", password: `${password}\u{1F511}` };
    expect((await browser.post(path, typed)).status).toBe(400);
    expect((await browser.post(path, { ...typed, password })).status).toBe(303);
    await signIn(plane, "keys@example.com", { password });
    await expect(signIn(plane, "keys@example.com", { password: "\u{1F511}".repeat(255) })).rejects.toThrow("403");
    await expect(signIn(plane, "keys@example.com", { password: "p".repeat(500_000) })).rejects.toThrow("403");
  });
});
