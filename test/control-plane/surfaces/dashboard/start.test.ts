import { describe, expect, it } from "vitest";
import { createManualClock } from "#test/support/clock.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { createAccount, openBrowser, PASSWORD, signIn, signInOwner, startPath } from "#test/support/dashboard.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const MINUTE_MS = 60_000;
const clock = createManualClock(new Date("2026-11-27T20:00:00Z"));

const plane = await stopAfterAll(startControlPlane({ overrides: { clock } }));

describe("an instance without an owner", () => {
  it("cannot be taken by who finds it: only the operator's link makes the first user", async () => {
    await createAccount(plane);
    const browser = openBrowser(plane);
    const typed = { email: "thief@example.com", password: PASSWORD };
    for (const path of ["/start/", "/invite/", "/reset/"].map((one) => `${one}${"A".repeat(32)}`)) {
      expect([path, (await browser.get(path)).status]).toEqual([path, 404]);
      expect([path, (await browser.post(path, typed)).status]).toEqual([path, 404]);
    }
    expect((await browser.post("/sign-in", typed)).status).toBe(403);
    expect((await browser.post("/sign-up", typed)).status).toBe(404);
    for (const path of ["/api/admin/sign-in-links", "/api/admin/invites"])
      expect([path, (await plane.call(path, { body: {} })).status]).toEqual([path, 401]);
    const [row] = await plane.app.sql<{ users: number }[]>`select count(*) as users from users`;
    expect([row?.users, browser.cookie]).toEqual([0, null]);
  });
});

describe("a start link", () => {
  it("makes the first user of all the operator, and the account's address that of its owner", async () => {
    const { browser, accountId } = await signInOwner(plane, "first@example.com");
    await signInOwner(plane, "second@example.com");
    const users = await plane.app.sql<{ email: string; isOperator: boolean }[]>`
      select email, is_operator as "isOperator" from users order by id`;
    expect(users).toEqual([
      { email: "first@example.com", isOperator: true },
      { email: "second@example.com", isOperator: false },
    ]);
    expect((await plane.app.accounts.find(plane.app.sql, accountId))?.email).toBe("first@example.com");
    expect((await browser.get("/app/")).status).toBe(303);
  });

  it("works once: of two at the same time one is let in", async () => {
    const path = await startPath(plane, await createAccount(plane));
    const browsers = [openBrowser(plane), openBrowser(plane)];
    const answers = await Promise.all(
      browsers.map((one, index) => one.post(path, { email: `race${index}@example.com`, password: PASSWORD })),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([303, 404]);
    expect(browsers.filter(({ cookie }) => cookie !== null)).toHaveLength(1);
    expect((await openBrowser(plane).get(path)).status).toBe(404);
  });

  it("has the cursor in the field that is wrong", async () => {
    const path = await startPath(plane, await createAccount(plane));
    const focused = (html: string) => /<input [^>]*name="([a-z]+)"[^>]* autofocus>/s.exec(html)?.[1];
    const browser = openBrowser(plane);
    expect(focused((await browser.get(path)).html)).toBe("email");
    const short = await browser.post(path, { email: "focus@example.com", password: "short" });
    expect([short.status, focused(short.html)]).toEqual([400, "password"]);
    expect(short.html).toMatch(/id="p-password">Must have at least \d+ characters\.</);
    expect(focused((await browser.post(path, { email: "x", password: "short" })).html)).toBe("email");
  });

  it("works for 15 minutes", async () => {
    const path = await startPath(plane, await createAccount(plane));
    clock.advance(15 * MINUTE_MS - 1);
    expect((await openBrowser(plane).get(path)).status).toBe(200);
    clock.advance(1);
    const late = await openBrowser(plane).get(path);
    expect([late.status, late.html.includes("sign-in-link")]).toEqual([404, true]);
    const typed = { email: "late@example.com", password: PASSWORD };
    expect((await openBrowser(plane).post(path, typed)).status).toBe(404);
  });

  it("keeps working after a form that was not accepted, which keeps what was typed", async () => {
    const path = await startPath(plane, await createAccount(plane));
    const browser = openBrowser(plane);
    const short = await browser.post(path, { email: "new@example.com", password: "too short" });
    expect(short.status).toBe(400);
    expect(short.html).toContain('value="new@example.com"');
    expect(short.html).toContain("Must have at least 10 characters");
    expect(short.html).not.toContain("too short");
    expect((await browser.post(path, { email: "not an address", password: PASSWORD })).status).toBe(400);
    expect((await browser.post(path, { email: "new@example.com", password: "a".repeat(257) })).status).toBe(400);
    expect((await browser.post(path, { email: "new@example.com", password: PASSWORD })).status).toBe(303);
  });

  it("sets no password of a user who has other accounts", async () => {
    await signInOwner(plane, "elsewhere@example.com");
    const path = await startPath(plane, await createAccount(plane));
    const taken = await openBrowser(plane).post(path, { email: "Elsewhere@example.com", password: "another password" });
    expect(taken.status).toBe(409);
    await signIn(plane, "elsewhere@example.com");
    const browser = openBrowser(plane);
    expect((await browser.post(path, { email: "right@example.com", password: PASSWORD })).status).toBe(303);
  });

  it("gives an owner a new password, and ends the sessions with the old one", async () => {
    const { browser, accountId } = await signInOwner(plane, "forgetful@example.com");
    clock.advance(MINUTE_MS);
    const fresh = openBrowser(plane);
    const typed = { email: "forgetful@example.com", password: "my second password" };
    expect((await fresh.post(await startPath(plane, accountId), typed)).status).toBe(303);
    expect((await browser.get("/app/monitors")).status).toBe(303);
    await signIn(plane, "forgetful@example.com", { password: "my second password" });
    await expect(signIn(plane, "forgetful@example.com")).rejects.toThrow("403");
  });
});

describe("what people type", () => {
  it("is text in every page: an address with markup runs nothing", async () => {
    const email = '"<b>bold</b>"@example.com';
    const path = await startPath(plane, await createAccount(plane));
    const browser = openBrowser(plane);
    const started = await browser.post(path, { email, password: PASSWORD });
    const page = started.status === 303 ? await browser.get("/app/monitors") : started;
    expect(page.html).not.toContain("<b>bold");
  });
});
