import { Type } from "typebox";
import { defineTool } from "#shared/tools/define.ts";
import { Nullable, Url } from "#shared/tools/fields.ts";
import { CachePolicy } from "#shared/tools/http/cache-policy.ts";
import {
  count,
  findings,
  letterGrade,
  list,
  number,
  OBSERVED_FIELDS,
  PAGE_FIELDS,
  points,
  record,
  text,
  texts,
  truth,
  word,
} from "#shared/tools/shapes.ts";
import { Timing, TimingUs } from "#shared/tools/timing.ts";

const Check = Type.Object({
  id: text("Stable name, e.g. ttfb"),
  name: text("Heading"),
  status: word(["pass", "warn", "fail", "na"], "na: does not apply or could not be told, left out of the score"),
  score: points("Points earned; 0 where na"),
  max: points("Points to be had; those of all checks are 100"),
  value: Nullable(text("What was found, null where nothing was")),
  expected: text("What earns all points"),
  detail: text("What was found, with the limit it is compared to"),
  reference: text("Address of the guide or table the limits are from"),
});

const Sample = Type.Object({
  ttfb_ms: count("Request sent to first byte, ms"),
  navigation_ttfb_ms: count("From the start, redirects and connection included, to the first byte, ms"),
  total_ms: count("The whole request, ms"),
});

function kinds<S extends ReturnType<typeof count>>(field: S, description: string) {
  return record(
    { script: field, stylesheet: field, image: field, font: field, media: field, frame: field, other: field },
    description,
  );
}

const Sized = Type.Object({
  url: text("Address"),
  type: text("script, stylesheet, image, font, media, frame or other"),
  bytes: Nullable(count("Size on the wire, bytes; null where unknown")),
  third_party: truth("Of another site than the page"),
});

const Resources = record(
  {
    total: count("Resources the page's HTML names, each once"),
    measured: count("Of them measured; at most 60 are"),
    count: kinds(count("Resources of the kind"), "How many of each kind"),
    bytes: kinds(count("Their bytes on the wire, as far as known"), "How much of each kind"),
    total_bytes: count("Page and resources, bytes on the wire as far as known"),
    unknown_sizes: count("Resources whose size is not known"),
    third_party: record(
      {
        count: count("Resources of other sites"),
        bytes: count("Their bytes on the wire, as far as known"),
        hosts: list(
          Type.Object({ host: text("Host name"), count: count("Resources from there") }),
          "Most used first, at most 30",
        ),
      },
      "What comes from other registrable domains than the page's",
    ),
    render_blocking: list(Sized, "Resources without which nothing is painted, in the page's order"),
    render_blocking_total: count("How many there are"),
    without_compression: list(Sized, "Texts of 1400 bytes and more that are sent uncompressed"),
    without_compression_total: count("How many there are among those measured"),
    without_cache: list(
      Type.Object({
        url: text("Address"),
        type: text("script, stylesheet, image, font, media or other"),
        cache_control: Nullable(text("Cache-Control as sent")),
        fresh_s: Nullable(
          count("Seconds a browser may use it again without asking; null where it has to guess or ask"),
        ),
        third_party: truth("Of another site than the page"),
      }),
      "Static resources that a browser may keep for less than a week",
    ),
    without_cache_total: count("How many there are among those measured"),
    failed: list(
      Type.Object({ url: text("Address"), reason: text("Why, in a word or a status") }),
      "Resources that did not come, at most 30",
    ),
  },
  "What the HTML makes a browser load; scripts are not run",
);

/** How fast a page is served and how well it is made, told without a browser. */
export const performance = defineTool({
  name: "performance",
  title: "Performance",
  summary: "Time to first byte, page weight, blocking resources, compression and caching of a page, scored",
  scope: "check",
  toolset: "page",
  target: { param: "url", kind: "url", connects: true },
  example: { url: "https://example.com" },
  deadlineMs: () => 30_000,
  params: Type.Object({ url: Url({ description: "Page to look at; redirects are followed" }) }),
  result: Type.Object({
    ...PAGE_FIELDS,
    score: Nullable(points("Share of the points of all checks that apply, percent; null for an error page")),
    grade: Nullable(letterGrade("By score: 95, 90, 80, 70, 60; null for an error page")),
    checks: list(Check, "Every part of the score in fixed order"),
    findings: findings("One for each check that does not pass, and what else slows the page; worst first"),
    timing: Timing,
    timing_us: TimingUs,
    total_ms: count("The whole request of the sample shown, ms; the sum of timing"),
    samples: list(Sample, "The one to three requests made; timing is that of the middle one by navigation_ttfb_ms"),
    navigation_ttfb_ms: count("From the start to the first byte, redirects and connection included, median, ms"),
    ttfb_rating: word(
      ["good", "needs_improvement", "poor"],
      "Of navigation_ttfb_ms, seen from this location: up to 800 ms, up to 1800 ms, above (web.dev)",
    ),
    html: record(
      {
        transfer_bytes: count("Body on the wire"),
        decoded_bytes: count("Body without its content coding"),
        encoding: Nullable(text("Content coding, e.g. br; null for none")),
        ratio: Nullable(number("decoded_bytes by transfer_bytes, to 0.01; null for an empty body")),
        truncated: truth("The body is larger than what is read: the sizes are those of the part"),
        chunked: Nullable(truth("Sent in pieces of unknown number, as streams are; null on HTTP/2, where all is")),
      },
      "The page itself",
    ),
    resources: Resources,
    protocol: record(
      {
        http_version: text("1.0, 1.1 or 2"),
        tls: Nullable(text("TLS version, null on http")),
        alt_svc_h3: truth("The server says it speaks HTTP/3 too (Alt-Svc)"),
      },
      "What the page came over",
    ),
    cache_policy: CachePolicy,
    connection_reuse: record(
      {
        reusable: Nullable(truth("The connection serves further requests; null where the server does not say")),
        why: text("What tells"),
      },
      "Whether the server keeps connections open, by version and headers",
    ),
    dom: Nullable(
      record({ elements: count("Elements"), depth: count("Deepest nesting") }, "Size of the page; null for no HTML"),
    ),
    images: Nullable(
      record(
        {
          total: count("img elements with an address"),
          lazy: count("With loading=lazy"),
          missing_dimensions: count("Without width and height: the layout jumps when they come"),
          modern_formats: count("Offered as WebP, AVIF or JPEG XL"),
          known_formats: count("Whose format can be told by type or name, SVG left out"),
          responsive: count("With srcset or in a picture element"),
        },
        "Images of the page; null for no HTML",
      ),
    ),
    preload: list(
      Type.Object({
        url: text("Address"),
        as: Nullable(text("Destination, e.g. font; null where none is said")),
        from: word(["html", "header"], "Where it is said"),
      }),
      "Resources asked for early (preload, modulepreload), at most 50",
    ),
    preconnect: list(
      Type.Object({
        origin: text("Origin"),
        rel: word(["preconnect", "dns-prefetch"], "How far it goes"),
        from: word(["html", "header"], "Where it is said"),
      }),
      "Connections opened early, at most 50",
    ),
    preconnect_missing: texts("Other origins with render-blocking resources and neither of these hints, at most 10"),
    lab_vitals: Type.Null({
      description: "Always null: LCP, CLS and INP are not told without a browser; see pagespeed",
    }),
    ...OBSERVED_FIELDS,
  }),
  across: {
    agreeOn: ({ ttfb_rating }) => ttfb_rating,
    measure: ({ navigation_ttfb_ms }) => ({ navigation_ttfb_ms }),
  },
});
