import { failed, ok, type Outcome } from "#shared/contracts/outcome.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { pagespeed as contract } from "#shared/tools/pagespeed/contract.ts";
import { conditionsOf, type Strategy, networkOf } from "#probe-agent/analysis/page/pagespeed-conditions.ts";
import { pagespeedFindings, scorePerformance } from "#probe-agent/tools/pagespeed/findings.ts";
import type { Insights } from "#probe-agent/analysis/page/pagespeed-insights.ts";
import { fitFindings } from "#probe-agent/analysis/text/findings.ts";
import { plain } from "#probe-agent/analysis/text/plain-data.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import { mayReceiveTarget } from "#probe-agent/sources/third-party-services.ts";
import { askInsights, type InsightsOutcome } from "#probe-agent/sources/pagespeed.ts";
import { implement, type Untimed } from "#probe-agent/tools/implement.ts";
import { leadingText } from "#probe-agent/analysis/text/json-size.ts";
import type { BrowserConditions, LoadedKind, PageLoad } from "#probe-agent/port/browser.ts";

type Result = Untimed<ResultOf<typeof contract>>;

/** Maximum time for PageSpeed Insights, which takes 10 to 40 s. The rest is left for the agent's own browser. */
const INSIGHTS_MS = 60_000;
const RESERVE_MS = 1500;
const LOCAL_MS = 45_000;

/** Measures a page with PageSpeed Insights. If that is unavailable, uses the agent's own browser. */
export const pagespeed = implement(contract, async (net, { url: given, strategy }) => {
  const observedAt = net.now().toISOString();
  const url = withoutFragment(given);
  const host = new URL(url).hostname.replace(/^\[|\]$/g, "");
  const resolved = await net.dns.resolve(host);
  if (resolved.status !== "ok") return resolved;
  const addresses = [...resolved.data.allowed, ...resolved.data.blocked].map(({ ip }) => ip);
  const insights = mayReceiveTarget(net.services.psiUrl, addresses)
    ? await askInsights(net, { url, strategy }, Math.min(INSIGHTS_MS, Math.max(1, net.remainingMs() - RESERVE_MS)))
    : ({
        kind: "unavailable",
        // Only the probe's own browser can measure such a page.
        source: "probe",
        reason: "the page is not on the public internet, so PageSpeed Insights cannot load it",
      } as const);
  switch (insights.kind) {
    case "insights":
      return ok(fromInsights(insights.insights, given, strategy, observedAt));
    case "page_failed":
      return pageFailure(insights);
    default:
      return await measureHere(net, url, given, strategy, observedAt, insights);
  }
});

const MAX_URL_BYTES = 10_000;

/** Returns the target's failure for a page that PageSpeed Insights cannot load, or only as an error page. */
function pageFailure({ code, message }: Extract<InsightsOutcome, { readonly kind: "page_failed" }>): Outcome<never> {
  const reason = code.toLowerCase();
  const stage = code === "DNS_FAILURE" ? "dns" : "response";
  return failed(stage, "target", reason, `PageSpeed Insights could not measure the page: ${code}. ${message}`.trim());
}

function fromInsights(insights: Insights, url: string, strategy: Strategy, observedAt: string): Result {
  const { finalUrl, scores, metrics, field, loaded, conditions, fetchedAt, warnings } = insights;
  const { findings, limitations: leftOut } = fitFindings(pagespeedFindings(metrics, insights.opportunities));
  return plain({
    url,
    findings,
    final_url: finalUrl ?? url,
    strategy,
    scores,
    metrics,
    field_data: field,
    opportunities: insights.opportunities,
    loaded: loaded === null ? null : { ...loaded, by_kind: [], failed_requests: null },
    conditions,
    lighthouse_version: insights.lighthouseVersion,
    source: "psi" as const,
    observed_at: fetchedAt ?? observedAt,
    limitations: [
      "PageSpeed Insights measures from its own data centres, not from this probe. Its result can be a minute old.",
      ...(finalUrl === null ? ["PageSpeed Insights did not report the URL after redirects."] : []),
      ...(field.url === null ? ["The Chrome UX Report has too few visits of this page."] : []),
      ...(field.origin === null ? ["The Chrome UX Report has too few visits of this origin."] : []),
      ...(Object.values(scores).includes(null) || Object.values(metrics).includes(null)
        ? ["Some scores or metrics are missing in the response of PageSpeed Insights."]
        : []),
      ...(loaded === null ? ["PageSpeed Insights did not report how much the page loaded."] : []),
      ...leftOut,
      ...warnings.map((warning) => `Lighthouse warns: ${warning}`),
    ],
  });
}

