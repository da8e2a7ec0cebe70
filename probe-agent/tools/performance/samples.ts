import { timingReport, type TimingReport } from "#probe-agent/analysis/network/request-timing.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { PageSnapshot } from "#probe-agent/port/http.ts";

/** One load of the page. */
export interface TimedLoad extends Omit<TimingReport, "elapsed_ms"> {
  /** The whole request. */
  readonly total_ms: number;
  readonly ttfb_ms: number;
  readonly navigation_ttfb_ms: number;
}

const FURTHER = 2;
const SAMPLE_MS = 6000;
/** Time that has to be left for another sample. */
const LEAST_LEFT_MS = 15_000;

/** The page's own load and up to two more of the whole page, one after the other. */
export async function gatherSamples(net: Net, page: PageSnapshot): Promise<TimedLoad[]> {
  const samples = [timed(page)];
  for (let count = 0; count < FURTHER && net.remainingMs() > LEAST_LEFT_MS; count += 1) {
    const fetched = await net.http.fetch({ url: page.url, method: "GET", follow: true, timeoutMs: SAMPLE_MS });
    // A limit (429), an error page and a body that is cut short have their own speed.
    if (fetched.status !== "ok" || fetched.data.final.code !== page.final.code) break;
    if (fetched.data.body.error !== page.body.error) break;
    samples.push(timed(fetched.data));
  }
  return samples;
}

/** The one in the middle by time to first byte; of two the faster, which had less of the network's noise. */
export function middleSample(samples: readonly TimedLoad[]): TimedLoad {
  const sorted = samples.toSorted((one, other) => one.navigation_ttfb_ms - other.navigation_ttfb_ms);
  const middle = sorted[Math.floor((sorted.length - 1) / 2)];
  if (middle === undefined) throw new RangeError("no sample");
  return middle;
}

function timed(page: PageSnapshot): TimedLoad {
  const { elapsed_ms: total_ms, ...report } = timingReport(page);
  const { ttfb_ms, transfer_ms } = report.timing;
  return { ...report, total_ms, ttfb_ms, navigation_ttfb_ms: total_ms - transfer_ms };
}
