import { existing, fact, table } from "#shared/presentation/build.ts";
import { definePresenter } from "#shared/tools/define-presenter.ts";
import { namePage, pageFacts } from "#shared/presentation/page.ts";
import { bytes, counted, percent, yesNo } from "#shared/presentation/values.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { carbon as contract } from "#shared/tools/carbon/contract.ts";

type Carbon = ResultOf<typeof contract>;

const KINDS = {
  html: "HTML",
  css: "Styles",
  js: "Scripts",
  images: "Images",
  fonts: "Fonts",
  other: "Other",
} as const;
const SEGMENTS = { data_center: "Data centre", network: "Network", device: "Device of the visitor" } as const;

/** carbon: the emissions of one visit with their rating, the page's weight, and whether its host is green. */
export const carbon = definePresenter(contract, (data) => {
  const { bytes: sizes, green_host: host, co2e_g_per_visit: emitted, cleaner_than_pct: cleaner } = data;
  return {
    verdict: "neutral",
    headline: `${namePage(data)}: rated ${data.rating}, ${grams(emitted)} of CO2 a visit${cleaner === null ? "" : `, cleaner than ${cleaner} % of pages`}`,
    facts: existing(
      fact("Rating", data.rating),
      fact("CO2 a visit", grams(emitted)),
      fact("Page weight", bytes(sizes.total)),
      fact("Green host", yesNo(host.green) ?? "unknown"),
      fact("Cleaner than", cleaner === null ? "fewer than half of pages" : `${cleaner} % of pages`),
      fact("Hosted by", host.hosted_by),
      fact("Requests", data.requests),
      fact("Loaded late", data.lazy_bytes === 0 ? null : `${bytes(data.lazy_bytes)}, when scrolled to`),
      fact("Size unknown", data.unknown_sizes === 0 ? null : `of ${counted(data.unknown_sizes, "resource")}`),
      fact("Energy", data.energy_kwh.total === 0 ? null : Number((data.energy_kwh.total * 1_000).toPrecision(2)), {
        unit: "Wh",
      }),
      ...pageFacts(data),
    ),
    tables: existing(listSizes(data), listSegments(data), listEvidence(data)),
  };
});

function listSizes({ bytes: sizes }: Carbon) {
  return table(
    "Weight by kind",
    ["Kind", "#Size", "#Share"],
    Object.entries(KINDS)
      .map(([kind, name]) => [name, sizes[kind as keyof typeof KINDS]] as const)
      .filter(([, size]) => size > 0)
      .toSorted(([, one], [, other]) => other - one)
      .map(([name, size]) => [name, bytes(size), percent(Math.round((100 * size) / sizes.total))]),
  );
}

function listSegments({ per_segment: segments }: Carbon) {
  return table(
    "CO2 by place",
    ["Place", "#Electricity", "#Manufacture"],
    Object.entries(SEGMENTS).map(([segment, name]) => {
      const { operational_g: used, embodied_g: made } = segments[segment as keyof typeof SEGMENTS];
      return [name, grams(used), grams(made)];
    }),
  );
}

function listEvidence({ green_host: { documents } }: Carbon) {
  return table(
    "Evidence of green power",
    ["Document", "Address"],
    documents.map(({ title, link }) => [title, link]),
  );
}

/** Writes grams with two significant digits; below a tenth of a gram as milligrams. */
function grams(g: number): string {
  if (g >= 10) return `${Math.round(g)} g`;
  if (g >= 0.1 || g === 0) return `${Number(g.toPrecision(2))} g`;
  const mg = g * 1_000;
  return mg < 0.01 ? "less than 0.01 mg" : `${Number(mg.toPrecision(2))} mg`;
}
