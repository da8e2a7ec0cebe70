import axe from "axe-core";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { CHROMIUM, describeBrowser, launchChromium, openContext } from "#test/browser/chromium.ts";
import { exampleOf } from "#control-plane/surfaces/api-document/components.ts";
import { attachScripted, helloOf } from "#test/support/scripted-agent.ts";
import { COOKIE, signInOwner } from "#test/support/dashboard.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";

let plane: TestControlPlane;
let browser: Browser;

beforeAll(async () => {
  if (CHROMIUM === null) return;
  plane = await startControlPlane();
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  await plane?.stop();
});

describeBrowser("the first page of the service", () => {
  it.each([
    ["light", 1_280],
    ["dark", 1_280],
    ["light", 320],
  ] as const)("has no accessibility fault that axe finds, in %s colours and %d px", async (colorScheme, width) => {
    const viewport = { width, height: 800 };
    const context = await openContext(browser, { colorScheme, viewport, bypassCSP: true });
    const page = await context.newPage();
    await page.goto(plane.url);
    await page.evaluate(axe.source);
    const { violations } = await page.evaluate<axe.AxeResults>("axe.run()");
    expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
    await context.close();
  });

  it("leads members to the sign-in", async () => {
    const { page, close } = await openWithoutScripts();
    await page.getByRole("link", { name: "Sign in" }).click();
    await page.waitForURL("**/sign-in");
    expect(await page.getByLabel("Password").count()).toBe(1);
    await close();
  });

  it("knows who is signed in, and leads to the dashboard", async () => {
    const { browser: member } = await signInOwner(plane, "home@example.com");
    const { context, page, close } = await openWithoutScripts();
    await context.addCookies([{ name: COOKIE, value: member.cookie ?? "", url: plane.url }]);
    await page.goto(plane.url);
    expect(await page.getByRole("link", { name: "Sign in" }).count()).toBe(0);
    await page.getByRole("link", { name: "home@example.com" }).click();
    await page.waitForURL("**/app/monitors");
    await close();
  });

  it("sends its form without JavaScript, and shows why there is no answer", async () => {
    const { page, complaints, close } = await openWithoutScripts();
    await page.getByLabel("Tool").selectOption("dns");
    await page.getByLabel("Target").fill("10.0.0.1/ & more");
    await page.getByRole("button").click();
    await page.waitForURL("**/?tool=dns&q=*");
    expect(await page.locator("h1").textContent()).toBe("No result");
    expect(await page.getByLabel("Target").inputValue()).toBe("10.0.0.1/ & more");
    expect(await page.getByLabel("Tool").inputValue()).toBe("dns");
    // The browser complains about the status 400 alone.
    expect(complaints.filter((text) => !text.includes("400"))).toEqual([]);
    await close();
  });

  it("shows the answer of its form as a page: headline, facts and where the data is", async () => {
    const agent = await attachScripted(plane, helloOf("eu-a"));
    const { page, complaints, close } = await openWithoutScripts();
    await page.getByLabel("Tool").selectOption("ip");
    await page.getByLabel("Target").fill("dns.google");
    const clicked = page.getByRole("button").click();
    const job = await agent.nextJob();
    agent.accept(job);
    agent.answer(job, { status: "ok", data: exampleOf("ip")?.data } as never);
    await clicked;
    await expect.poll(() => page.locator("h1").textContent()).toMatch(/dns\.google|8\.8\.8\.8/);
    expect(await page.locator("table.facts").textContent()).toContain("15169");
    const json = page.getByText("This answer as JSON");
    expect(await json.getAttribute("href")).toContain("/api/open/ip?q=dns.google&format=json");
    expect(complaints).toEqual([]);
    agent.cut();
    await close();
  });
});

/** Opens the first page in a browser without scripts; `complaints` are the messages of its console. */
async function openWithoutScripts() {
  const context = await openContext(browser, { javaScriptEnabled: false });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => complaints.push(message.text()));
  await page.goto(plane.url);
  return { context, page, complaints, close: () => context.close() };
}
