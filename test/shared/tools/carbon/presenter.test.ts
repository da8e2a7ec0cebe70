import { describe, expect, it } from "vitest";
import { factOf, presentExample } from "#test/shared/tools/examples.ts";
import { carbon } from "#shared/tools/carbon/contract.ts";

describe("the presentation of carbon", () => {
  it("begins with the rating and the emissions of a visit, and judges nothing", () => {
    const shown = presentExample(carbon);
    expect(shown.verdict).toBe("neutral");
    expect(shown.headline).toBe("shop.test: rated A+, 23 mg of CO2 a visit, cleaner than 95 % of pages");
    expect(shown.tables[0]?.rows[0]?.cells).toEqual(["Images", "144.2 kB", "74 %"]);
  });

  it("shows a heavy page in grams, and that fewer than half of pages are dirtier", () => {
    const shown = presentExample(carbon, ({ green_host: host }) => ({
      rating: "F",
      co2e_g_per_visit: 1.2345,
      cleaner_than_pct: null,
      green_host: { ...host, green: null, hosted_by: null, documents: [] },
    }));
    expect(shown.headline).toBe("shop.test: rated F, 1.2 g of CO2 a visit");
    expect(factOf(shown, "Cleaner than")).toBe("fewer than half of pages");
    expect(factOf(shown, "Green host")).toBe("unknown");
    expect(shown.tables.map(({ title }) => title)).toEqual(["Weight by kind", "CO2 by place"]);
  });

  it("shows a page without a byte", () => {
    const nothing = { operational_g: 0, embodied_g: 0 };
    const shown = presentExample(carbon, () => ({
      bytes: { html: 0, css: 0, js: 0, images: 0, fonts: 0, other: 0, total: 0 },
      lazy_bytes: 0,
      co2e_g_per_visit: 0,
      energy_kwh: { operational: 0, embodied: 0, total: 0 },
      per_segment: { data_center: nothing, network: nothing, device: { operational_g: 1e-9, embodied_g: 42.4 } },
    }));
    expect([factOf(shown, "CO2 a visit"), factOf(shown, "Page weight")]).toEqual(["0 g", "0 B"]);
    expect(shown.tables[0]?.rows.at(-1)?.cells).toEqual(["Device of the visitor", "less than 0.01 mg", "42 g"]);
  });
});
