import type { Logger } from "pino";
import type { Clock, Random } from "#shared/clock.ts";
import { waitAtMost } from "#shared/time-limit.ts";
import { isDatabaseAway } from "#control-plane/database/database-away.ts";
import type { Sql } from "#control-plane/database/connect.ts";
import { createPump } from "#control-plane/database/pump.ts";
import type { ClaimedDelivery, Outcome, Sender } from "#control-plane/deliveries/delivery.ts";
import { recoverLost } from "#control-plane/deliveries/lost.ts";
import type { DeliveryMetrics } from "#control-plane/deliveries/metrics.ts";
import { releaseDue } from "#control-plane/deliveries/release/release.ts";
import type { Settler } from "#control-plane/deliveries/settler.ts";
import { claimDeliveries, renewLeases } from "#control-plane/deliveries/store.ts";
import { continueAfter } from "#control-plane/deliveries/transition.ts";

/** Sends the deliveries of one channel, on one replica. */
export interface DeliveryWorker {
  /** Looks for due deliveries soon. */
  wake(): void;
  /** Claims nothing more, waits up to `graceMs` for attempts in progress, and aborts the rest. */
  stop(graceMs: number): Promise<void>;
}

/** Dependencies of a worker. */
interface WorkerDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly settler: Settler;
  readonly metrics: DeliveryMetrics;
}

/** Interval in milliseconds at which due deliveries are looked for: retries, and a notification that was lost. */
const SWEEP_MS = 1_000;
/** Interval at which lost attempts are looked for, milliseconds. */
const RECOVER_MS = 5_000;
/** Length of a lease and the interval of its renewal, milliseconds. An attempt of a killed process is lost that soon. */
const LEASE_MS = 15_000;
const RENEW_MS = 4_000;
/** Time that a sender has to return after its time is up, milliseconds. */
const ABORT_MS = 2_000;

/** Starts a worker for a sender's channel. */
export function startWorker(deps: WorkerDeps, sender: Sender): DeliveryWorker {
  const { sql, clock, log } = deps;
  const { channel } = sender;
  const stopping = new AbortController();
  const running = new Map<ClaimedDelivery, Promise<void>>();
  const leased = new Set<ClaimedDelivery>();
  let isStopped = false;
  /** The round that runs, or the last one. */
  let lastRound: Promise<unknown> = Promise.resolve();
  // New deliveries are planned for. The end of an attempt only makes room for others.
  let isPlanningDue = true;

  const pump = createPump(async () => {
    const current = round();
    lastRound = current.catch(() => {});
    try {
      if (await current) pump.wake();
    } catch (error) {
      // The next sweep tries again.
      if (isDatabaseAway(error)) log.debug({ err: error, channel }, "deliveries: the database is not available");
      else log.error({ err: error, channel }, "deliveries: a round failed");
    }
  });

  /** Releases and claims what is due. Returns whether there can be more. */
  async function round(): Promise<boolean> {
    if (isStopped) return false;
    if (isPlanningDue) {
      isPlanningDue = false;
      await prepare();
      isPlanningDue = (await releaseDue(sql, channel, clock.now())) || isPlanningDue;
    }
    const free = sender.concurrency - running.size;
    if (isStopped || free <= 0) return false;
    const now = clock.now();
    const claimed = await claimDeliveries(sql, {
      channel,
      limit: free,
      perReceiver: sender.perReceiver,
      inProgress: countByReceiver(running.keys()),
      leaseEndsAt: new Date(now.getTime() + LEASE_MS),
      now,
    });
    for (const delivery of claimed) {
      leased.add(delivery);
      running.set(delivery, attempt(delivery));
    }
    return isPlanningDue || claimed.length === free;
  }

  /** Lets the sender do what precedes a claim. What is in the queue is sent also if that fails. */
  async function prepare(): Promise<void> {
    try {
      await sender.prepare?.();
    } catch (error) {
      log.warn({ err: error, channel }, "deliveries: a sender could not prepare; it tries again");
    }
  }

  async function attempt(delivery: ClaimedDelivery): Promise<void> {
    const startedAt = clock.monotonic();
    const outcome = await sendInTime(sender, delivery, stopping.signal).catch((error: unknown): Outcome => {
      log.error({ err: error, channel, delivery_id: delivery.id }, "deliveries: a sender failed");
      return INTERNAL;
    });
    const endedAt = clock.now();
    const durationMs = Math.round(clock.monotonic() - startedAt);
    const finished = { attempt: delivery.attempt, endedAt, outcome };
    const next = continueAfter(finished, sender.schedule, randomFraction(deps.random));
    deps.settler.add({ ...finished, id: delivery.id, durationMs, next }, () => leased.delete(delivery));
    running.delete(delivery);
    observe(deps.metrics, delivery, { outcome, status: next.status, endedAt });
    pump.wake();
  }

  // While the database is away the next round does the work.
  const recover = (): void => void recoverLost(deps, sender).catch(() => {});
  const wake = (): void => {
    isPlanningDue = true;
    pump.wake();
  };
  const sweep = setInterval(wake, SWEEP_MS);
  const recovery = setInterval(recover, RECOVER_MS);
  const renewal = setInterval(() => {
    if (leased.size === 0) return;
    const until = new Date(clock.now().getTime() + LEASE_MS);
    renewLeases(sql, [...leased], until).catch(() => {});
  }, RENEW_MS);
  recover();
  wake();

  return {
    wake,
    async stop(graceMs) {
      isStopped = true;
      clearInterval(sweep);
      clearInterval(recovery);
      // A round that runs can still claim deliveries: their attempts have begun too.
      await waitAtMost(ABORT_MS, lastRound, undefined);
      const all = () => Promise.all(running.values());
      await waitAtMost(graceMs, all(), []);
      stopping.abort();
      await waitAtMost(ABORT_MS, all(), []);
      clearInterval(renewal);
    },
  };
}

/** Makes an attempt that ends in time. */
async function sendInTime(sender: Sender, delivery: ClaimedDelivery, stopping: AbortSignal): Promise<Outcome> {
  const signal = AbortSignal.any([stopping, AbortSignal.timeout(sender.timeoutMs)]);
  return waitAtMost<Outcome>(sender.timeoutMs + ABORT_MS, sender.send(delivery, signal), TIMEOUT);
}

const TIMEOUT: Outcome = {
  kind: "retry",
  responseCode: null,
  code: "timeout",
  message: "The attempt took longer than its time limit.",
};

const INTERNAL: Outcome = {
  kind: "retry",
  responseCode: null,
  code: "internal_error",
  message: "Internal error. It is logged with the id of the delivery.",
};

function countByReceiver(deliveries: Iterable<ClaimedDelivery>): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const { receiverId } of deliveries) counts.set(receiverId, (counts.get(receiverId) ?? 0) + 1);
  return counts;
}

/** Returns a random number from 0 to 1. */
function randomFraction(random: Random): number {
  const [high = 0, low = 0] = random.bytes(2);
  return (high * 256 + low) / 65_535;
}

function observe(
  metrics: DeliveryMetrics,
  { channel, createdAt }: ClaimedDelivery,
  { outcome, status, endedAt }: { readonly outcome: Outcome; readonly status: string; readonly endedAt: Date },
): void {
  metrics.attempts.inc({ channel, result: outcome.kind });
  if (status !== "retrying") metrics.ended.inc({ channel, status });
  if (status === "delivered") {
    metrics.latency.observe({ channel }, Math.max(0, (endedAt.getTime() - createdAt.getTime()) / 1_000));
  }
}
