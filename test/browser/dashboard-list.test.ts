import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { CHROMIUM, describeBrowser, launchChromium, openContext } from "#test/browser/chromium.ts";
import { createManualClock } from "#test/support/clock.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { COOKIE, PASSWORD, signIn, signInOwner } from "#test/support/dashboard.ts";
import { createWatchedAccount } from "#test/support/watched-account.ts";

const MONITORS = 250;
const FIRST_ROWS = 100;
/** Between two refreshes, longer than readings are shared. */
const REFRESH_MS = 10_000;
/** Shorter than the time after which the browser ends a load: that of its clock. */
const STEP_MS = 5_000;
const EMAIL = "owner@example.com";

const clock = createManualClock(new Date());
let plane: TestControlPlane;
let browser: Browser;
let ids: readonly number[];

beforeAll(async () => {
  if (CHROMIUM === null) return;
  // Its monitors are due, but nothing checks them.
  plane = await startControlPlane({ overrides: { clock } });
  const account = await createWatchedAccount(plane, plane.app.sql, MONITORS);
  ids = account.ids;
  await signInOwner(plane, EMAIL, { accountId: account.accountId });
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  await plane?.stop();
});

/** Opens the list in a window whose clock the test moves. `loads` counts refreshes, `settled` those that have ended. */
async function openList() {
  await plane.app.sql`update monitors set is_active = true`;
  clock.advance(REFRESH_MS);
  const member = await signIn(plane, EMAIL);
  const context = await openContext(browser, { baseURL: plane.url, viewport: { width: 1280, height: 800 } });
  await context.addCookies([{ name: COOKIE, value: member.cookie ?? "", url: plane.url }]);
  await context.clock.install();
  const page = await context.newPage();
  const seen = { loads: 0, settled: 0, complaints: [] as string[] };
  const isRefresh = (request: { headers(): Record<string, string> }) => request.headers()["x-view"] === "live";
  const settle = (request: { headers(): Record<string, string> }) => void (seen.settled += isRefresh(request) ? 1 : 0);
  page.on("request", (request) => void (seen.loads += isRefresh(request) ? 1 : 0));
  page.on("requestfinished", settle);
  page.on("requestfailed", settle);
  page.on("console", (message) => seen.complaints.push(message.text()));
  page.on("pageerror", (error) => seen.complaints.push(error.message));
  await page.goto("/app/monitors");
  const rows = page.locator("#rows > li");
  const rowIds = () => rows.evaluateAll((list) => list.map(({ id }) => id));
  /** Lets time pass here and at the server until the next refresh, if there is one, has ended. */
  async function pass(): Promise<void> {
    for (let step = 0; step < REFRESH_MS; step += STEP_MS) {
      clock.advance(STEP_MS);
      await page.clock.runFor(STEP_MS);
      // A refresh can ask twice: both numbers grow while this waits.
      await expect.poll(() => seen.loads - seen.settled).toBe(0);
      await page.evaluate("0");
    }
  }
  /** Lets time pass until what is read is as expected. */
  async function later<T>(read: () => Promise<T>, expected: T): Promise<void> {
    await expect
      .poll(async () => {
        await pass();
        return read();
      })
      .toBe(expected);
  }
  /** Scrolls until all rows are loaded. */
  async function loadAll(): Promise<void> {
    while ((await page.locator("[data-more]").count()) > 0) {
      const before = await rows.count();
      await rows.last().scrollIntoViewIfNeeded();
      await expect.poll(() => rows.count()).toBeGreaterThan(before);
    }
  }
  return { context, page, seen, rows, rowIds, pass, later, loadAll, member };
}

const pause = (id: number | undefined) =>
  plane.app.sql`update monitors set is_active = false where id = ${id ?? 0}`.execute();

