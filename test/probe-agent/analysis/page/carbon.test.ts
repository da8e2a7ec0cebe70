import { co2PerVisit } from "#test/entry-points.ts";
import { describe, expect, it } from "vitest";
import { carbonReport, GRID_INTENSITY_G_PER_KWH, readGreenCheck } from "#probe-agent/analysis/page/carbon.ts";

const GB = 1e9;

describe("emissions of a visit", () => {
  it("follow the Sustainable Web Design Model v4: 0.194 kWh/GB in use, 0.106 kWh/GB in equipment, 494 g/kWh", () => {
    expect(co2PerVisit(GB)).toBeCloseTo((0.194 + 0.106) * 494, 9);
    expect(co2PerVisit(GB, true)).toBeCloseTo((0.194 + 0.106 - 0.055) * 494, 9);
    expect(carbonReport(GB, false)).toMatchObject({
      energy_kwh: { operational: 0.194, embodied: 0.106, total: 0.3 },
      per_segment: {
        data_center: { operational_g: 27.17, embodied_g: 5.928 },
        network: { operational_g: 29.146, embodied_g: 6.422 },
        device: { operational_g: 39.52, embodied_g: 40.014 },
      },
    });
  });

  it("are 0 for less than a byte and for invalid sizes", () => {
    expect([0, 0.5, -1, Number.NaN, Infinity].map((bytes) => co2PerVisit(bytes))).toEqual([0, 0, 0, 0, 0]);
    expect(carbonReport(0, false)).toMatchObject({ co2e_g_per_visit: 0, rating: "A+", energy_kwh: { total: 0 } });
    expect(co2PerVisit(1)).toBeGreaterThan(0);
  });

  it.each([true, false])("add up over the segments, green host or not (%s)", (green) => {
    const { per_segment: parts, co2e_g_per_visit: total } = carbonReport(2_345_678, green);
    const sum = Object.values(parts).reduce((grams, part) => grams + part.operational_g + part.embodied_g, 0);
    expect(sum).toBeCloseTo(total, 4);
    expect(total).toBeCloseTo(co2PerVisit(2_345_678, green), 5);
  });

  it("are 0 only for the operation of a green host's data centre", () => {
    const { per_segment: parts } = carbonReport(GB, true);
    expect(parts.data_center).toEqual({ operational_g: 0, embodied_g: 5.928 });
    expect(parts.network.operational_g).toBeGreaterThan(0);
  });
});

describe("the digital carbon rating", () => {
  const bytesFor = (grams: number) => (grams / (0.3 * GRID_INTENSITY_G_PER_KWH)) * GB;
  it.each([
    ["A+", 95, 0.01, 0.0399],
    ["A", 90, 0.041, 0.0789],
    ["B", 80, 0.08, 0.1449],
    ["C", 70, 0.146, 0.2089],
    ["D", 60, 0.21, 0.2779],
    ["E", 50, 0.279, 0.3589],
    ["F", null, 0.36, 5],
  ] as const)("%s: lighter than %s %% of pages", (rating, cleaner_than_pct, from, to) => {
    for (const grams of [from, to]) {
      expect(carbonReport(bytesFor(grams), false)).toMatchObject({ rating, cleaner_than_pct });
    }
  });
});

describe("a response of the Green Web Foundation", () => {
  it("is parsed with its evidence", () => {
    const documents = [
      { id: 1, title: "Certificate\n2026", link: "https://host.example/c.pdf" },
      { title: "x", link: "javascript:0" },
      null,
    ];
    expect(readGreenCheck({ green: true, hosted_by: " Host ", supporting_documents: documents, url: "a" })).toEqual({
      green: true,
      hostedBy: "Host",
      documents: [{ title: "Certificate 2026", link: "https://host.example/c.pdf" }],
    });
  });

  it("is false for an unknown host, and null if it has another form", () => {
    expect(readGreenCheck({ green: false, url: "a" })).toEqual({ green: false, hostedBy: null, documents: [] });
    for (const value of [null, [], "x", {}, { green: "yes" }]) expect(readGreenCheck(value)).toBeNull();
  });
});
