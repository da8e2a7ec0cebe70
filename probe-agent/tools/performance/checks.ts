import { CHECK_ADVICE, type PerformanceCheckId } from "#probe-agent/tools/performance/advice.ts";
import { logNormalScore, type ScoreCurve } from "#probe-agent/analysis/page/log-normal.ts";
import type { ScoreInput } from "#probe-agent/tools/performance/score-input.ts";

/** One part of the score as in the result. */
export interface PerformanceCheck {
  readonly id: PerformanceCheckId;
  readonly name: string;
  readonly status: "pass" | "warn" | "fail" | "na";
  readonly score: number;
  readonly max: number;
  readonly value: string | null;
  readonly expected: string;
  readonly detail: string;
  readonly reference: string;
}

/** Outcome of one check. `share` is the share of its points from 0 to 1, or null if the check does not apply. */
interface CheckOutcome {
  readonly share: number | null;
  readonly value: string | null;
  readonly detail: string;
}

interface Definition extends Pick<PerformanceCheck, "id" | "name" | "max" | "expected"> {
  readonly find: (facts: ScoreInput) => CheckOutcome;
}

const KIB = 1024;
/** Limits of web.dev for a good and a poor TTFB, in milliseconds. */
const TTFB: ScoreCurve = { p10: 800, median: 1800 };
/** The server-response-time audit of Lighthouse fails above 600 ms. */
const SERVER: ScoreCurve = { p10: 300, median: 600 };
/** Limits of the total-byte-weight audit of Lighthouse. */
const WEIGHT: ScoreCurve = { p10: 2667 * KIB, median: 4000 * KIB };
/** Limits of the dom-size audit of Lighthouse. */
const ELEMENTS: ScoreCurve = { p10: 818, median: 1400 };
/**
 * [maximum number, share]. The steps are Vantage's own: Lighthouse grades the time that such resources cost, which
 * takes a browser.
 */
const BLOCKING = [
  [0, 1],
  [2, 0.8],
  [4, 0.6],
  [7, 0.4],
  [10, 0.2],
] as const;

/** Checks in the order of the result. Vantage chose the points: what delays the first paint most has the most. */
const DEFINITIONS: readonly Definition[] = [
  {
    id: "ttfb",
    name: "Time to first byte",
    max: 20,
    expected: "well below 800 ms, including redirects and connection",
    find: ({ navigationTtfbMs: ms }) => gradeTime(TTFB, ms, "The first byte arrives"),
  },
  {
    id: "server_response",
    name: "Server response time",
    max: 10,
    expected: "well below 600 ms from request to first byte",
    find: ({ ttfbMs: ms }) => gradeTime(SERVER, ms, "The server responds to a request"),
  },
  {
    id: "redirects",
    name: "Redirects",
    max: 5,
    expected: "at most one",
    find: ({ redirects }) => ({
      share: redirects <= 1 ? 1 : redirects === 2 ? 0.5 : 0,
      value: String(redirects),
      detail:
        redirects === 0
          ? "The page is reached without a redirect."
          : redirects === 1
            ? "The page is reached after 1 redirect."
            : `The page is reached after ${redirects} redirects; each of them costs visitors a round trip.`,
    }),
  },
  {
    id: "compression",
    name: "Text compression",
    max: 10,
    expected: "every text of 1400 bytes or more is sent compressed",
    find: ({ texts, compressedTexts }) =>
      gradeShare(compressedTexts, texts, "texts are sent compressed", "There is no text of 1400 bytes or more."),
  },
  {
    id: "page_weight",
    name: "Page weight",
    max: 15,
    expected: "well below 2667 KiB on the wire",
    find: ({ totalBytes, unknownSizes }) => ({
      share: logNormalScore(WEIGHT, totalBytes),
      value: `${Math.round(totalBytes / KIB)} KiB`,
      detail: `The page and the resources that its HTML references ${compareWithLimit(totalBytes / KIB, WEIGHT.p10 / KIB, "KiB")}${
        unknownSizes === 0 ? "" : `, without ${unknownSizes} of unknown size`
      }.`,
    }),
  },
  {
    id: "render_blocking",
    name: "Render-blocking resources",
    max: 15,
    expected: "none",
    find: ({ renderBlocking, elements }) =>
      elements === null
        ? { share: null, value: null, detail: "The response is not HTML." }
        : {
            share: BLOCKING.find(([most]) => renderBlocking <= most)?.[1] ?? 0,
            value: String(renderBlocking),
            detail:
              renderBlocking === 0
                ? "Nothing blocks the first paint."
                : `The first paint waits for ${renderBlocking} ${renderBlocking === 1 ? "resource" : "resources"}.`,
          },
  },
  {
    id: "caching",
    name: "Browser caching",
    max: 10,
    expected: "browsers can cache static resources for a week or longer",
    find: ({ cacheable, cachedLong }) =>
      gradeShare(
        cachedLong,
        cacheable,
        "static resources can be cached for a week",
        "No static resource was measured.",
      ),
  },
  {
    id: "http_version",
    name: "HTTP version",
    max: 5,
    expected: "HTTP/2 or later",
    find: ({ httpVersion }) => ({
      share: httpVersion === "2" ? 1 : httpVersion === "1.1" ? 0.4 : 0,
      value: `HTTP/${httpVersion}`,
      detail:
        httpVersion === "2"
          ? "The page was served over HTTP/2, which uses one connection for all requests."
          : `The page was served over HTTP/${httpVersion}, so a browser opens several connections to load in parallel.`,
    }),
  },
  {
    id: "dom_size",
    name: "DOM size",
    max: 5,
    expected: "well below 818 elements",
    find: ({ elements }) =>
      elements === null
        ? { share: null, value: null, detail: "The response is not HTML." }
        : {
            share: logNormalScore(ELEMENTS, elements),
            value: `${elements} elements`,
            detail: `The page ${compareWithLimit(elements, ELEMENTS.p10, "elements")}${
              elements > ELEMENTS.p10 ? "; the browser computes style and layout of all of them" : ""
            }.`,
          },
  },
  {
    id: "image_dimensions",
    name: "Image dimensions",
    max: 3,
    expected: "every img element has width and height",
    find: ({ images }) =>
      gradeShare(
        (images?.total ?? 0) - (images?.missing_dimensions ?? 0),
        images?.total ?? 0,
        "images have a width and a height",
        "There are no images.",
      ),
  },
  {
    id: "image_formats",
    name: "Image formats",
    max: 2,
    expected: "images are offered as WebP or AVIF",
    find: ({ images }) =>
      gradeShare(
        images?.modern_formats ?? 0,
        images?.known_formats ?? 0,
        "images are offered in a modern format",
        "There are no images of known format.",
      ),
  },
];

