import { Type } from "typebox";
import { defineTool } from "#shared/tools/define.ts";
import { Nullable, Url } from "#shared/tools/fields.ts";
import { CachePolicy } from "#shared/tools/cache-policy.ts";
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
  status: word(["pass", "warn", "fail", "na"], "na: does not apply or is unknown, left out of the score"),
  score: points("Points earned; 0 if the status is na"),
  max: points("Maximum points; those of all checks add up to 100"),
  value: Nullable(text("Measured value; null if there is none")),
  expected: text("Value that earns all points"),
  detail: text("Sentence that compares the value with the limit"),
  reference: text("URL of the guide or table with the limits"),
});

const Sample = Type.Object({
  ttfb_ms: count("Time from the request to the first byte, ms"),
  navigation_ttfb_ms: count("Time from the start, including redirects and connection, to the first byte, ms"),
  total_ms: count("Duration of the whole request, ms"),
});

function kinds<S extends ReturnType<typeof count>>(field: S, description: string) {
  return record(
    { script: field, stylesheet: field, image: field, font: field, media: field, frame: field, other: field },
    description,
  );
}

const Sized = Type.Object({
  url: text("URL of the resource"),
  type: text("script, stylesheet, image, font, media, frame or other"),
  bytes: Nullable(count("Size on the wire, bytes; null if unknown")),
  third_party: truth("Whether the resource is of another registrable domain than the page"),
});

const Resources = record(
  {
    total: count("Number of resources that the page's HTML references, each counted once"),
    measured: count("Number of measured resources, at most 60"),
    count: kinds(count("Number of resources of this type"), "Number of resources by type"),
    bytes: kinds(count("Size of the resources of this type, bytes on the wire"), "Known size of the resources by type"),
    total_bytes: count("Known size of the page and its resources, bytes on the wire"),
    unknown_sizes: count("Number of resources of unknown size"),
    third_party: record(
      {
        count: count("Number of third-party resources"),
        bytes: count("Known size of these resources, bytes on the wire"),
        hosts: list(
          Type.Object({ host: text("Host name"), count: count("Number of resources from this host") }),
          "Hosts with the most resources first, at most 30",
        ),
      },
      "Resources of other registrable domains than the page's",
    ),
    render_blocking: list(Sized, "Resources that block the first paint, in the page's order"),
    render_blocking_total: count("Number of resources that block the first paint, including those not listed"),
    without_compression: list(Sized, "Measured texts of 1400 bytes or more that are sent uncompressed"),
    without_compression_total: count("Number of such texts, including those not listed"),
    without_cache: list(
      Type.Object({
        url: text("URL of the resource"),
        type: text("script, stylesheet, image, font, media or other"),
        cache_control: Nullable(text("Cache-Control header, verbatim")),
        fresh_s: Nullable(
          count("Time for which a browser can reuse it without revalidation, s; null if it has to guess or revalidate"),
        ),
        third_party: truth("Whether the resource is of another registrable domain than the page"),
      }),
      "Measured static resources that a browser can cache for less than a week",
    ),
    without_cache_total: count("Number of such resources, including those not listed"),
    failed: list(
      Type.Object({ url: text("URL of the resource"), reason: text("Reason of the failure: a word or a status") }),
      "Resources that could not be fetched, at most 30",
    ),
  },
  "Resources that the HTML makes a browser load; scripts are not run",
);

