import { Type } from "typebox";
import { defineTool } from "#shared/tools/define.ts";
import { Nullable, Url } from "#shared/tools/fields.ts";
import {
  count,
  list,
  number,
  OBSERVED_FIELDS,
  PAGE_FIELDS,
  record,
  text,
  texts,
  truth,
  word,
} from "#shared/tools/shapes.ts";

/** Digital carbon ratings, best first. Unlike other grades they include E. */
export const CARBON_RATINGS = ["A+", "A", "B", "C", "D", "E", "F"] as const;

const BYTE_KINDS = {
  html: count("Page and documents of its frames, bytes on the wire"),
  css: count("Style sheets, bytes on the wire"),
  js: count("Scripts, bytes on the wire"),
  images: count("Images, bytes on the wire"),
  fonts: count("Fonts, bytes on the wire"),
  other: count("All other resources, bytes on the wire"),
};

function segment(what: string) {
  return record(
    {
      operational_g: number("From electricity used, g CO2e"),
      embodied_g: number("Share of manufacturing the equipment, g CO2e"),
    },
    what,
  );
}

/** The carbon tool: estimates the emissions of one page visit by the Sustainable Web Design Model. */
export const carbon = defineTool({
  name: "carbon",
  title: "Carbon footprint",
  summary: "Bytes that a page loads, emissions of one visit by the Sustainable Web Design Model v4, and their rating",
  scope: "check",
  toolset: "page",
  target: { param: "url", kind: "url", connects: true },
  example: { url: "https://example.com" },
  deadlineMs: () => 30_000,
  params: Type.Object({ url: Url({ description: "Page to measure; redirects are followed" }) }),
  result: Type.Object({
    ...PAGE_FIELDS,
    bytes: record(
      { ...BYTE_KINDS, total: count("Sum of the above") },
      "Bodies on the wire, compressed as sent; only resources that the HTML references, not those loaded by scripts and style sheets",
    ),
    lazy_bytes: count("Of the total: images and frames that load only near the viewport (loading=lazy)"),
    requests: count("The page and the resources that its HTML references"),
    unknown_sizes: count("Resources of unknown size; they count as 0 bytes"),
    co2e_g_per_visit: number("Grams of CO2 equivalent for one visit with an empty cache"),
    per_segment: record(
      {
        data_center: segment("Data centres; operational is 0 if the host is green"),
        network: segment("Networks"),
        device: segment("Devices of visitors"),
      },
      "Emissions by segment; they add up to co2e_g_per_visit",
    ),
    energy_kwh: record(
      {
        operational: number("Used for the visit, kWh"),
        embodied: number("Share of manufacturing the equipment, kWh"),
        total: number("Both, kWh"),
      },
      "Electricity of one visit",
    ),
    rating: word(
      CARBON_RATINGS,
      "Digital carbon rating; maximum grams of A+ to E: 0.040, 0.079, 0.145, 0.209, 0.278, 0.359; F above",
    ),
    cleaner_than_pct: Nullable(
      count("Minimum percentage of pages that emit more, by the percentiles of the rating; null if it is below 50"),
    ),
    green_host: record(
      {
        green: Nullable(
          truth("Whether the host is known to run on renewable energy; null if the source could not be queried"),
        ),
        hosted_by: Nullable(text("Hosting provider; null if unknown")),
        source: text("Source of this information"),
        checked: text("The checked host"),
        documents: list(
          Type.Object({ title: text("Heading"), link: text("Address") }),
          "Evidence from the source, at most 10 documents",
        ),
      },
      "Whether the site's host is green",
    ),
    model: text("Model used: swd-v4"),
    grid_intensity: record(
      {
        data_center_g_per_kwh: number("Carbon intensity of electricity, g CO2e per kWh; 0 for green hosts"),
        network_g_per_kwh: number("Carbon intensity of electricity, g CO2e per kWh"),
        device_g_per_kwh: number("Carbon intensity of electricity, g CO2e per kWh"),
        scope: text("Scope of the intensities: global average"),
      },
      "Assumed carbon intensities",
    ),
    caveats: texts("Limits of such an estimate, one sentence each"),
    ...OBSERVED_FIELDS,
  }),
  across: { agreeOn: ({ rating }) => rating, measure: () => ({}) },
});
