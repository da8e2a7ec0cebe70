import { co2, type Segments } from "@tgwf/co2";
import { CARBON_RATINGS } from "#shared/tools/carbon/contract.ts";

/** One of the digital carbon ratings. */
type CarbonRating = (typeof CARBON_RATINGS)[number];

/** Emissions of one segment, in grams of CO2 equivalent. */
interface CarbonSegment {
  readonly operational_g: number;
  readonly embodied_g: number;
}

/** Emissions, energy and rating of one visit. */
interface CarbonReport {
  readonly co2e_g_per_visit: number;
  readonly per_segment: {
    readonly data_center: CarbonSegment;
    readonly network: CarbonSegment;
    readonly device: CarbonSegment;
  };
  readonly energy_kwh: { readonly operational: number; readonly embodied: number; readonly total: number };
  readonly rating: CarbonRating;
  readonly cleaner_than_pct: number | null;
}

/**
 * Global average carbon intensity of electricity in the Sustainable Web Design Model v4 (Ember, 2022), g CO2e per kWh.
 */
export const GRID_INTENSITY_G_PER_KWH = 494;

/**
 * Percentage of pages above the threshold of each rating. The ratings represent percentiles of page weight in the HTTP
 * Archive (sustainablewebdesign.org/digital-carbon-ratings). F is the heavier half.
 */
const CLEANER_THAN: Readonly<Record<CarbonRating, number | null>> = {
  "A+": 95,
  A: 90,
  B: 80,
  C: 70,
  D: 60,
  E: 50,
  F: null,
};

const model = new co2({ model: "swd", version: 4, results: "segment", rating: true });
const NOTHING = {
  dataCenterOperationalCO2e: 0,
  networkOperationalCO2e: 0,
  consumerDeviceOperationalCO2e: 0,
  dataCenterEmbodiedCO2e: 0,
  networkEmbodiedCO2e: 0,
  consumerDeviceEmbodiedCO2e: 0,
};

/**
 * Estimates the emissions of one visit that transfers `bytes`, in grams of CO2 equivalent, by the Sustainable Web
 * Design Model v4 with an empty cache, whole and by segment. The operation of a green host's data centre emits nothing.
 * Less than a byte emits nothing. Energy is emissions divided by the grid intensity, as in the model.
 */
export function carbonReport(bytes: number, green: boolean): CarbonReport {
  const estimate = estimateOf(bytes, green);
  const parts = estimate === 0 ? NOTHING : estimate;
  const operational =
    parts.dataCenterOperationalCO2e + parts.networkOperationalCO2e + parts.consumerDeviceOperationalCO2e;
  const embodied = parts.dataCenterEmbodiedCO2e + parts.networkEmbodiedCO2e + parts.consumerDeviceEmbodiedCO2e;
  const energy = (grams: number): number => significant(grams / GRID_INTENSITY_G_PER_KWH);
  const rating = estimate === 0 ? "A+" : ratingOf(estimate.rating);
  return {
    co2e_g_per_visit: significant(estimate === 0 ? 0 : estimate.total),
    per_segment: {
      data_center: segment(green ? 0 : parts.dataCenterOperationalCO2e, parts.dataCenterEmbodiedCO2e),
      network: segment(parts.networkOperationalCO2e, parts.networkEmbodiedCO2e),
      device: segment(parts.consumerDeviceOperationalCO2e, parts.consumerDeviceEmbodiedCO2e),
    },
    energy_kwh: {
      operational: energy(operational),
      embodied: energy(embodied),
      total: energy(operational + embodied),
    },
    rating,
    cleaner_than_pct: CLEANER_THAN[rating],
  };
}

function estimateOf(bytes: number, green: boolean): Segments | 0 {
  return bytes >= 1 && bytes < Infinity ? model.perVisit(bytes, green) : 0;
}

function segment(operational: number, embodied: number): CarbonSegment {
  return { operational_g: significant(operational), embodied_g: significant(embodied) };
}

function ratingOf(word: string): CarbonRating {
  return CARBON_RATINGS.find((rating) => rating === word) ?? "F";
}

/** Rounds to six significant digits. More would suggest a precision that the model does not have. */
function significant(value: number): number {
  return Number(value.toPrecision(6));
}

/** Facts of the Green Web Foundation about a host. */
export interface GreenCheck {
  readonly green: boolean;
  readonly hostedBy: string | null;
  /** Evidence from the hosting provider, up to 10 documents. */
  readonly documents: readonly { readonly title: string; readonly link: string }[];
}

const MAX_DOCUMENTS = 10;
const MAX_TEXT = 300;

/**
 * Parses a response of its greencheck API v3. Returns null if it is invalid. Hosts unknown to the API are not green.
 */
export function readGreenCheck(value: unknown): GreenCheck | null {
  if (typeof value !== "object" || value === null) return null;
  const { green, hosted_by: host, supporting_documents: documents } = value as Record<string, unknown>;
  if (typeof green !== "boolean") return null;
  const listed: unknown[] = Array.isArray(documents) ? documents : [];
  return {
    green,
    hostedBy: textOf(host),
    documents: listed.slice(0, MAX_DOCUMENTS).flatMap((entry) => {
      const { title, link } = (entry ?? {}) as Record<string, unknown>;
      const address = textOf(link);
      return address === null || !/^https?:/.test(address) ? [] : [{ title: textOf(title) ?? "", link: address }];
    }),
  };
}

function textOf(value: unknown): string | null {
  if (typeof value !== "string" || value.trim() === "") return null;
  return value
    .replaceAll(/\p{Cc}/gu, " ")
    .trim()
    .slice(0, MAX_TEXT)
    .toWellFormed();
}
