import axe from "axe-core";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { CHROMIUM, describeBrowser, launchChromium, openContext } from "#test/browser/chromium.ts";
import { exampleOf } from "#control-plane/surfaces/api-document/components.ts";
import { renderSharePage } from "#control-plane/surfaces/share-page.ts";
import { present } from "#shared/tools/present.ts";
import type { Contract } from "#shared/tools/define.ts";
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
function pageOf(contract: Contract): string {
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

/** The kinds of parts of a tool's page, as the templates tell them apart. */
function partsOf(contract: Contract): readonly string[] {
  const { verdict, findings, facts, series, tables } = present(contract, exampleOf(contract.name)?.data, NOW);
  return [
    `verdict ${verdict}`,
    ...findings.map(
      ({ severity, how, where, reference }) =>
        `finding ${severity}, how: ${how !== null}, where: ${where !== null}, reference: ${reference !== null}`,
    ),
    ...facts.map(({ tone, unit }) => `fact ${tone}, unit: ${unit !== undefined}`),
    ...series.map(() => "series"),
    ...tables.flatMap(({ more, columns, rows }) => [
      `table, more: ${more > 0}`,
      ...columns.map(({ numeric }) => `column, numeric: ${numeric}`),
      ...rows.map(({ tone }) => `row ${tone}`),
    ]),
  ];
}

/** Tools whose pages have every kind of part together: each has one that those before it have not. */
function sampleTools(): readonly Contract[] {
  const seen = new Set<string>();
  return CONTRACTS.filter((contract) => {
    const before = seen.size;
    for (const part of partsOf(contract)) seen.add(part);
    return seen.size > before;
  });
}

describeBrowser("the page of a shared result", () => {
  it.each(sampleTools())(
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
