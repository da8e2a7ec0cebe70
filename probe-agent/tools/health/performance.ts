import { isUsable, parseCacheControl } from "#probe-agent/analysis/http/cache-control.ts";
import { notApplicable, scored, type CheckId, type CheckFinding } from "#probe-agent/analysis/site/checks.ts";
import type { HealthSnapshot } from "#probe-agent/analysis/site/snapshot.ts";
import { headerValues, joinedHeader, mimeEssence } from "#probe-agent/analysis/http/header-list.ts";

type PerformanceCheck = Extract<
  CheckId,
  "ttfb" | "total" | "compression" | "http_version" | "html_size" | "caching" | "redirects"
>;

/** [maximum, points], best first (thresholds of web.dev and Lighthouse). */
const TTFB_MS = [
  [200, 8],
  [600, 7],
  [800, 6],
  [1800, 3],
] as const;
const TOTAL_MS = [
  [1000, 3],
  [2500, 2],
  [4000, 1],
] as const;
const HTML_BYTES = [
  [100 * 1024, 3],
  [500 * 1024, 2],
  [1024 * 1024, 1],
] as const;
/** Minimum size of a text that gains by compression, in bytes. Smaller texts fit into one packet. */
const WORTH_COMPRESSING = 1400;

/** Grades the checks of the category Performance. */
export function performanceFindings(snapshot: HealthSnapshot): Record<PerformanceCheck, CheckFinding> {
  return {
    ttfb: ttfbFinding(snapshot),
    total: totalFinding(snapshot),
    compression: compressionFinding(snapshot),
    http_version: versionFinding(snapshot),
    html_size: sizeFinding(snapshot),
    caching: cachingFinding(snapshot),
    redirects: redirectsFinding(snapshot),
  };
}

/** Returns the rounded median of the samples: of an even number, the mean of the two in the middle. */
export function medianMs(samples: readonly number[]): number {
  const sorted = samples.toSorted((one, other) => one - other);
  const middle = (sorted.length - 1) / 2;
  return Math.round(((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2);
}

function pointsFor(value: number, steps: readonly (readonly [number, number])[]): number {
  return steps.find(([limit]) => value <= limit)?.[1] ?? 0;
}

function ttfbFinding({ ttfbSamplesMs }: HealthSnapshot): CheckFinding {
  const median = medianMs(ttfbSamplesMs);
  const points = pointsFor(median, TTFB_MS);
  const count = ttfbSamplesMs.length === 1 ? "one sample" : `${ttfbSamplesMs.length} samples`;
  const rating =
    points === 8 ? "The server responds fast" : points >= 6 ? "The server could be faster" : "The server is slow";
  return scored(points, `${median} ms`, `${rating} (median of ${count}, measured from this location).`);
}

function totalFinding({ totalMs, body }: HealthSnapshot): CheckFinding {
  const value = `${totalMs} ms`;
  if (body.error !== null) return scored(0, value, `The page is incomplete: ${body.error}.`, { severity: "critical" });
  const points = pointsFor(totalMs, TOTAL_MS);
  const cut = body.truncated ? " It was not read to its end." : "";
  return scored(points, value, `${points === 3 ? "The page loads fast." : "The page loads slowly."}${cut}`);
}

function compressionFinding({ headers, body }: HealthSnapshot): CheckFinding {
  const type = mimeEssence(joinedHeader(headers, "content-type"));
  const text = type === "" || /^text\/|[/+](?:json|xml)$|javascript|ecmascript|svg|manifest/.test(type);
  if (!text) return notApplicable(`Compression does not help for ${type}.`);
  if (body.decodedBytes < WORTH_COMPRESSING) return notApplicable("The body is too small for compression to help.");
  const { encoding } = body;
  if (encoding === null) return scored(0, null, "Text is sent uncompressed.");
  return /\b(?:br|zstd|dcb|dcz)\b/.test(encoding)
    ? scored(4, encoding, "Text is compressed well.")
    : scored(3, encoding, "Text is compressed. Brotli or Zstandard would make it smaller.");
}

function versionFinding({ httpVersion }: HealthSnapshot): CheckFinding {
  if (httpVersion === "2" || httpVersion === "3")
    return scored(3, `HTTP/${httpVersion}`, "A browser uses one connection for all requests.");
  return scored(httpVersion === "1.1" ? 1 : 0, `HTTP/${httpVersion}`, "A browser needs several connections.");
}

function sizeFinding({ body }: HealthSnapshot): CheckFinding {
  const points = body.truncated ? 0 : pointsFor(body.transferredBytes, HTML_BYTES);
  const value = `${body.transferredBytes} bytes`;
  return scored(points, value, points === 3 ? "The page is small." : "The page is large.");
}

function cachingFinding({ headers }: HealthSnapshot): CheckFinding {
  const sent = headerValues(headers, "cache-control");
  const control = parseCacheControl(sent);
  const readable = control !== null && isUsable(control);
  const validator = joinedHeader(headers, "etag") !== null || joinedHeader(headers, "last-modified") !== null;
  const settled = validator || control?.noStore === true;
  const missing = [
    ...(readable ? [] : [control === null ? "no Cache-Control" : "an invalid Cache-Control"]),
    ...(settled ? [] : ["neither ETag nor Last-Modified"]),
  ];
  const detail =
    missing.length === 0
      ? "The response states how caches can store it."
      : `Caches have to guess: ${missing.join(", ")}.`;
  return scored(Number(readable) + Number(settled), control === null ? null : sent.join(", "), detail);
}

function redirectsFinding({ redirects }: HealthSnapshot): CheckFinding {
  const points = redirects <= 1 ? 2 : redirects === 2 ? 1 : 0;
  const detail =
    points === 2 ? "The page is reached with at most one redirect." : "Every redirect costs visitors a round trip.";
  return scored(points, String(redirects), detail);
}
