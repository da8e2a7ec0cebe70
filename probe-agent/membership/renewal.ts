import type { Logger } from "pino";
import { backoffDelayMs } from "#shared/backoff.ts";
import type { Clock, Random } from "#shared/clock.ts";
import { renew } from "#probe-agent/membership/enroll.ts";
import { renewalDueAt, type Identity } from "#probe-agent/membership/identity.ts";
import type { AgentMetrics } from "#probe-agent/metrics/agent-metrics.ts";

/** Options of the renewal. */
interface RenewalOptions {
  readonly identity: () => Identity;
  /** Stores the new certificate; new streams use it, open ones continue with the old one. */
  readonly onRenewed: (identity: Identity) => void;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: AgentMetrics;
  readonly log: Logger;
  /** Asks for a certificate; the RPC by default. */
  readonly ask?: typeof renew;
}

/** Renews the client certificate in time. */
export interface Renewal {
  /** A control plane has sent its time, Unix milliseconds. Due times follow it: this host's clock may be wrong. */
  heard(controlPlane: string, timeMs: number): void;
  stop(): void;
}

/** How often the due time is checked. */
const LOOK_MS = 60_000;
/** Back-off of attempts; ten of the certificate's thirty days remain for them. */
const BACKOFF = { firstMs: 60_000, longestMs: 6 * 3_600_000 };

/** Requests the next certificate after two thirds of the life, and retries with back-off. */
export function keepRenewed(options: RenewalOptions): Renewal {
  const { clock, random, metrics, log, ask = renew } = options;
  let told: { address: string; timeMs: number; atMs: number } | null = null;
  let failures = 0;
  let notBeforeMs = 0;
  let asking = false;

  async function look(): Promise<void> {
    if (told === null || asking || clock.monotonic() < notBeforeMs) return;
    const nowMs = told.timeMs + (clock.monotonic() - told.atMs);
    if (nowMs < renewalDueAt(options.identity())) return;
    asking = true;
    const { address } = told;
    const answer = await ask(address, options.identity());
    asking = false;
    metrics.renewed(answer.ok ? "ok" : "failed");
    if (answer.ok) {
      failures = 0;
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

  const timer = setInterval(() => void look(), LOOK_MS);
  timer.unref();
  return {
    heard(address, timeMs) {
      told = { address, timeMs, atMs: clock.monotonic() };
      void look();
    },
    stop: () => clearInterval(timer),
  };
}
