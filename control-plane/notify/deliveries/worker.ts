import type { Logger } from "pino";
import type { Clock, Random } from "#shared/time/clock.ts";
import type { Sql } from "#control-plane/core/database/connect.ts";
import { INTERNAL, observeAttempt, receiverOf, sendInTime } from "#control-plane/notify/deliveries/attempt.ts";
import type { ClaimedDelivery, Outcome, Sender } from "#control-plane/notify/deliveries/delivery.ts";
import { recoverLost } from "#control-plane/notify/deliveries/lost.ts";
import type { DeliveryMetrics } from "#control-plane/notify/deliveries/metrics.ts";
import type { NoteMailed } from "#control-plane/notify/deliveries/notes.ts";
import { releaseDue } from "#control-plane/notify/deliveries/release/release.ts";
import type { Settler } from "#control-plane/notify/deliveries/settler.ts";
import {
  claimDeliveries,
  renewLeases,
  renewProbes,
  ripenDeliveries,
} from "#control-plane/notify/deliveries/claims/store.ts";
import { becomesLate, continueAfter } from "#control-plane/notify/deliveries/transition.ts";
import { startClaimedWork, type ClaimedWork } from "#control-plane/checks/jobs/claimed-work.ts";

/** Sends the deliveries of one channel, on one replica. */
export interface DeliveryWorker {
  /** Looks for due deliveries soon. */
  wake(): void;
  /** Makes the attempt of a delivery that the caller has claimed. Resolves when its result is stored. */
  attempt(delivery: ClaimedDelivery): Promise<void>;
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
  readonly noteMailed: NoteMailed;
  readonly metrics: DeliveryMetrics;
}

/** Interval in milliseconds at which due deliveries are looked for: retries, and a notification that was lost. */
const SWEEP_MS = 1_000;
/** Interval at which lost attempts are looked for, milliseconds. */
const RECOVER_MS = 5_000;
/** Length of a lease and the interval of its renewal, milliseconds. An attempt of a killed process is lost that soon. */
const LEASE_MS = 15_000;
const RENEW_MS = 4_000;
/**
 * With this many attempts in progress the next ones are claimed when so many of them have ended, or after CLAIM_MS:
 * a claim has a fixed cost, and one for each ended attempt would be most of the work of the database.
 */
const CLAIMED_TOGETHER = 64;
const CLAIM_MS = 20;
/** Maximum number of deliveries that become ready in one statement. */
const RIPENED_AT_ONCE = 1_000;

/** Starts a worker for a sender's channel. */
export function startWorker(deps: WorkerDeps, sender: Sender): DeliveryWorker {
  const { sql, clock, log } = deps;
  const { channel } = sender;
  /** The attempts whose results are not stored yet, and who waits for one. */
  const leased = new Map<ClaimedDelivery, () => void>();
  // New deliveries are planned for. The end of an attempt only makes room for others.
  let isPlanningDue = false;
  /** Claims take the receivers in turn: the last one that was looked at. */
  let lookedTo = 0;

  /** Releases and claims what is due. */
  async function release(
    room: number,
    isAsked: boolean,
  ): Promise<{ pieces: readonly ClaimedDelivery[]; isMore: boolean }> {
    if (isAsked || isPlanningDue) {
      await prepare();
      const isMoreReleased = await releaseDue(sql, channel, clock.now());
      const ripened = await ripenDeliveries(sql, channel, clock.now(), RIPENED_AT_ONCE);
      isPlanningDue = isMoreReleased || ripened === RIPENED_AT_ONCE;
    }
    if (room === 0) return { pieces: [], isMore: false };
    const isWholeTurn = lookedTo === 0;
    const { claimed, lookedTo: reached } = await claim(room);
    lookedTo = reached ?? 0;
    return { pieces: claimed, isMore: isPlanningDue || claimed.length === room || reached !== null || !isWholeTurn };
  }

  function claim(limit: number): ReturnType<typeof claimDeliveries> {
    const now = clock.now();
    const { perReceiver, probes } = sender;
    const running = [...attempts.running()];
    const probing = running.filter(({ isProbe }) => isProbe).length;
    return claimDeliveries(sql, {
      channel,
      limit,
      perReceiver,
      probes: probes === null ? null : Math.max(0, probes - probing),
      inProgress: countByReceiver(running),
      after: lookedTo,
      leaseEndsAt: new Date(now.getTime() + LEASE_MS),
      now,
    });
  }

  /** Lets the sender do what precedes a claim. What is in the queue is sent also if that fails. */
  async function prepare(): Promise<void> {
    try {
      await sender.prepare?.();
    } catch (error) {
      log.warn({ err: error, channel }, "deliveries: a sender could not prepare; it tries again");
    }
  }

  async function attempt(delivery: ClaimedDelivery, signal: AbortSignal): Promise<void> {
    if (!leased.has(delivery)) leased.set(delivery, () => {});
    const startedAt = clock.monotonic();
    const outcome = await sendInTime(sender, delivery, signal).catch((error: unknown): Outcome => {
      log.error({ err: error, channel, delivery_id: delivery.id }, "deliveries: a sender failed");
      return INTERNAL;
    });
    const endedAt = clock.now();
    const durationMs = Math.round(clock.monotonic() - startedAt);
    const finished = { attempt: delivery.attempt, endedAt, outcome };
    const next = continueAfter(finished, sender.schedule, () => randomFraction(deps.random));
    const receiver = receiverOf(sender, delivery, outcome);
    const { id, startedAt: begunAt } = delivery;
    const isPutOff = becomesLate(delivery, next);
    deps.settler.add({ ...finished, id, channel, startedAt: begunAt, durationMs, next, isPutOff, receiver }, () => {
      const onStored = leased.get(delivery);
      leased.delete(delivery);
      onStored?.();
    });
    observeAttempt(deps.metrics, delivery, { outcome, status: next.status, endedAt });
  }

  function renew(): void {
    if (leased.size === 0) return;
    const until = new Date(clock.now().getTime() + LEASE_MS);
    renewLeases(sql, [...leased.keys()], until).catch(() => {});
    const probed = Array.from(leased.keys()).flatMap(({ isProbe, receiverId }) => (isProbe ? receiverId : []));
    if (probed.length > 0) renewProbes(sql, channel, probed, until).catch(() => {});
  }

  const attempts: ClaimedWork<ClaimedDelivery> = startClaimedWork({
    name: `deliveries: a round of ${channel}`,
    log,
    most: sender.concurrency,
    lookMs: SWEEP_MS,
    claim: release,
    work: attempt,
    onError: (error, { id }) => log.error({ err: error, channel, delivery_id: id }, "deliveries: an attempt failed"),
    renewal: { everyMs: RENEW_MS, renew },
    together: { pieces: CLAIMED_TOGETHER, ms: CLAIM_MS },
  });
  // While the database is away the next round does the work.
  const recover = (): void => void recoverLost(deps, sender).catch(() => {});
  const recovery = setInterval(recover, RECOVER_MS);
  recover();
  attempts.wake();
  return {
    wake: () => attempts.wake(),
    attempt: (delivery) =>
      new Promise((resolve) => {
        leased.set(delivery, resolve);
        void attempts.run(delivery);
      }),
    async stop(graceMs) {
      clearInterval(recovery);
      await attempts.stop(graceMs);
    },
  };
}

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
