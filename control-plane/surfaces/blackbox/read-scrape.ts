import type { FileModule, Module, ModuleCall, ModuleQuery } from "#control-plane/surfaces/blackbox/module.ts";
import { parseLocations, type LocationItem } from "#shared/internet/locations.ts";
import type { FieldProblem } from "#shared/schema/problem.ts";
import { parseToolParams } from "#shared/tools/parse-params.ts";

/** A parsed scrape: the tool call and its location. */
interface Scrape {
  readonly params: Readonly<Record<string, unknown>>;
  readonly call: ModuleCall;
  /** null: the system chooses one probe. */
  readonly locations: readonly LocationItem[] | null;
  /** Time limit of the whole scrape, milliseconds; null: the deadline of the tool. */
  readonly timeoutMs: number | null;
}

/** The answer is sent this long before Prometheus' scrape timeout, as in the exporter. */
const TIMEOUT_OFFSET_MS = 500;

/** Parses target, region and query of a scrape; the field of a problem is the name of the query parameter. */
export async function readScrape(
  module: Module | FileModule,
  query: Readonly<Record<string, unknown>>,
  scrapeTimeoutSeconds: string | undefined,
): Promise<{ readonly ok: true; readonly scrape: Scrape } | { readonly ok: false; readonly problem: FieldProblem }> {
  const texts = readTexts(query);
  if ("field" in texts) return { ok: false, problem: texts };
  const { target, region, query_name: queryName, query_type: queryType, hostname } = texts;
  if (target === null) {
    return { ok: false, problem: { field: "target", reason: "required", message: "is required: what to probe" } };
  }
  const timeoutMs = readTimeout(scrapeTimeoutSeconds);
  const asked: ModuleQuery = { queryName, queryType, hostname, timeoutMs };
  const call = await module.call(target, asked);
  if ("reason" in call) return { ok: false, problem: call };
  const parsed =
    call.isParsed === true
      ? ({ ok: true, value: call.params } as const)
      : parseToolParams(module.contract, call.params, { from: "text", unknown: "ignore" });
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
      timeoutMs,
    },
  };
}

const NAMES = ["target", "region", "query_name", "query_type", "hostname"] as const;
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

/** Maps a tool parameter to its query parameter: domain to query_name, types to query_type, others to target. */
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