async function measureHere(
  net: Net,
  url: string,
  given: string,
  strategy: Strategy,
  observedAt: string,
  { source, reason }: Extract<InsightsOutcome, { readonly kind: "unavailable" }>,
): Promise<Outcome<Result>> {
  if (net.browser === null) {
    const advice = "set VANTAGE_PSI_KEY or VANTAGE_PSI_URL, or give the agent a Chromium (VANTAGE_CHROMIUM)";
    const message = `PageSpeed Insights is unavailable: ${reason}; the probe has no browser: ${advice}`;
    return failed("response", source, "source_unavailable", message);
  }
  const conditions = conditionsOf(strategy);
  const timeoutMs = Math.min(LOCAL_MS, net.remainingMs() - RESERVE_MS);
  const loaded = await net.browser.measure({ url, conditions, timeoutMs });
  if (loaded.status !== "ok") return loaded;
  const { limitations, ...result } = localResult(loaded.data, strategy, conditions);
  return ok({
    ...result,
    findings: fitFindings(pagespeedFindings(result.metrics, [])).findings,
    url: given,
    observed_at: observedAt,
    limitations: [`PageSpeed Insights is unavailable: ${reason}.`, ...limitations],
  });
}

/** Removes the fragment. Browsers do not send it, so it is not sent to PageSpeed Insights. */
function withoutFragment(url: string): string {
  const parsed = new URL(url);
  parsed.hash = "";
  return parsed.href;
}

/**
 * Converts one load in the agent's own browser to a result. The caller adds the findings, `url`, `observed_at` and the
 * limitation about PageSpeed Insights.
 */
function localResult(
  load: PageLoad,
  strategy: Strategy,
  conditions: BrowserConditions,
): Omit<ResultOf<typeof contract>, "findings" | "url" | "observed_at" | "elapsed_ms"> {
  const metrics = { fcp_ms: load.fcpMs, lcp_ms: load.lcpMs, tbt_ms: load.tbtMs, cls: load.cls };
  const performance = load.quiet && !load.cut ? scorePerformance(metrics, strategy) : null;
  const kinds = Object.keys(load.loaded) as LoadedKind[];
  const byKind = kinds.map((kind) => ({ kind, ...load.loaded[kind] })).filter(({ requests }) => requests > 0);
  const sum = (field: "requests" | "bytes"): number => byKind.reduce((total, entry) => total + entry[field], 0);
  const { rttMs, throughputKbps } = networkOf(strategy);
  return {
    final_url: leadingText(load.finalUrl, MAX_URL_BYTES),
    strategy,
    scores: { performance, accessibility: null, best_practices: null, seo: null },
    metrics: { ...metrics, speed_index_ms: null, ttfb_ms: load.ttfbMs },
    field_data: { url: null, origin: null },
    opportunities: [],
    loaded: { requests: sum("requests"), bytes: sum("bytes"), by_kind: byKind, failed_requests: load.failedRequests },
    conditions: {
      throttling: "applied",
      cpu_slowdown: conditions.cpuSlowdown,
      rtt_ms: rttMs,
      throughput_kbps: throughputKbps,
      width: conditions.width,
      height: conditions.height,
      browser: load.browser,
    },
    lighthouse_version: null,
    source: "local",
    limitations: limitationsOf(load, performance),
  };
}

function limitationsOf(load: PageLoad, performance: number | null): string[] {
  const { status, quiet, cut, refusedConnections } = load;
  return [
    "The page was loaded once in the agent's own browser. The metrics vary from load to load and with the probe's other work.",
    "Device and network were slowed down while loading. PageSpeed Insights computes this afterwards, so its metrics differ.",
    performance === null
      ? "There is no performance score, because it requires a load that finished, with first paint, largest paint and layout shifts."
      : "The performance score uses Lighthouse's formula without the speed index. Its 10 % of the weight is shared by the other metrics.",
    "Accessibility, best practices, SEO, opportunities and the speed index require Lighthouse. Real visits require PageSpeed Insights.",
    ...(quiet ? [] : ["The page did not finish loading in time. The metrics cover the load until then."]),
    ...(load.fcpMs === null ? ["The page painted no content."] : []),
    ...(status !== null && status >= 400
      ? [`The page was served with status ${status}, so the measured page can be an error page.`]
      : []),
    ...(refusedConnections > 0
      ? [`${refusedConnections} connections of the page were refused, because their addresses are not allowed.`]
      : []),
    ...(cut
      ? ["The page loads more than the probe allows for one page. Everything beyond this limit is missing."]
      : []),
  ];
}
