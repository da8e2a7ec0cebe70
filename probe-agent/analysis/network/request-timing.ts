import type { HopTimingMs, HopTimingUs, Timing, TimingUs } from "#shared/tools/timing.ts";
import type { Hop, HopTiming } from "#probe-agent/port/http.ts";

/** Hops of a redirect chain, in order, and the final one with its timings. */
interface TimedChain {
  readonly hops: readonly unknown[];
  readonly final: Pick<Hop, "timing" | "startedAtUs">;
}

/** Timings of a chain as in results of tools. */
export interface TimingReport {
  readonly timing: Timing;
  readonly timing_us: TimingUs;
  /** Sum of the milliseconds of `timing`. */
  readonly elapsed_ms: number;
}

/**
 * Reports the timings of a chain. Milliseconds are differences of rounded cumulative times, so they add up to
 * elapsed_ms exactly and none is negative.
 */
export function timingReport({ hops, final }: TimedChain): TimingReport {
  const { dns, connect, tls, ttfb, transfer, total } = final.timing;
  const redirect = final.startedAtUs;
  const [redirect_ms, dns_ms, connect_ms, tls_ms, ttfb_ms, transfer_ms] = roundedDifferences([
    redirect,
    dns,
    connect,
    tls,
    ttfb,
    transfer,
  ]);
  return {
    timing: { dns_ms, connect_ms, tls_ms, ttfb_ms, transfer_ms, redirect_ms, redirect_count: hops.length - 1 },
    timing_us: {
      dns_us: dns,
      connect_us: connect,
      tls_us: tls,
      ttfb_us: ttfb,
      transfer_us: transfer,
      redirect_us: redirect,
      elapsed_us: redirect + total,
    },
    elapsed_ms: Math.round((redirect + total) / 1000),
  };
}

/** Returns the phases of one hop in milliseconds, rounded by the same rule. */
export function hopTimingMs({ dns, connect, tls, ttfb, transfer, total }: HopTiming): HopTimingMs {
  const [dns_ms, connect_ms, tls_ms, ttfb_ms, transfer_ms] = roundedDifferences([dns, connect, tls, ttfb, transfer, 0]);
  return { dns_ms, connect_ms, tls_ms, ttfb_ms, transfer_ms, total_ms: Math.round(total / 1000) };
}

/** Returns the phases of one hop in microseconds, as measured. */
export function hopTimingUs({ dns, connect, tls, ttfb, transfer, total }: HopTiming): HopTimingUs {
  return { dns_us: dns, connect_us: connect, tls_us: tls, ttfb_us: ttfb, transfer_us: transfer, total_us: total };
}

type Six = readonly [number, number, number, number, number, number];

/** Converts durations from microseconds to milliseconds, as differences of rounded cumulative times. */
function roundedDifferences(durations: Six): Six {
  let at = 0;
  return durations.map((duration) => {
    const before = Math.round(at / 1000);
    at += duration;
    return Math.round(at / 1000) - before;
  }) as unknown as Six;
}
