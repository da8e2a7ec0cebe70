import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { CHROMIUM, describeBrowser, launchChromium, openContext } from "#test/browser/chromium.ts";
import { startPublicPages, type PublicPageServer } from "#test/support/public-pages.ts";
import { makeIncident, makeView } from "#test/support/status-page-views.ts";

const MINUTE_MS = 60_000;

let server: PublicPageServer;
let browser: Browser;

beforeAll(async () => {
  if (CHROMIUM === null) return;
  server = await startPublicPages({ acme: makeView() });
  server.domains.set("status.localhost", "acme");
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
});

/** Opens the page in a browser whose clock the test moves; `loads` counts how often the page was asked for. */
async function open(url = `${server.url}/status/acme`) {
  server.views.set("acme", makeView());
  server.clock.advance(MINUTE_MS);
  const context = await openContext(browser, { viewport: { width: 1280, height: 600 } });
  await context.clock.install();
  const page = await context.newPage();
  const seen = { loads: 0, complaints: [] as string[] };
  page.on("request", (request) => (seen.loads += request.url() === url ? 1 : 0));
  page.on("console", (message) => seen.complaints.push(message.text()));
  page.on("pageerror", (error) => seen.complaints.push(error.message));
  await page.goto(url);
  await page.waitForLoadState("networkidle");
  return { page, seen, close: () => context.close() };
}

/** Lets a minute pass in the browser and at the server, whose limits it ends. */
async function passMinute(page: Page): Promise<void> {
  server.clock.advance(MINUTE_MS);
  await page.clock.runFor(MINUTE_MS + 1_000);
}

/** Lets minutes pass until the page has been asked for so many times: the next minute counts from the last answer. */
async function passUntilLoads(page: Page, seen: { readonly loads: number }, loads: number): Promise<void> {
  await expect
    .poll(async () => {
      if (seen.loads < loads) await passMinute(page);
      return seen.loads;
    })
    .toBe(loads);
  await page.waitForLoadState("networkidle");
}

const setHidden = (isHidden: boolean): string =>
  `Object.defineProperty(document, "hidden", { configurable: true, value: ${isHidden} });
   document.dispatchEvent(new Event("visibilitychange"));`;

const withNews = (title: string) => makeView({ incidents: [makeIncident(9, { title, resolvedAt: null })] });

describeBrowser("a status page that stays open", () => {
  it("shows what is new after a minute, and keeps the place, what was typed and what was ticked", async () => {
    const { page, seen, close } = await open();
    await page.getByLabel(/^Mail address/).fill("me@example.com");
    await page.getByLabel("Show every day as text").check();
    await page.evaluate("window.isSame = true; scrollTo(0, 400)");
    server.views.set("acme", withNews("Login fails"));
    await passMinute(page);
    await page.getByRole("link", { name: "Login fails" }).waitFor();
    expect(await page.evaluate("[isSame, scrollY]")).toEqual([true, 400]);
    expect(await page.getByLabel(/^Mail address/).inputValue()).toBe("me@example.com");
    expect(await page.getByLabel("Show every day as text").isChecked()).toBe(true);
    expect(seen.complaints).toEqual([]);
    await close();
  });

  it("changes nothing of its document while nothing is new, and its icon and title with the state", async () => {
    const { page, seen, close } = await open();
    await page.evaluate(`
      window.changes = [];
      new MutationObserver((records) => changes.push(...records.map((one) => one.target.nodeName + " " + one.type)))
        .observe(document, { subtree: true, childList: true, attributes: true, characterData: true })`);
    await passUntilLoads(page, seen, 3);
    // The library keeps what it moves in a hidden element after the body, for the time of the comparison.
    expect((await page.evaluate<string[]>("changes")).filter((one) => one !== "HTML childList")).toEqual([]);
    const iconOf = () => page.locator("link[rel=icon]").getAttribute("href");
    const before = await iconOf();
    server.views.set("acme", makeView({ overallStatus: "major_outage" }));
    await passUntilLoads(page, seen, 4);
    await expect.poll(() => page.title()).toBe("Major outage - Acme");
    expect(await iconOf()).not.toBe(before);
    await close();
  });

  it("asks for nothing while its tab is hidden, and at once when it is seen again", async () => {
    const { page, seen, close } = await open();
    await page.evaluate(setHidden(true));
    for (let minute = 0; minute < 5; minute += 1) await passMinute(page);
    expect(seen.loads).toBe(1);
    server.views.set("acme", withNews("Search is slow"));
    await page.evaluate(setHidden(false));
    await page.clock.runFor(1_000);
    await page.getByRole("link", { name: "Search is slow" }).waitFor();
    expect(seen.loads).toBe(2);
    await close();
  });

  it("says that it could not be refreshed after two failures, until it could", async () => {
    const { page, seen, close } = await open();
    const lost = page.getByText("This page could not be refreshed.");
    server.views.delete("acme");
    await passUntilLoads(page, seen, 2);
    expect(await lost.isVisible()).toBe(false);
    await passUntilLoads(page, seen, 3);
    await lost.waitFor();
    server.views.set("acme", makeView());
    await passUntilLoads(page, seen, 4);
    await lost.waitFor({ state: "hidden" });
    await close();
  });

  it("is kept fresh at its own domain too", async () => {
    const { page, close } = await open(`http://status.localhost:${new URL(server.url).port}/`);
    server.views.set("acme", withNews("Login fails"));
    await passMinute(page);
    const news = page.getByRole("link", { name: "Login fails" });
    await news.waitFor();
    expect(await news.getAttribute("href")).toBe("/incidents/9");
    await close();
  });
});
