import axe from "axe-core";
import { chromium, type Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { CHROMIUM, describeBrowser } from "#test/browser/chromium.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";

let plane: TestControlPlane;
let browser: Browser;

beforeAll(async () => {
  if (CHROMIUM === null) return;
  plane = await startControlPlane();
  // Chromium has no sandbox for root.
  browser = await chromium.launch({ executablePath: CHROMIUM, chromiumSandbox: process.getuid?.() !== 0 });
});
afterAll(async () => {
  await browser?.close();
  await plane?.stop();
});

describeBrowser("the first page of the service", () => {
  it.each(["light", "dark"] as const)(
    "has no accessibility fault that axe finds, in %s colours",
    async (colorScheme) => {
      const context = await browser.newContext({ colorScheme, bypassCSP: true });
      const page = await context.newPage();
      await page.goto(plane.url);
      await page.evaluate(axe.source);
      const { violations } = await page.evaluate<axe.AxeResults>("axe.run()");
      expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
      await context.close();
    },
  );

  it("sends its form without JavaScript, and shows the answer", async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on("console", (message) => complaints.push(message.text()));
    await page.goto(plane.url);
    await page.getByLabel("Tool").selectOption("dns");
    await page.getByLabel("Target").fill("10.0.0.1/ & more");
    expect(complaints).toEqual([]);
    await page.getByRole("button").click();
    await page.waitForURL("**/api/open/**");
    expect(await page.locator("body").textContent()).toContain("error.field: q");
    await context.close();
  });
});
