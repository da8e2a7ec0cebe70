import { timingReport, type TimingReport } from "#probe-agent/analysis/network/request-timing.ts";
import type { Net } from "#probe-agent/toolkit/net.ts";
import type { PageSnapshot } from "#probe-agent/port/http.ts";

/** Times of one load of the page. */
export interface TimedLoad extends Omit<TimingReport, "elapsed_ms"> {
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

/** Returns the times of the first load and of up to two further loads of the whole page, one after the other. */
export async function gatherSamples(net: Net, page: PageSnapshot): Promise<TimedLoad[]> {
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
export function middleSample(samples: readonly TimedLoad[]): TimedLoad {
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
