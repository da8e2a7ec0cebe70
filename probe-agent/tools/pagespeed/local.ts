import type { ResultOf } from "#shared/tools/define.ts";
import type { pagespeed } from "#shared/tools/pagespeed.ts";
import { leadingText } from "#probe-agent/analysis/text/json-size.ts";
import { networkOf, type Strategy } from "#probe-agent/analysis/page/pagespeed/conditions.ts";
import { scorePerformance } from "#probe-agent/analysis/page/pagespeed/score.ts";
import type { BrowserConditions, LoadedKind, PageLoad } from "#probe-agent/port/browser.ts";

const MAX_URL_BYTES = 10_000;

/**
 * Converts one load in the agent's own browser to a result. The caller adds the findings, `url`, `observed_at` and the
 * limitation about PageSpeed Insights.
 */
export function localResult(
  load: PageLoad,
  strategy: Strategy,
  conditions: BrowserConditions,
): Omit<ResultOf<typeof pagespeed>, "findings" | "url" | "observed_at" | "elapsed_ms"> {
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
