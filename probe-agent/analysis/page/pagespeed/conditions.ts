import type { ParamsOf } from "#shared/tools/define.ts";
import type { pagespeed } from "#shared/tools/pagespeed.ts";
import type { BrowserConditions } from "#probe-agent/port/browser.ts";

/** mobile or desktop. */
export type Strategy = ParamsOf<typeof pagespeed>["strategy"];

/** The network that is pretended. */
interface PretendedNetwork {
  readonly rttMs: number;
  readonly throughputKbps: number;
}

/** Chromium delays requests, not packets: Lighthouse's factors make that like the network meant (core/config/constants.js). */
const LATENCY_FACTOR = 3.75;
const THROUGHPUT_FACTOR = 0.9;

/** Lighthouse's "slow 4G" and "dense 4G". */
const NETWORKS: Readonly<Record<Strategy, PretendedNetwork>> = {
  mobile: { rttMs: 150, throughputKbps: 1638.4 },
  desktop: { rttMs: 40, throughputKbps: 10_240 },
};

/** Lighthouse's devices: a Moto G Power on slow 4G, four times slower than this machine, and a desktop on dense 4G. */
const DEVICES = {
  mobile: { width: 412, height: 823, deviceScaleFactor: 1.75, mobile: true, cpuSlowdown: 4, uploadKbps: 750 },
  desktop: { width: 1350, height: 940, deviceScaleFactor: 1, mobile: false, cpuSlowdown: 1, uploadKbps: 10_240 },
} as const;

/** The network of a strategy. */
export function networkOf(strategy: Strategy): PretendedNetwork {
  return NETWORKS[strategy];
}

/** How our own browser loads a page for a strategy: Lighthouse's values for throttling applied while loading. */
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