/** Returns all checks of a page in a fixed order. */
export function performanceChecks(facts: ScoreInput): PerformanceCheck[] {
  return DEFINITIONS.map(({ find, ...definition }) => {
    const { share: earned, value, detail } = find(facts);
    const status = earned === null ? "na" : earned >= 0.9 ? "pass" : earned >= 0.5 ? "warn" : "fail";
    const { reference } = CHECK_ADVICE[definition.id];
    return { ...definition, reference, status, score: Math.round(definition.max * (earned ?? 0)), value, detail };
  });
}

/** Returns the score from 0 to 100: the percentage earned of the points of the checks that apply. */
export function performanceScore(checks: readonly PerformanceCheck[]): number {
  const counted = checks.filter(({ status }) => status !== "na");
  const earned = counted.reduce((sum, { score }) => sum + score, 0);
  const possible = counted.reduce((sum, { max }) => sum + max, 0);
  return possible === 0 ? 0 : Math.round((100 * earned) / possible);
}

/** Grades a time: 0.9 of the points at p10, half of them at the median. */
function gradeTime(curve: ScoreCurve, ms: number, what: string): CheckOutcome {
  const limits =
    ms > curve.median
      ? `slow, above ${curve.median} ms`
      : ms > curve.p10
        ? `slower than ${curve.p10} ms`
        : `within ${curve.p10} ms`;
  const detail = `${what} after ${ms} ms, ${limits}, measured from this location.`;
  return { share: logNormalScore(curve, ms), value: `${ms} ms`, detail };
}

function compareWithLimit(value: number, limit: number, unit: string): string {
  const verb = unit === "elements" ? "has" : "weigh";
  const limited = `the limit of ${Math.round(limit)}${unit === "KiB" ? " KiB" : ""}`;
  return `${verb} ${Math.round(value)} ${unit}, ${value > limit ? "more than" : "within"} ${limited}`;
}

function gradeShare(good: number, all: number, what: string, none: string): CheckOutcome {
  if (all === 0) return { share: null, value: null, detail: none };
  return { share: good / all, value: `${good} of ${all}`, detail: `${good} of ${all} ${what}.` };
}
