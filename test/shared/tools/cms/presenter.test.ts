import { describe, expect, it } from "vitest";
import { factOf, presentExample } from "#test/shared/tools/examples.ts";
import { cms } from "#shared/tools/cms/contract.ts";

const NONE = { detected: false, cms: null, theme: null, plugins: [], ecommerce: null, candidates: [] };

describe("the presentation of cms", () => {
  it("begins with the system, its version, theme and plugins", () => {
    const shown = presentExample(cms);
    expect(shown.verdict).toBe("neutral");
    expect(shown.headline).toBe("shop.test runs WordPress 6.7.1 with the theme storefront 4.6.0 and 2 plugins");
    expect(shown.facts.slice(0, 4).map(({ label, value }) => `${label}: ${value}`)).toEqual([
      "System: WordPress",
      "Version: 6.7.1",
      "Theme: storefront 4.6.0",
      "Plugins: 2",
    ]);
    expect(shown.tables.map(({ title }) => title)).toEqual(["Plugins", "Other systems"]);
  });

  it("says that no system was found", () => {
    const shown = presentExample(cms, () => NONE);
    expect(shown.headline).toBe("No content management system was found at shop.test");
    expect([factOf(shown, "System"), factOf(shown, "Version")]).toEqual(["none found", null]);
    expect(shown.tables).toEqual([]);
  });

  it("names a system that is not certain as a guess", () => {
    const shown = presentExample(cms, ({ candidates }) => ({
      ...NONE,
      candidates: candidates.map((one) => ({ ...one, name: "Joomla", version: null, confidence: 40 })),
    }));
    expect(shown.headline).toBe("No content management system was found at shop.test; perhaps it is Joomla (40 %)");
    expect(shown.tables[0]?.title).toBe("Possible systems");
  });

  it("shows a system without version, theme and plugins, and that another program makes the pages", () => {
    const shown = presentExample(cms, ({ cms: system }) => ({
      cms: { ...system, version: null, headless: true },
      theme: null,
      plugins: [],
    }));
    expect(shown.headline).toBe("shop.test runs WordPress");
    expect([factOf(shown, "Version"), factOf(shown, "Pages by")]).toEqual([
      "unknown",
      "another program: the system only has the content",
    ]);
  });
});
