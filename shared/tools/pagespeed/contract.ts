import { Type } from "typebox";
import { defineTool, withDefault } from "#shared/tools/define.ts";
import { Nullable, Url } from "#shared/tools/fields.ts";
import { count, findings, list, number, OBSERVED_FIELDS, points, record, text, word } from "#shared/tools/shapes.ts";

/** Devices as which a page is measured. */
const STRATEGIES = ["mobile", "desktop"] as const;

function score(of: string) {
  return Nullable(points(`Lighthouse's ${of} score; null if not measured`));
}

function milliseconds(description: string) {
  return Nullable(count(`${description}, ms; null if not measured`));
}

function fieldMetric(p75: string) {
  return Nullable(
    record(
      {
        p75: number(p75),
        category: Nullable(word(["fast", "average", "slow"], "Chrome's rating of p75")),
        distribution: list(
          Type.Object({
            min: number("Lower bound (inclusive), in the unit of p75"),
            max: Nullable(number("Upper bound (exclusive), in the unit of p75; null: no bound")),
            proportion: number("Share of page loads, 0 to 1"),
          }),
          "Page loads by range, best range first",
        ),
      },
      `${p75}, of real visits; null if there are too few`,
    ),
  );
}

const Experience = record(
  {
    overall_category: Nullable(word(["fast", "average", "slow"], "Rating of all metrics together")),
    lcp: fieldMetric("Largest contentful paint, 75th percentile, ms"),
    inp: fieldMetric("Interaction to next paint, 75th percentile, ms"),
    cls: fieldMetric("Cumulative layout shift, 75th percentile"),
    fcp: fieldMetric("First contentful paint, 75th percentile, ms"),
    ttfb: fieldMetric("Time to first byte, 75th percentile, ms"),
  },
  "Real visits of the last 28 days (Chrome UX Report); null if there are too few, or the source was not queried",
);

const Bytes = Type.Object({
  kind: text("document, stylesheet, script, image, font, media, fetch or other"),
  requests: count("Number of responses"),
  bytes: count("Size of the responses with head and body, bytes on the wire"),
});

/** The pagespeed tool: measures a page by PageSpeed Insights, or if it is unavailable in the agent's own browser. */
export const pagespeed = defineTool({
  name: "pagespeed",
  title: "Page speed",
  summary:
    "Lighthouse scores, lab metrics and real visits of a page by PageSpeed Insights, or metrics of the agent's own browser",
  scope: "check",
  toolset: "page",
  target: { param: "url", kind: "url", connects: true },
  example: { url: "https://example.com", strategy: "mobile" },
  deadlineMs: () => 90_000,
  // PageSpeed Insights needs no browser. An agent with a browser can also answer if PageSpeed Insights is unavailable.
  needs: () => ["browser"],
  params: Type.Object({
    url: Url({ description: "Page to measure; redirects are followed" }),
    strategy: withDefault(word(STRATEGIES, "Device to simulate: its screen, processor and network"), "mobile"),
  }),
  result: Type.Object({
    url: text("URL as requested"),
    final_url: text("URL of the page measured, after redirects"),
    strategy: word(STRATEGIES, "Simulated device"),
    scores: record(
      {
        performance: score("performance"),
        accessibility: score("accessibility"),
        best_practices: score("best practices"),
        seo: score("SEO"),
      },
      "Lighthouse scores, 0 to 100",
    ),
    metrics: record(
      {
        fcp_ms: milliseconds("First contentful paint"),
        lcp_ms: milliseconds("Largest contentful paint"),
        tbt_ms: milliseconds(
          "Total blocking time: sum of the time of tasks beyond 50 ms, after first contentful paint",
        ),
        cls: Nullable(number("Cumulative layout shift; null if not measured")),
        speed_index_ms: milliseconds("Speed index"),
        ttfb_ms: milliseconds("Time to first byte of the document"),
      },
      "Lab metrics of one load, from the start of the navigation",
    ),
    findings: findings("Metrics beyond the limits of web.dev, and estimated savings of time or bytes; worst first"),
    field_data: record(
      { url: Nullable(Experience), origin: Nullable(Experience) },
      "Real visits of this page and of its whole origin",
    ),
    opportunities: list(
      Type.Object({
        id: text("Lighthouse's name of the audit"),
        title: text("Recommended change"),
        savings_ms: Nullable(count("Estimated saving of time, ms; null if none is given")),
        savings_bytes: Nullable(count("Estimated saving, bytes; null if none is given")),
        display_value: Nullable(text("Saving as displayed by Lighthouse")),
      }),
      "Changes that would make the page faster, largest saving of time first, at most 30; only from PageSpeed Insights",
    ),
    loaded: Nullable(
      record(
        {
          requests: count("Number of responses"),
          bytes: count("Size of the responses, bytes on the wire"),
          by_kind: list(Bytes, "Responses by kind; empty if only the sums are known"),
          failed_requests: Nullable(count("Number of failed requests; null if unknown")),
        },
        "Responses that the page loaded; null if unknown",
      ),
    ),
    conditions: record(
      {
        throttling: word(
          ["simulated", "applied", "none", "unknown"],
          "How device and network were slowed down; simulated: computed after the load; applied: while loading",
        ),
        cpu_slowdown: Nullable(number("Factor by which the processor is slower than that of the measuring machine")),
        rtt_ms: Nullable(number("Round-trip time of the simulated network, ms")),
        throughput_kbps: Nullable(number("Throughput of the simulated network, kbit/s")),
        width: Nullable(count("Screen width, CSS pixels")),
        height: Nullable(count("Screen height, CSS pixels")),
        browser: Nullable(text("Browser that loaded the page")),
      },
      "Conditions of the measurement; null if unknown",
    ),
    lighthouse_version: Nullable(text("Version of Lighthouse; null if it was not used")),
    ...OBSERVED_FIELDS,
    source: word(["psi", "local"], "psi: PageSpeed Insights; local: one load in the agent's own browser"),
  }),
  across: {
    agreeOn: ({ source }) => source,
    measure: ({ metrics }) => ({ lcp_ms: metrics.lcp_ms, fcp_ms: metrics.fcp_ms }),
  },
});
