import type { Module } from "#shared/blackbox/module.ts";
import { withHostname } from "#shared/blackbox/with-hostname.ts";

/** A scrape that can be run, or the answer that says why it cannot. */
type ReadScrape =
  | {
      readonly ok: true;
      readonly module: Module;
      readonly target: string;
      readonly timeoutMs: number;
      readonly debug: boolean;
    }
  | { readonly ok: false; readonly code: 400; readonly message: string; readonly isUnknownModule: boolean };

/** Time limit where neither Prometheus nor the module has one, in milliseconds, as in the exporter. */
const DEFAULT_TIMEOUT_MS = 120_000;
/** Longest time limit: a probe has an end. */
const LONGEST_TIMEOUT_MS = 3_600_000;
const LONGEST_TARGET = 8_192;

/**
 * Reads the query of /probe. `scrapeTimeout` is X-Prometheus-Scrape-Timeout-Seconds; a probe ends `offsetMs` before it,
 * or at the module's own timeout if that is earlier.
 */
export function readScrape(
  query: URLSearchParams,
  scrapeTimeout: string | undefined,
  modules: ReadonlyMap<string, Module>,
  offsetMs: number,
): ReadScrape {
  const refuse = (message: string, isUnknownModule = false): ReadScrape => ({
    ok: false,
    code: 400,
    message,
    isUnknownModule,
  });
  const name = query.get("module") ?? "";
  const named = modules.get(name === "" ? "http_2xx" : name);
  if (named === undefined) return refuse(`Unknown module ${JSON.stringify((name || "http_2xx").slice(0, 200))}`, true);
  const seconds = scrapeTimeout === undefined ? 0 : Number(scrapeTimeout);
  if (scrapeTimeout !== undefined && !/^\d{1,6}(?:\.\d{1,9})?$/.test(scrapeTimeout)) {
    return refuse("Failed to parse timeout from Prometheus header: it must be a number of seconds");
  }
  const target = query.get("target") ?? "";
  if (target === "") return refuse("Target parameter is missing");
  if (target.length > LONGEST_TARGET) return refuse(`Target parameter is longer than ${LONGEST_TARGET} characters`);
  const module = withHostname(named, query.get("hostname") ?? "");
  if (typeof module === "string") return refuse(module);
  return {
    ok: true,
    module,
    target,
    timeoutMs: chooseTimeout(seconds, named, offsetMs),
    debug: query.get("debug") === "true",
  };
}

function chooseTimeout(seconds: number, { timeoutMs: own }: Module, offsetMs: number): number {
  const most = (seconds === 0 ? DEFAULT_TIMEOUT_MS : seconds * 1000) - offsetMs;
  if (own !== null && (own < most || most < 0)) return Math.min(own, LONGEST_TIMEOUT_MS);
  // A timeout within the offset leaves no time at all: the whole of it is used then.
  return Math.min(most > 0 ? most : Math.max(1, seconds * 1000), LONGEST_TIMEOUT_MS);
}