describeBrowser(`an open list of ${MONITORS} monitors`, () => {
  it("loads the rows that follow while somebody scrolls, each once, and its address has them all", async () => {
    const { context, page, seen, rowIds, loadAll } = await openList();
    const first = await rowIds();
    expect(first).toHaveLength(FIRST_ROWS);
    await loadAll();
    const all = await rowIds();
    expect(all.slice(0, FIRST_ROWS)).toEqual(first);
    expect(all).toHaveLength(MONITORS);
    expect(new Set(all)).toEqual(new Set(ids.map((id) => `m-${id}`)));
    await page.reload();
    expect(await rowIds()).toEqual(all);
    expect(seen.complaints).toEqual([]);
    await context.close();
  });

  it("refreshes loaded rows in their places, and leaves the focus and the scrolling as they are", async () => {
    const { context, page, seen, rows, rowIds, later, loadAll } = await openList();
    await loadAll();
    const all = await rowIds();
    const changed = rows.nth(180);
    await changed.locator("a[data-row]").focus();
    const top = await changed.evaluate((row) => row.getBoundingClientRect().top);
    await pause(Number((await changed.getAttribute("id"))?.slice(2)));
    await later(() => changed.locator(".badge").textContent(), "Paused");
    expect(await rowIds()).toEqual(all);
    expect(await page.evaluate("document.activeElement.closest('li').id")).toBe(all[180]);
    expect(await changed.evaluate((row) => row.getBoundingClientRect().top)).toBe(top);
    expect(seen.complaints).toEqual([]);
    await context.close();
  });

  it("keeps a row where it is that is not among the first any more", async () => {
    const { context, rows, rowIds, pass, later } = await openList();
    const before = await rowIds();
    await pause(Number(before[3]?.slice(2)));
    // Paused monitors come last of 250.
    await later(() => rows.nth(3).locator(".badge").textContent(), "Paused");
    expect((await rowIds()).slice(0, FIRST_ROWS)).toEqual(before);
    for (let count = 0; count < 3; count += 1) await pass();
    expect((await rowIds()).slice(0, FIRST_ROWS)).toEqual(before);
    await context.close();
  });

  it("says so when the session has ended, asks no more, and leads back by the sign-in", async () => {
    const { context, page, seen, rows, pass, later, member } = await openList();
    await member.post("/sign-out");
    await later(() => page.getByText("You are signed out.").count(), 1);
    expect(await rows.count()).toBe(FIRST_ROWS);
    const { loads } = seen;
    for (let count = 0; count < 10; count += 1) await pass();
    expect(seen.loads).toBe(loads);
    await page.locator("main").getByRole("link", { name: "Sign in" }).click();
    await page.getByLabel("Email").fill(EMAIL);
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.waitForURL("**/app/monitors");
    expect(seen.complaints).toEqual([]);
    await context.close();
  });

  it("says that it is not fresh when the server fails, asks it ever less often, and goes on when it answers", async () => {
    const { context, page, seen, rows, rowIds, pass, later } = await openList();
    let isBroken = true;
    await page.route("**/app/monitors", (route) => (isBroken ? route.fulfill({ status: 503 }) : route.continue()));
    const lost = page.getByText("This page could not be refreshed.");
    expect(await lost.isVisible()).toBe(false);
    for (let count = 0; count < 60; count += 1) await pass();
    expect(await lost.isVisible()).toBe(true);
    // After 10, 20, 40, 80, 160 and 320 s.
    expect(seen.loads).toBeGreaterThan(3);
    expect(seen.loads).toBeLessThan(8);
    isBroken = false;
    const [first] = await rowIds();
    await pause(Number(first?.slice(2)));
    await later(() => rows.first().locator(".badge").textContent(), "Paused");
    expect(await lost.isVisible()).toBe(false);
    const { loads } = seen;
    for (let count = 0; count < 10; count += 1) await pass();
    expect(seen.loads).toBeGreaterThan(loads + 5);
    await context.close();
  });

  it("is not refreshed while its tab is hidden, and at once when it is seen again", async () => {
    const { context, page, seen, pass } = await openList();
    const show = (isHidden: boolean) =>
      page.evaluate(`
        Object.defineProperty(document, "hidden", { configurable: true, value: ${isHidden} });
        document.dispatchEvent(new Event("visibilitychange"));`);
    await show(true);
    for (let count = 0; count < 5; count += 1) await pass();
    expect(seen.loads).toBe(0);
    await show(false);
    await expect.poll(() => seen.settled).toBe(1);
    for (let count = 0; count < 3; count += 1) await pass();
    expect(seen.loads).toBeGreaterThan(2);
    await context.close();
  });
});
