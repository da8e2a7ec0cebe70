import type { ParamsOf } from "#shared/tools/define.ts";
import type { pagespeed } from "#shared/tools/pagespeed/contract.ts";
import type { BrowserConditions } from "#probe-agent/port/browser.ts";

/** Device as which a page is measured: mobile or desktop. */
export type Strategy = ParamsOf<typeof pagespeed>["strategy"];

/** Network that is simulated. */
interface SimulatedNetwork {
  readonly rttMs: number;
  readonly throughputKbps: number;
}

/**
 * Factors of Lighthouse (core/config/constants.js). Chromium delays requests, not packets; the factors make the result
 * like that of the simulated network.
 */
const LATENCY_FACTOR = 3.75;
const THROUGHPUT_FACTOR = 0.9;

/** "Slow 4G" and "dense 4G" of Lighthouse. */
const NETWORKS: Readonly<Record<Strategy, SimulatedNetwork>> = {
  mobile: { rttMs: 150, throughputKbps: 1638.4 },
  desktop: { rttMs: 40, throughputKbps: 10_240 },
};

/** Devices of Lighthouse: a Moto G Power on slow 4G, four times slower than this machine, and a desktop on dense 4G. */
const DEVICES = {
  mobile: { width: 412, height: 823, deviceScaleFactor: 1.75, mobile: true, cpuSlowdown: 4, uploadKbps: 750 },
  desktop: { width: 1350, height: 940, deviceScaleFactor: 1, mobile: false, cpuSlowdown: 1, uploadKbps: 10_240 },
} as const;

/** Returns the simulated network of a strategy. */
export function networkOf(strategy: Strategy): SimulatedNetwork {
  return NETWORKS[strategy];
}

/**
 * Returns the conditions for the agent's own browser: Lighthouse's values for throttling that is applied while loading.
 */
export function conditionsOf(strategy: Strategy): BrowserConditions {
  const { rttMs, throughputKbps } = NETWORKS[strategy];
  const { uploadKbps, ...device } = DEVICES[strategy];
  return {
    ...device,
    requestLatencyMs: rttMs * LATENCY_FACTOR,
    downloadKbps: Math.round(throughputKbps * THROUGHPUT_FACTOR),
    uploadKbps: Math.round(uploadKbps * THROUGHPUT_FACTOR),
  };
}
