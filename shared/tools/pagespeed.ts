import { Type } from "typebox";
import { defineTool, withDefault } from "#shared/tools/define.ts";
import { Nullable, Url } from "#shared/tools/fields.ts";
import { count, findings, list, number, OBSERVED_FIELDS, points, record, text, word } from "#shared/tools/shapes.ts";

/** Devices a page is measured as. */
const STRATEGIES = ["mobile", "desktop"] as const;

function score(of: string) {
  return Nullable(points(`Lighthouse's ${of} score; null where it was not measured`));
}

function milliseconds(description: string) {
  return Nullable(count(`${description}, ms; null where not measured`));
}

function fieldMetric(p75: string) {
  return Nullable(
    record(
      {
        p75: number(p75),
        category: Nullable(word(["fast", "average", "slow"], "Chrome's judgement of p75")),
        distribution: list(
          Type.Object({
            min: number("From, in the unit of p75"),
            max: Nullable(number("Below, in the unit of p75; null: no limit")),
            proportion: number("Share of page loads, 0 to 1"),
          }),
          "Page loads by range, good first",
        ),
      },
      `${p75}, by real visits; null where there are too few`,
    ),
  );
}

const Experience = record(
  {
    overall_category: Nullable(word(["fast", "average", "slow"], "Judgement of all metrics together")),
    lcp: fieldMetric("Largest contentful paint, 75th percentile, ms"),
    inp: fieldMetric("Interaction to next paint, 75th percentile, ms"),
    cls: fieldMetric("Cumulative layout shift, 75th percentile"),
    fcp: fieldMetric("First contentful paint, 75th percentile, ms"),
    ttfb: fieldMetric("Time to first byte, 75th percentile, ms"),
  },
  "Real visits of the last 28 days (Chrome UX Report); null where Chrome has too few, or nobody was asked",
);

const Bytes = Type.Object({
  kind: text("document, stylesheet, script, image, font, media, fetch or other"),
  requests: count("Responses"),
  bytes: count("Their bytes on the wire, head and body"),
});

/** How fast a page is in a browser: PageSpeed Insights where it answers, else a browser of the agent's own. */
export const pagespeed = defineTool({
  name: "pagespeed",
  title: "Page speed",
  summary:
    "Lighthouse scores, lab metrics and real visits of a page by PageSpeed Insights, or measured by the agent's own browser",
  scope: "check",
  toolset: "page",
  target: { param: "url", kind: "url", connects: true },
  example: { url: "https://example.com", strategy: "mobile" },
  deadlineMs: () => 90_000,
  // PageSpeed Insights needs none; an agent that has one can answer without it too.
  needs: () => ["browser"],
  params: Type.Object({
    url: Url({ description: "Page to measure; redirects are followed" }),
    strategy: withDefault(word(STRATEGIES, "Device to be: its screen, processor and network"), "mobile"),
  }),
  result: Type.Object({
    url: text("URL as requested"),
    final_url: text("URL of the page measured, after redirects"),
    strategy: word(STRATEGIES, "Device it was measured as"),
    scores: record(
      {
        performance: score("performance"),
        accessibility: score("accessibility"),
        best_practices: score("best practices"),
        seo: score("SEO"),
      },
      "0 to 100",
    ),
    metrics: record(
      {
        fcp_ms: milliseconds("First contentful paint"),
        lcp_ms: milliseconds("Largest contentful paint"),
        tbt_ms: milliseconds("Total blocking time: tasks after first contentful paint, each beyond 50 ms"),
        cls: Nullable(number("Cumulative layout shift; null where not measured")),
        speed_index_ms: milliseconds("Speed index"),
        ttfb_ms: milliseconds("Time to first byte of the document"),
      },
      "Laboratory: one load, from the start of the navigation",
    ),
    findings: findings("Metrics beyond the limits of web.dev, and what would save time or bytes; worst first"),
    field_data: record(
      { url: Nullable(Experience), origin: Nullable(Experience) },
      "Real visits: of this page, and of its whole origin",
    ),
    opportunities: list(
      Type.Object({
        id: text("Lighthouse's name of the audit"),
        title: text("What to do"),
        savings_ms: Nullable(count("What it would save, estimated, ms; null where no time is given")),
        savings_bytes: Nullable(count("What it would save, bytes; null where none are given")),
        display_value: Nullable(text("As Lighthouse says it")),
      }),
      "What would make it faster, most time first, at most 30; only PageSpeed Insights tells",
    ),
    loaded: Nullable(
      record(
        {
          requests: count("Responses"),
          bytes: count("Their bytes on the wire"),
          by_kind: list(Bytes, "By kind; empty where only the sums are told"),
          failed_requests: Nullable(count("Requests that failed; null where not told")),
        },
        "What the page loaded; null where not told",
      ),
    ),
    conditions: record(
      {
        throttling: word(
          ["simulated", "applied", "none", "unknown"],
          "How device and network were slowed: computed afterwards, or while loading",
        ),
        cpu_slowdown: Nullable(number("Times slower than the machine that measured")),
        rtt_ms: Nullable(number("Round trip of the network that is pretended, ms")),
        throughput_kbps: Nullable(number("Its throughput, kbit/s")),
        width: Nullable(count("Screen width, CSS pixels")),
        height: Nullable(count("Screen height, CSS pixels")),
        browser: Nullable(text("Browser that loaded the page")),
      },
      "What it was measured with; null where not told",
    ),
    lighthouse_version: Nullable(text("Version of Lighthouse; null where it was not used")),
    ...OBSERVED_FIELDS,
    source: word(["psi", "local"], "psi: PageSpeed Insights; local: one load in the agent's own browser"),
  }),
  across: {
    agreeOn: ({ source }) => source,
    measure: ({ metrics }) => ({ lcp_ms: metrics.lcp_ms, fcp_ms: metrics.fcp_ms }),
  },
});
