import type { Logger } from "pino";
import { backoffDelayMs } from "#shared/time/backoff.ts";
import type { Clock, Random } from "#shared/time/clock.ts";
import { renew } from "#probe-agent/membership/enroll.ts";
import { renewalDueAt, type Identity } from "#probe-agent/membership/identity.ts";
import type { AgentMetrics } from "#probe-agent/metrics/agent-metrics.ts";

/** Options of the renewal. */
interface RenewalOptions {
  readonly identity: () => Identity;
  /** Called with the new identity, to store it. New streams use it; open streams continue with the old one. */
  readonly onRenewed: (identity: Identity) => void;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: AgentMetrics;
  readonly log: Logger;
  /** Requests a certificate. Default: the RPC. */
  readonly ask?: typeof renew;
}

/** Renewal of the client certificate before it expires. */
export interface Renewal {
  /**
   * Records the time of a control plane, in Unix milliseconds. Due times follow it because this host's clock may be
   * wrong.
   */
  recordTime(controlPlane: string, timeMs: number): void;
  /** Makes the certificate due: the control plane has said that it changes its authority. */
  makeDue(): void;
  stop(): void;
}

/** Interval between two checks of the due time, in milliseconds. */
const CHECK_MS = 60_000;
/** Back-off between attempts. Ten of the certificate's thirty days remain for them. */
const BACKOFF = { firstMs: 60_000, longestMs: 6 * 3_600_000 };

/** Requests the next certificate after two thirds of the validity, and retries with back-off. */
export function keepRenewed(options: RenewalOptions): Renewal {
  const { clock, random, metrics, log, ask = renew } = options;
  let reported: { address: string; timeMs: number; atMs: number } | null = null;
  let failures = 0;
  let notBeforeMs = 0;
  let asking = false;
  let isDue = false;

  async function renewIfDue(): Promise<void> {
    if (reported === null || asking || clock.monotonic() < notBeforeMs) return;
    const nowMs = reported.timeMs + (clock.monotonic() - reported.atMs);
    if (!isDue && nowMs < renewalDueAt(options.identity())) return;
    asking = true;
    const { address } = reported;
    const answer = await ask(address, options.identity());
    asking = false;
    metrics.renewed(answer.ok ? "ok" : "failed");
    if (answer.ok) {
      failures = 0;
      isDue = false;
      options.onRenewed(answer.identity);
      log.info({ controlPlane: address }, "certificate renewed");
      return;
    }
    failures += 1;
    const delayMs = backoffDelayMs(BACKOFF, failures, random);
    notBeforeMs = clock.monotonic() + delayMs;
    log.warn(
      { controlPlane: address, detail: answer.detail, retryInMs: Math.round(delayMs) },
      "certificate not renewed",
    );
  }

  const timer = setInterval(() => void renewIfDue(), CHECK_MS);
  timer.unref();
  return {
    recordTime(address, timeMs) {
      reported = { address, timeMs, atMs: clock.monotonic() };
      void renewIfDue();
    },
    makeDue() {
      isDue = true;
      void renewIfDue();
    },
    stop: () => clearInterval(timer),
  };
}
