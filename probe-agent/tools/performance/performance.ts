import { ok } from "#shared/contracts/outcome.ts";
import { performance as contract } from "#shared/tools/performance/contract.ts";
import { parseAltSvc } from "#probe-agent/analysis/http/alt-svc.ts";
import { cacheFindings } from "#probe-agent/analysis/http/cache-findings.ts";
import { cacheReport } from "#probe-agent/analysis/http/cache-report.ts";
import { fitFindings } from "#probe-agent/analysis/text/findings.ts";
import { leading } from "#probe-agent/analysis/text/json-size.ts";
import { letterGrade } from "#probe-agent/analysis/text/letter-grade.ts";
import {
  resourcesAnalysis,
  type PageResources,
  type pageResources,
} from "#probe-agent/analysis/page/page-resources.ts";
import {
  isCompressible,
  resourceLimitations,
  WORTH_COMPRESSING_BYTES,
  type Measurement,
} from "#probe-agent/analysis/page/page-resources/measured.ts";
import { performanceChecks, performanceScore } from "#probe-agent/tools/performance/checks.ts";
import { connectionReuse, performanceFindings } from "#probe-agent/tools/performance/findings.ts";
import type { ScoreInput } from "#probe-agent/tools/performance/score-input.ts";
import { isKeptForWeek, isStatic, isText, resourceReport } from "#probe-agent/tools/performance/resources.ts";
import { plain } from "#probe-agent/analysis/text/plain-data.ts";
import { headerValues } from "#probe-agent/analysis/http/header-list.ts";
import type { PageSnapshot } from "#probe-agent/port/http.ts";
import { analysePage, fetchPage, type FetchedPage } from "#probe-agent/sources/page.ts";
import { measureResources } from "#probe-agent/sources/resources.ts";
import { implement } from "#probe-agent/tools/implement.ts";
import { timingReport, type TimingReport } from "#probe-agent/analysis/network/request-timing.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";

const RESERVE_MS = 1500;
const HINTS_BYTES = 12_000;
const MAX_HINTS = 50;
const MAX_MISSING = 10;
/** Maximum of a good time to first byte and limit above which it is poor, in milliseconds (web.dev). */
const GOOD_TTFB_MS = 800;
const POOR_TTFB_MS = 1800;

/** Times of one load of the page. */
interface TimedLoad extends Omit<TimingReport, "elapsed_ms"> {
  /** Duration of the whole request. */
  readonly total_ms: number;
  readonly ttfb_ms: number;
  readonly navigation_ttfb_ms: number;
}

/** Maximum number of further samples, and maximum time of each in milliseconds. */
const FURTHER = 2;
const SAMPLE_MS = 6000;
/** Minimum remaining time to start another sample, in milliseconds. */
const LEAST_LEFT_MS = 15_000;

/** Times the page up to three times, measures its resources, then scores all of it. */
export const performance = implement(contract, async (net, { url }) => {
  const seen = await fetchPage(net, url);
  if (seen.status !== "ok") return seen;
  const { head, snapshot, observedAt } = seen.data;
  const { final, body } = snapshot;
  const samples = await gatherSamples(net, snapshot);
  const middle = middleSample(samples);
  const read = await analysePage(net, seen.data, resourcesAnalysis, {});
  if (read.status !== "ok") return read;
  const { found, dom } = read.data.report;
  const measurement = await measureResources(net, found.resources, net.remainingMs() - RESERVE_MS);
  const resources = resourceReport(found, measurement, body.transferredBytes);
  const checks = performanceChecks(collectFacts(seen.data, middle, read.data.report, measurement, resources));
  const scored = final.code < 400;
  const score = scored ? performanceScore(checks) : null;
  const hints = collectHints(found, head.final_url);
  const { findings, limitations: leftOut } = fitFindings([
    ...performanceFindings({
      finalUrl: head.final_url,
      code: final.code,
      checks,
      resources,
      preconnectMissing: hints.preconnect_missing,
      broken: findBroken(measurement),
    }),
    ...cacheFindings(final.headers, net.now()),
  ]);
  return ok({
    ...head,
    score,
    grade: score === null ? null : letterGrade(score),
    checks,
    findings,
    timing: middle.timing,
    timing_us: middle.timing_us,
    total_ms: middle.total_ms,
    samples: samples.map(({ ttfb_ms, navigation_ttfb_ms, total_ms }) => ({
      ttfb_ms,
      navigation_ttfb_ms,
      total_ms,
    })),
    navigation_ttfb_ms: middle.navigation_ttfb_ms,
    ttfb_rating: rateTtfb(middle.navigation_ttfb_ms),
    html: htmlFacts(snapshot),
    resources,
    protocol: {
      http_version: final.httpVersion,
      tls: final.tls?.protocol ?? null,
      alt_svc_h3: (parseAltSvc(headerValues(final.headers, "alt-svc"))?.services ?? []).some(
        ({ alpn }) => alpn === "h3",
      ),
    },
    cache_policy: plain(cacheReport(final.headers, final.code, net.now())),
    connection_reuse: { ...connectionReuse(final.httpVersion, final.headers) },
    dom,
    images: dom === null ? null : { ...found.images },
    ...hints,
    lab_vitals: null,
    source: ["page", ...(measurement.measured.length > 0 ? ["resources"] : [])],
    observed_at: observedAt,
    limitations: [
      ...read.data.limitations,
      ...(scored ? [] : ["An error page is not scored."]),
      ...(samples.length < 3 ? [`Timing is based on ${samples.length} of 3 samples.`] : []),
      ...resourceLimitations(measurement, found.truncated),
      ...leftOut,
      "LCP and CLS require a browser, and INP also requires visitors. See the tool pagespeed.",
      "Scripts were not run. Resources loaded by scripts and style sheets are not counted.",
    ],
  });
});

