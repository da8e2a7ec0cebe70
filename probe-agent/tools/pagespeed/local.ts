import type { ResultOf } from "#shared/tools/define.ts";
import type { pagespeed } from "#shared/tools/pagespeed.ts";
import { leadingText } from "#probe-agent/analysis/text/json-size.ts";
import { networkOf, type Strategy } from "#probe-agent/analysis/page/pagespeed/conditions.ts";
import { performanceOf } from "#probe-agent/analysis/page/pagespeed/score.ts";
import type { BrowserConditions, LoadedKind, PageLoad } from "#probe-agent/port/browser.ts";

const MAX_URL_BYTES = 10_000;

/** One load in our own browser as a result; the findings, `url`, `observed_at` and what was said of PageSpeed Insights are the caller's. */
export function localResult(
  load: PageLoad,
  strategy: Strategy,
  conditions: BrowserConditions,
): Omit<ResultOf<typeof pagespeed>, "findings" | "url" | "observed_at" | "elapsed_ms"> {
  const metrics = { fcp_ms: load.fcpMs, lcp_ms: load.lcpMs, tbt_ms: load.tbtMs, cls: load.cls };
  const performance = load.quiet && !load.cut ? performanceOf(metrics, strategy) : null;
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
    "One load in the agent's own browser: figures vary from load to load, and with what else the probe does.",
    "Device and network were slowed down while loading; PageSpeed Insights computes that afterwards, so the two differ.",
    performance === null
      ? "There is no performance score: it takes a load that came to rest with paint, largest paint and layout shifts."
      : "The performance score is Lighthouse's formula without the speed index, whose tenth of the weight the others share.",
    "Accessibility, best practices, SEO, opportunities and the speed index take Lighthouse; real visits take PageSpeed Insights.",
    ...(quiet ? [] : ["The page did not come to rest in time: the metrics are those until then."]),
    ...(load.fcpMs === null ? ["The page painted no content."] : []),
    ...(status !== null && status >= 400
      ? [`The page answered with status ${status}: what was measured may be an error page.`]
      : []),
    ...(refusedConnections > 0
      ? [
          `${refusedConnections} connections of the page were refused: they lead to addresses that may not be contacted.`,
        ]
      : []),
    ...(cut ? ["The page loads more than a probe lets one page load: what came after that is missing."] : []),
  ];
}
