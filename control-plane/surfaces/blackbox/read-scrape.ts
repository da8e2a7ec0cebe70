import { parseLocations, type LocationItem } from "#shared/locations.ts";
import { parseToolParams } from "#shared/tools/parse-params.ts";
import type { FieldProblem } from "#shared/schema/problem.ts";
import type { ModuleQuery, Module, ModuleCall } from "#control-plane/surfaces/blackbox/module.ts";

/** A scrape as it was read: the tool call and where it runs. */
export interface Scrape {
  readonly params: Readonly<Record<string, unknown>>;
  readonly call: ModuleCall;
  /** null: one probe of the system's choice. */
  readonly locations: readonly LocationItem[] | null;
  /** Milliseconds the whole scrape may take; null: the tool's own deadline. */
  readonly timeoutMs: number | null;
}

/** Prometheus gives up a scrape after its timeout: an answer half a second before it arrives, as with the exporter. */
const TIMEOUT_OFFSET_MS = 500;

/** Reads target, region and query of a scrape; a problem's field is the name of the query parameter. */
export function readScrape(
  module: Module,
  query: Readonly<Record<string, unknown>>,
  scrapeTimeoutSeconds: string | undefined,
): { readonly ok: true; readonly scrape: Scrape } | { readonly ok: false; readonly problem: FieldProblem } {
  const texts = readTexts(query);
  if ("field" in texts) return { ok: false, problem: texts };
  const { target, region, query_name: queryName, query_type: queryType } = texts;
  if (target === null) {
    return { ok: false, problem: { field: "target", reason: "required", message: "is required: what to probe" } };
  }
  const asked: ModuleQuery = { queryName, queryType };
  const call = module.call(target, asked);
  if ("reason" in call) return { ok: false, problem: call };
  const parsed = parseToolParams(module.contract, call.params, { from: "text", unknown: "ignore" });
  if (!parsed.ok) return { ok: false, problem: { ...parsed.problem, field: queryFieldOf(parsed.problem.field) } };
  const locations = region === null ? null : parseLocations(region);
  if (locations !== null && !locations.ok) {
    return { ok: false, problem: { field: "region", reason: "unknown_location", message: locations.message } };
  }
  return {
    ok: true,
    scrape: {
      params: parsed.value,
      call,
      locations: locations?.items ?? null,
      timeoutMs: readTimeout(scrapeTimeoutSeconds),
    },
  };
}

const NAMES = ["target", "region", "query_name", "query_type"] as const;
type Texts = Readonly<Record<(typeof NAMES)[number], string | null>>;

function readTexts(query: Readonly<Record<string, unknown>>): Texts | FieldProblem {
  const texts: Record<string, string | null> = {};
  for (const name of NAMES) {
    const value = query[name];
    if (Array.isArray(value)) return { field: name, reason: "duplicate", message: "was given twice" };
    texts[name] = typeof value === "string" && value !== "" ? value : null;
  }
  return texts as Texts;
}

/** The query parameter that became a tool's: domain and types came as query_name and query_type; the rest is the target. */
export function queryFieldOf(field: string): string {
  return QUERY_FIELDS[field] ?? "target";
}

const QUERY_FIELDS: Readonly<Record<string, string>> = {
  domain: "query_name",
  types: "query_type",
  locations: "region",
};

function readTimeout(seconds: string | undefined): number | null {
  if (seconds === undefined || !/^\d{1,4}(\.\d{1,9})?$/.test(seconds)) return null;
  const milliseconds = Number(seconds) * 1000;
  return milliseconds > TIMEOUT_OFFSET_MS ? milliseconds - TIMEOUT_OFFSET_MS : milliseconds;
}
