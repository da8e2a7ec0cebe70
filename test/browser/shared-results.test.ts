import axe from "axe-core";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { CHROMIUM, describeBrowser, launchChromium, openContext } from "#test/browser/chromium.ts";
import { exampleOf } from "#control-plane/surfaces/api-document/components.ts";
import { renderSharePage } from "#control-plane/surfaces/share-page/routes.ts";
import { CONTRACTS } from "#shared/tools/index.ts";

const NOW = new Date("2026-11-27T12:00:00Z");
const PLACE = { region: "eu-west", country: "IE", city: "Dublin", asn: 64_500, latitude: null, longitude: null };

let browser: Browser;
beforeAll(async () => {
  if (CHROMIUM === null) return;
  browser = await launchChromium();
});
afterAll(() => browser?.close());

/** Renders the recorded answer of a tool as two locations have it, and a third one that failed. */
function pageOf(contract: (typeof CONTRACTS)[number]): string {
  const { params = {}, data } = exampleOf(contract.name) ?? {};
  const error = { code: "request_failed", message: "Connection timed out after 5 s.", source: "target" } as const;
  const locations = ["eu-west", "us-east"].map((region) => ({
    location: { ...PLACE, region },
    status: "ok" as const,
    duration_ms: 12,
    data,
  }));
  return String(
    renderSharePage(
      {
        share_id: "abc",
        tool: contract.name,
        title: contract.title,
        target: "shop.test",
        params,
        status: "completed",
        total: 3,
        completed: 3,
        created_at: NOW.toISOString(),
        finished_at: NOW.toISOString(),
        data: {
          locations: [...locations, { location: PLACE, status: "failed", duration_ms: 5_000, error }],
          summary: {},
        },
      },
      contract,
      NOW,
    ),
  );
}

describeBrowser("the page of a shared result", () => {
  it.each(CONTRACTS)(
    "of $name has no accessibility fault that axe finds, on a phone and on a desk",
    async (contract) => {
      const context = await openContext(browser);
      const page = await context.newPage();
      await page.setContent(pageOf(contract));
      for (const summary of await page.locator("summary").all()) await summary.click();
      await page.evaluate(axe.source);
      for (const [width, colorScheme] of [
        [320, "light"],
        [1280, "dark"],
      ] as const) {
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ colorScheme });
        const { violations } = await page.evaluate<axe.AxeResults>("axe.run()");
        expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
        // Tables scroll by themselves; the page does not.
        expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
      }
      await context.close();
    },
  );
});