function collectFacts(
  { snapshot, contentType }: FetchedPage,
  middle: TimedLoad,
  { found, dom }: ReturnType<typeof pageResources>,
  { measured }: Measurement,
  resources: ReturnType<typeof resourceReport>,
): ScoreInput {
  const { final, hops, body } = snapshot;
  const texts = measured.filter(isText);
  const ownText = isCompressible(contentType) && body.decodedBytes >= WORTH_COMPRESSING_BYTES;
  const kept = measured.filter(isStatic);
  return {
    navigationTtfbMs: middle.navigation_ttfb_ms,
    ttfbMs: middle.ttfb_ms,
    redirects: hops.length - 1,
    httpVersion: final.httpVersion,
    texts: texts.length + Number(ownText),
    compressedTexts:
      texts.filter(({ encoding }) => encoding !== null).length + Number(ownText && body.encoding !== null),
    totalBytes: resources.total_bytes,
    unknownSizes: resources.unknown_sizes,
    renderBlocking: resources.render_blocking_total,
    cacheable: kept.length,
    cachedLong: kept.filter(isKeptForWeek).length,
    elements: dom?.elements ?? null,
    images: dom === null ? null : found.images,
  };
}

function findBroken({ measured }: Measurement): { url: string; status: number }[] {
  return measured.flatMap(({ url, status }) => (status !== null && status >= 400 ? [{ url, status }] : []));
}

function htmlFacts({ body, final }: PageSnapshot) {
  const { transferredBytes, decodedBytes } = body;
  const coded = headerValues(final.headers, "transfer-encoding").some((value) => /chunked/i.test(value));
  return {
    transfer_bytes: transferredBytes,
    decoded_bytes: decodedBytes,
    encoding: body.encoding,
    ratio: transferredBytes === 0 ? null : Math.round((100 * decodedBytes) / transferredBytes) / 100,
    truncated: body.truncated,
    chunked: final.httpVersion === "2" ? null : coded,
  };
}

function collectHints({ hints, resources }: PageResources, pageUrl: string) {
  const early = hints.flatMap(({ url, rel, as, from }) =>
    rel === "preload" || rel === "modulepreload" ? [{ url, as: as?.slice(0, 50) ?? null, from }] : [],
  );
  const connections = hints.flatMap(({ url, rel, from }) =>
    rel === "preconnect" || rel === "dns-prefetch" ? [{ origin: new URL(url).origin, rel, from }] : [],
  );
  const hinted = new Set([new URL(pageUrl).origin, ...connections.map(({ origin }) => origin)]);
  const wanted = resources.filter(({ renderBlocking }) => renderBlocking).map(({ url }) => new URL(url).origin);
  return {
    preload: leading(early.slice(0, MAX_HINTS), HINTS_BYTES),
    preconnect: leading(connections.slice(0, MAX_HINTS), HINTS_BYTES),
    preconnect_missing: [...new Set(wanted)].filter((origin) => !hinted.has(origin)).slice(0, MAX_MISSING),
  };
}

function rateTtfb(ms: number): "good" | "needs_improvement" | "poor" {
  return ms <= GOOD_TTFB_MS ? "good" : ms <= POOR_TTFB_MS ? "needs_improvement" : "poor";
}

/** Returns the times of the first load and of up to two further loads of the whole page, one after the other. */
async function gatherSamples(net: Net, page: PageSnapshot): Promise<TimedLoad[]> {
  const samples = [timeLoad(page)];
  for (let count = 0; count < FURTHER && net.remainingMs() > LEAST_LEFT_MS; count += 1) {
    const fetched = await net.http.fetch({ url: page.url, method: "GET", follow: true, timeoutMs: SAMPLE_MS });
    // A rate limit (429), an error page and an incomplete body have another speed than the page.
    if (fetched.status !== "ok" || fetched.data.final.code !== page.final.code) break;
    if (fetched.data.body.error !== page.body.error) break;
    samples.push(timeLoad(fetched.data));
  }
  return samples;
}

/** Returns the median sample by time to first byte. Of two, returns the faster one, which has less network noise. */
function middleSample(samples: readonly TimedLoad[]): TimedLoad {
  const sorted = samples.toSorted((one, other) => one.navigation_ttfb_ms - other.navigation_ttfb_ms);
  const middle = sorted[Math.floor((sorted.length - 1) / 2)];
  if (middle === undefined) throw new RangeError("no sample");
  return middle;
}

function timeLoad(page: PageSnapshot): TimedLoad {
  const { elapsed_ms: total_ms, ...report } = timingReport(page);
  const { ttfb_ms, transfer_ms } = report.timing;
  return { ...report, total_ms, ttfb_ms, navigation_ttfb_ms: total_ms - transfer_ms };
}
