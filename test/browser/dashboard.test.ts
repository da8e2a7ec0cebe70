import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { CHROMIUM, describeBrowser, launchChromium, openContext } from "#test/browser/chromium.ts";
import { startHttpServer, type HttpServer } from "#test/servers/http.ts";
import { startAgent, type AgentProcess } from "#test/support/agent-process.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { createAccount, PASSWORD, startPath } from "#test/support/dashboard.ts";

let plane: TestControlPlane;
let agent: AgentProcess;
let browser: Browser;
let site: HttpServer;
let isBroken = false;

beforeAll(async () => {
  if (CHROMIUM === null) return;
  site = await startHttpServer({
    handler: (_request, response, { path }) => {
      response
        .writeHead(isBroken && path === "/shop" ? 503 : 200, { "content-type": "text/html" })
        .end("<h1>Shop</h1>");
      return true;
    },
  });
  plane = await startControlPlane();
  agent = await startAgent(plane, "eu-west");
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  await agent?.stop();
  await plane?.stop();
  await site?.close();
});

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true } as const;
/** Expression: whether the page can be scrolled sideways. */
const IS_TOO_WIDE = "document.documentElement.scrollWidth > innerWidth";

/** Opens a window of its own cookies; `complaints` are the errors of its pages. */
async function openWindow(options: BrowserContextOptions = {}) {
  const context = await openContext(browser, { baseURL: plane.url, ...options });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  return { context, page, complaints };
}

/** Joins the account by an invite that an owner creates, in a window of its own. */
async function join(owner: Page, email: string, role: "Viewer" | "Editor") {
  await owner.goto("/app/members");
  await owner.getByLabel("Email (optional)").fill(email);
  await owner.getByLabel("Role", { exact: true }).selectOption(role);
  await owner.getByRole("button", { name: "Create the invite" }).click();
  const link = new URL(await owner.getByLabel("Link").inputValue());
  const joined = await openWindow();
  await joined.page.goto(link.pathname);
  await joined.page.getByLabel("Email").fill(email);
  await joined.page.getByLabel("Password").fill(PASSWORD);
  await joined.page.getByRole("button", { name: "Join" }).click();
  await joined.page.waitForURL("**/app/monitors");
  return joined;
}

/** Sends a form as a page of the service would, with the token of the session. */
async function postFrom(context: BrowserContext, page: Page, path: string): Promise<number> {
  const token = await page.locator('input[name="_csrf"]').first().inputValue();
  const answer = await context.request.post(path, {
    form: { _csrf: token },
    headers: { origin: plane.url },
    maxRedirects: 0,
  });
  return answer.status();
}

const buttonsOf = (page: Page) => page.locator("main").locator("button, a.button");