/** The performance tool: grades how fast a page is served and how well it is built, without a browser. */
export const performance = defineTool({
  name: "performance",
  title: "Performance",
  summary: "Time to first byte, page weight, blocking resources, compression and caching of a page, scored",
  scope: "check",
  toolset: "page",
  target: { param: "url", kind: "url", connects: true },
  example: { url: "https://example.com" },
  deadlineMs: () => 30_000,
  params: Type.Object({ url: Url({ description: "Page to check; redirects are followed" }) }),
  result: Type.Object({
    ...PAGE_FIELDS,
    score: Nullable(points("Percentage earned of the points of the checks that apply; null for an error page")),
    grade: Nullable(
      letterGrade("Grade of the score: A+ from 95, A from 90, B from 80, C from 70, D from 60; null for an error page"),
    ),
    checks: list(Check, "Every part of the score, in a fixed order"),
    findings: findings("One finding for each check that does not pass, and for other causes of slowness; worst first"),
    timing: Timing,
    timing_us: TimingUs,
    total_ms: count("Duration of the whole request of the median sample, ms; the sum of timing"),
    samples: list(Sample, "The one to three requests made; timing is that of the median sample by navigation_ttfb_ms"),
    navigation_ttfb_ms: count(
      "Median of the time from the start, including redirects and connection, to the first byte, ms",
    ),
    ttfb_rating: word(
      ["good", "needs_improvement", "poor"],
      "Rating of navigation_ttfb_ms as measured from this location: up to 800 ms, up to 1800 ms, above (web.dev)",
    ),
    html: record(
      {
        transfer_bytes: count("Size of the body on the wire, bytes"),
        decoded_bytes: count("Size of the body without its content coding, bytes"),
        encoding: Nullable(text("Content coding, e.g. br; null if none")),
        ratio: Nullable(number("decoded_bytes divided by transfer_bytes, to 0.01; null for an empty body")),
        truncated: truth("Whether the body is larger than the limit; the sizes are those of the part that was read"),
        chunked: Nullable(
          truth(
            "Whether the body was sent in chunks, without a known length; null on HTTP/2, which always uses frames",
          ),
        ),
      },
      "HTML of the page",
    ),
    resources: Resources,
    protocol: record(
      {
        http_version: text("1.0, 1.1 or 2"),
        tls: Nullable(text("TLS version; null on http")),
        alt_svc_h3: truth("Whether the server advertises HTTP/3 (Alt-Svc)"),
      },
      "Protocols of the connection",
    ),
    cache_policy: CachePolicy,
    connection_reuse: record(
      {
        reusable: Nullable(truth("Whether the connection serves further requests; null if the server does not say")),
        why: text("Reason"),
      },
      "Whether the server keeps connections open, according to HTTP version and headers",
    ),
    dom: Nullable(
      record(
        { elements: count("Number of elements"), depth: count("Maximum nesting depth") },
        "Size of the DOM; null if the page is not HTML",
      ),
    ),
    images: Nullable(
      record(
        {
          total: count("Number of img elements with an address"),
          lazy: count("Number with loading=lazy"),
          missing_dimensions: count("Number without width and height; the layout shifts when they load"),
          modern_formats: count("Number offered as WebP, AVIF or JPEG XL"),
          known_formats: count("Number whose format is known by type or file name, without SVG"),
          responsive: count("Number with srcset or in a picture element"),
        },
        "Images of the page; null if the page is not HTML",
      ),
    ),
    preload: list(
      Type.Object({
        url: text("URL of the resource"),
        as: Nullable(text("Destination, e.g. font; null if none is given")),
        from: word(["html", "header"], "Place of the hint"),
      }),
      "Preload hints (preload, modulepreload), at most 50",
    ),
    preconnect: list(
      Type.Object({
        origin: text("Origin"),
        rel: word(
          ["preconnect", "dns-prefetch"],
          "preconnect: opens a connection; dns-prefetch: only resolves the name",
        ),
        from: word(["html", "header"], "Place of the hint"),
      }),
      "Hints to open connections early, at most 50",
    ),
    preconnect_missing: texts("Other origins of render-blocking resources without one of these hints, at most 10"),
    lab_vitals: Type.Null({
      description: "Always null: LCP, CLS and INP cannot be measured without a browser; see pagespeed",
    }),
    ...OBSERVED_FIELDS,
  }),
  across: {
    agreeOn: ({ ttfb_rating }) => ttfb_rating,
    measure: ({ navigation_ttfb_ms }) => ({ navigation_ttfb_ms }),
  },
});
