import { existing, fact, table } from "#shared/presentation/build.ts";
import { definePresenter } from "#shared/tools/define-presenter.ts";
import type { Fact, Verdict } from "#shared/presentation/presentation.ts";
import { bytes, counted, duration, shortUrl } from "#shared/presentation/values.ts";
import { verdictOf, worst } from "#shared/presentation/verdict.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { pagespeed as contract } from "#shared/tools/pagespeed/contract.ts";

type Pagespeed = ResultOf<typeof contract>;
type Experience = NonNullable<Pagespeed["field_data"]["url"]>;

/** Score of Lighthouse from which a page is good. */
const GOOD_SCORE = 90;

/** Metrics in plain words with their usual abbreviation, and the maximum of a good value (web.dev, Web Vitals). */
const METRICS = [
  { field: "lcp_ms", visits: "lcp", label: "Main content (LCP)", good: 2_500 },
  { field: "fcp_ms", visits: "fcp", label: "First content (FCP)", good: 1_800 },
  { field: "tbt_ms", visits: null, label: "Blocked by scripts (TBT)", good: 200 },
  { field: "cls", visits: "cls", label: "Layout shift (CLS)", good: 0.1 },
  { field: "ttfb_ms", visits: "ttfb", label: "First byte (TTFB)", good: 800 },
  { field: "speed_index_ms", visits: null, label: "Speed index", good: Infinity },
  { field: null, visits: "inp", label: "Reaction to input (INP)", good: 200 },
] as const;
type Metric = (typeof METRICS)[number];

/** pagespeed: scores and times of one load, and what real visits see. */
export const pagespeed = definePresenter(contract, (data) => {
  const { scores, metrics, conditions, loaded, findings } = data;
  const isEmpty = [...Object.values(scores), ...Object.values(metrics)].every((value) => value === null);
  const isLow = scores.performance !== null && scores.performance < GOOD_SCORE;
  return {
    verdict: isEmpty ? "neutral" : worst([verdictOf(findings), isLow ? "warning" : "good"]),
    headline: headlineOf(data),
    facts: existing(
      scoreFact("Performance", scores.performance),
      ...METRICS.map((metric) => metricFact(data, metric)),
      scoreFact("Accessibility", scores.accessibility),
      scoreFact("Best practices", scores.best_practices),
      scoreFact("SEO", scores.seo),
      fact("Loaded", loaded && `${bytes(loaded.bytes)} in ${counted(loaded.requests, "request")}`),
      fact("Failed requests", loaded?.failed_requests || null, { tone: "warning" }),
      fact(
        "Measured by",
        existing(data.source === "psi" ? "PageSpeed Insights" : "the probe's browser", conditions.browser).join(", "),
      ),
      fact("Final URL", data.final_url === data.url ? null : data.final_url),
    ),
    tables: existing(listVisits(data), listSavings(data), listLoaded(data)),
  };
});

function headlineOf({
  final_url: url,
  strategy,
  scores,
  metrics,
  field_data: { url: page, origin },
}: Pagespeed): string {
  const { lcp_ms: lcp, fcp_ms: fcp } = metrics;
  const visits = (page ?? origin)?.overall_category ?? null;
  const parts = existing(
    scores.performance !== null && `performance ${scores.performance} of 100`,
    lcp === null ? fcp !== null && `first content after ${duration(fcp)}` : `main content after ${duration(lcp)}`,
    visits !== null && `real visits are ${visits}`,
  );
  return `${shortUrl(url)} on ${strategy}: ${parts.length === 0 ? "nothing could be measured" : parts.join(", ")}`;
}

function scoreFact(label: string, score: number | null): Fact | null {
  const tone = score === null ? null : score >= GOOD_SCORE ? "good" : "warning";
  return fact(label, score === null ? null : `${score} of 100`, { tone });
}

function metricFact({ metrics }: Pagespeed, { field, label, good }: Metric): Fact | null {
  const value = field === null ? null : metrics[field];
  if (value === null) return null;
  const tone: Verdict | null = good === Infinity ? null : value <= good ? "good" : "warning";
  return fact(label, writeMetric(field, value), { tone });
}

function writeMetric(field: string | null, value: number): string {
  return field === "cls" ? String(Number(value.toFixed(3))) : duration(value);
}

/** Lists the 75th percentiles of real visits, of the page and of its whole origin. */
function listVisits({ field_data: { url, origin } }: Pagespeed) {
  return table(
    "Three of four real visits, or better",
    ["Metric", "#This page", "Rating", "#Whole site", "Rating"],
    METRICS.flatMap(({ field, visits, label }) => {
      const [page, site] = [readVisits(url, visits), readVisits(origin, visits)];
      if (page === null && site === null) return [];
      const cells = [page, site].flatMap((one) => [one && writeMetric(field, one.p75), one && one.category]);
      return [{ cells: [label, ...cells], tone: (page ?? site)?.category === "slow" ? "warning" : null } as const];
    }),
  );
}

function readVisits(experience: Experience | null, metric: Metric["visits"]) {
  return experience === null || metric === null ? null : experience[metric];
}

function listSavings({ opportunities }: Pagespeed) {
  return table(
    "What would make it faster",
    ["#Saves", "#Size", "Change"],
    opportunities.map(({ title, savings_ms: ms, savings_bytes: size }) => [
      ms === null ? null : duration(ms),
      size === null ? null : bytes(size),
      title,
    ]),
  );
}

function listLoaded({ loaded }: Pagespeed) {
  return table(
    "Loaded by kind",
    ["Kind", "#Requests", "#Size"],
    (loaded?.by_kind ?? [])
      .toSorted((one, other) => other.bytes - one.bytes)
      .map(({ kind, requests, bytes: size }) => [kind, requests, bytes(size)]),
  );
}