describeBrowser("the dashboard", () => {
  it("is where a user starts, adds a monitor, and sees it fail; others of the account see and do what they may", async () => {
    const { page, context, complaints } = await openWindow();
    await page.goto(await startPath(plane, await createAccount(plane)));
    await page.getByLabel("Email").fill("owner@example.com");
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Start" }).click();
    await page.waitForURL("**/app/monitors");

    // The first monitor is tried before it is saved.
    await page.getByRole("link", { name: /^Watch something else/ }).click();
    await page.getByRole("link", { name: /^HTTP / }).click();
    await page.getByLabel("Address").fill(`${site.url}/shop`);
    await page.getByLabel("Name", { exact: true }).fill("Shop");
    await page.getByText("When, and from where").click();
    await page.getByLabel("Checks that must fail again").fill("0");
    await page.getByRole("button", { name: "Try it" }).click();
    await page.getByText("It works.").waitFor();
    expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("Shop");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("heading", { name: "Shop" }).waitFor();
    expect(await page.getByRole("status").textContent()).toContain("The monitor is created.");
    const ofShop = new URL(page.url()).pathname;

    // Two more, pasted.
    await page.goto("/app/monitors/paste");
    await page.getByLabel("Addresses").fill(`${site.url}/ Blog\n${site.url}/ Docs`);
    await page.getByRole("button", { name: "Try them" }).click();
    await page.getByRole("button", { name: "Create the chosen monitors" }).click();
    await page.waitForURL("**/app/monitors?*done=pasted");
    await page.goto("/app/monitors");
    const states = () => page.locator("#rows .badge").allTextContents();
    const names = () => page.locator("#rows a[data-row]").allTextContents();
    // The open list follows by itself.
    await expect.poll(states).toEqual(["Up", "Up", "Up"]);
    expect(await page.title()).toBe("Monitors - Vantage");

    const viewer = await join(page, "viewer@example.com", "Viewer");
    const editor = await join(page, "editor@example.com", "Editor");

    // It fails while the list is open.
    await page.goto("/app/monitors");
    expect(await names()).toEqual(["Blog", "Docs", "Shop"]);
    await page.evaluate("window.isStillLoaded = true");
    isBroken = true;
    expect(await postFrom(context, page, `${ofShop}/run`)).toBe(303);
    await expect.poll(() => page.title()).toBe("(1) Monitors - Vantage");
    const row = page.locator("#rows li", { hasText: "Shop" });
    expect(await row.locator(".badge").textContent()).toBe("Down");
    expect(await row.textContent()).toContain("503");
    expect(await page.evaluate("window.isStillLoaded")).toBe(true);
    // Rows keep their places while somebody looks at them; a view that is loaded begins with what fails.
    expect(await names()).toEqual(["Blog", "Docs", "Shop"]);
    await page.reload();
    expect(await names()).toEqual(["Shop", "Blog", "Docs"]);

    // On a phone, by email and password, and back to the page that was asked for.
    const phone = await openWindow(PHONE);
    await phone.page.goto(ofShop);
    await phone.page.getByLabel("Email").fill("owner@example.com");
    await phone.page.getByLabel("Password").fill(PASSWORD);
    await phone.page.getByRole("button", { name: "Sign in" }).click();
    await phone.page.getByRole("heading", { name: "Shop" }).waitFor();
    expect(new URL(phone.page.url()).pathname).toBe(ofShop);
    expect(await phone.page.locator("main").textContent()).toContain("503");
    expect(await phone.page.evaluate(IS_TOO_WIDE)).toBe(false);

    // The alert is acknowledged there.
    await phone.page.getByRole("link", { name: /^HTTP 503 / }).click();
    await phone.page.getByRole("button", { name: "Acknowledge" }).click();
    await phone.page.getByText("The incident is acknowledged.").waitFor();
    expect(await phone.page.locator("main").textContent()).toContain("owner@example.com");
    expect(await phone.page.evaluate(IS_TOO_WIDE)).toBe(false);
    await phone.page.goto(ofShop);
    await phone.page.getByRole("heading", { name: "Shop" }).waitFor();

    // A check that somebody asks for shows its result in the page, without a load of it.
    await page.goto(ofShop);
    await page.getByRole("button", { name: "Check now" }).click();
    await page.getByText(/^Checked \d+ s ago: 503 in [\d,]+ ms, unexpected HTTP status$/).waitFor();
    expect(await page.getByText("The check is on its way.").count()).toBe(0);
    await page.goto("/app/monitors");

    // Keys lead through the list.
    await page.keyboard.press("?");
    await page.getByRole("heading", { name: "Keys" }).waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("j");
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Shop");
    await page.keyboard.press("/");
    expect(await page.evaluate("document.activeElement.id")).toBe("q");

    // A viewer sees the same and changes nothing.
    await viewer.page.goto("/app/monitors");
    expect(await viewer.page.title()).toBe("(1) Monitors - Vantage");
    expect(await buttonsOf(viewer.page).allTextContents()).toEqual(["Apply"]);
    await viewer.page.getByRole("link", { name: "Shop" }).click();
    await viewer.page.getByRole("heading", { name: "Shop" }).waitFor();
    expect(await buttonsOf(viewer.page).count()).toBe(0);
    for (const action of ["pause", "run", "delete", "edit", "test-mail"])
      expect([action, await postFrom(viewer.context, viewer.page, `${ofShop}/${action}`)]).toEqual([action, 403]);

    // An editor pauses it, which the open phone shows.
    await editor.page.goto(ofShop);
    await editor.page.getByRole("button", { name: "Pause" }).click();
    await editor.page.getByText("The monitor is paused.").waitFor();
    await expect.poll(() => phone.page.locator(".title .badge").textContent()).toBe("Paused");
    expect((await editor.context.request.get("/app/members", { maxRedirects: 0 })).status()).toBe(403);

    for (const window of [{ context, complaints }, viewer, editor, phone]) {
      expect(window.complaints).toEqual([]);
      await window.context.close();
    }
  });

  it("shows the next runs of a heartbeat while its schedule is typed", async () => {
    const { page, context, complaints } = await openWindow();
    await page.goto(await startPath(plane, await createAccount(plane)));
    await page.getByLabel("Email").fill("cron@example.com");
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Start" }).click();
    await page.waitForURL("**/app/monitors");
    await page.goto("/app/monitors/new?kind=heartbeat");
    const shown = page.locator("[aria-live=polite]");
    expect(await shown.textContent()).toContain("is due within 5 min");

    const typed = page.getByLabel("Schedule", { exact: true });
    await typed.pressSequentially("30 2 * * mon");
    const texts = () => shown.locator("li").allTextContents();
    await expect
      .poll(async () => (await texts()).map((text) => text.replace(/\d+ \w+(?: \d{4})? /, "")))
      .toEqual(Array.from({ length: 5 }, () => "Mon 02:30"));
    await page.getByLabel("Time zone of the schedule").fill("Asia/Kolkata");
    await expect.poll(async () => (await texts())[0]).toMatch(/^Sun .* 21:00 \(Mon .* 02:30 in Asia\/Kolkata\)$/);
    await page.getByLabel("Grace (seconds)").fill("7200");
    await expect.poll(() => shown.textContent()).toContain("A run is late 2 h after its time.");
    await typed.fill("30 2 * * <b>mon");
    await expect
      .poll(() => shown.textContent())
      .toMatch(/^Schedule: the day of week field has "<b>mon"; allowed are .*commas\.$/);
    expect(await typed.evaluate("document.activeElement.id")).toBe("f-heartbeat-cron");

    // What cannot be asked is not shown: it would be that of an earlier text.
    await typed.fill("0 6 * * *");
    await expect.poll(texts).toHaveLength(5);
    const complained = complaints.length;
    await context.setOffline(true);
    await typed.fill("0 7 * * *");
    await expect.poll(() => shown.textContent()).toBe("");
    await context.setOffline(false);
    expect(complaints.slice(0, complained)).toEqual([]);
    await typed.fill("@weekly");
    await expect.poll(texts).toHaveLength(5);
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("The monitor is created.").waitFor();
    await context.close();
  });

  it("shows a status page as it would be while it is typed, and leads back past its previews", async () => {
    const { page, context, complaints } = await openWindow({ timezoneId: "Europe/Berlin" });
    await page.goto(await startPath(plane, await createAccount(plane)));
    await page.getByLabel("Email").fill("pages@example.com");
    await page.getByLabel("Password").fill(PASSWORD);
    await page.getByRole("button", { name: "Start" }).click();
    await page.waitForURL("**/app/monitors");
    // The times are those of the browser from the start.
    expect(await page.locator("footer").textContent()).toBe("Times are in Europe/Berlin.");
    await page.goto("/app/status-pages");
    await page.goto("/app/status-pages/new");
    const title = page.getByLabel("Title", { exact: true });
    await page.getByLabel("Last part of the address").fill("example-shop");
    await title.fill("Example Shop");
    const preview = page.frameLocator("iframe:not([hidden])");
    await preview.getByRole("heading", { name: "Example Shop" }).waitFor();
    await title.fill("Other Shop");
    await preview.getByRole("heading", { name: "Other Shop" }).waitFor();
    await expect.poll(() => page.locator("iframe").count()).toBe(1);
    expect(await title.evaluate("document.activeElement.id")).toBe("f-title");
    await page.goBack();
    expect(new URL(page.url()).pathname).toBe("/app/status-pages");
    expect(complaints).toEqual([]);
    await context.close();
  });
});
