import { describe, expect, it } from "vitest";
import { factOf, presentExample } from "#test/shared/tools/examples.ts";
import { techDetect } from "#shared/tools/tech-detect/contract.ts";

describe("the presentation of tech-detect", () => {
  it("names the system, the shop and the server before libraries", () => {
    const shown = presentExample(techDetect);
    expect(shown.verdict).toBe("neutral");
    expect(shown.headline).toBe("shop.test uses WordPress 6.7.1, WooCommerce 9.4.2, Nginx 1.26.2, PHP and 3 more");
    expect(shown.facts.slice(0, 4).map(({ label, value }) => `${label}: ${value}`)).toEqual([
      "CMS: WordPress 6.7.1",
      "Ecommerce: WooCommerce 9.4.2",
      "Web servers: Nginx 1.26.2",
      "Programming languages: PHP",
    ]);
  });

  it("shows the clearest evidence, or the technology that needs it", () => {
    const evidence = new Map(presentExample(techDetect).tables[0]?.rows.map(({ cells }) => [cells[0], cells[3]]));
    expect([evidence.get("WordPress"), evidence.get("PHP")]).toEqual([
      "meta element: generator: WordPress 6.7.1",
      "needed by WordPress",
    ]);
  });

  it("says that nothing was found, and how much was searched for", () => {
    const shown = presentExample(techDetect, () => ({ technologies: [], categories: {}, count: 0 }));
    expect(shown.headline).toBe("No known technology was found at shop.test");
    expect(factOf(shown, "Searched for")).toBe("632 technologies");
    expect(shown.tables).toEqual([]);
  });

  it("counts technologies that are not listed, and shows one without category or evidence", () => {
    const shown = presentExample(techDetect, ({ technologies }) => ({
      technologies: technologies.slice(0, 1).map((one) => ({ ...one, categories: [], evidence: [], version: null })),
      count: 90,
    }));
    expect(shown.headline).toBe("shop.test uses Google Analytics and 89 more");
    expect(factOf(shown, "Other")).toBe("Google Analytics");
    expect(shown.tables[0]).toMatchObject({ rows: [{ cells: ["Google Analytics", "100 %"] }], more: 89 });
  });

  it("says that the page is an error page", () => {
    const shown = presentExample(techDetect, () => ({ code: 404, final_url: "https://shop.test/gone" }));
    expect(shown.headline).toMatch(/^shop\.test \(an error page, status 404\) uses /);
    expect(factOf(shown, "Final URL")).toBe("https://shop.test/gone");
  });
});
