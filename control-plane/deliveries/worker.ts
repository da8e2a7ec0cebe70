import type { Logger } from "pino";
import type { Clock, Random } from "#shared/clock.ts";
import { waitAtMost } from "#shared/time-limit.ts";
import { isDatabaseAway } from "#control-plane/database/database-away.ts";
import type { Sql } from "#control-plane/database/connect.ts";
import { createPump } from "#control-plane/database/pump.ts";
import {
  ABORT_MS,
  ENDED,
  INTERNAL,
  observeAttempt,
  receiverOf,
  sendInTime,
} from "#control-plane/deliveries/attempt.ts";
import type { ClaimedDelivery, Outcome, Sender } from "#control-plane/deliveries/delivery.ts";
import { recoverLost } from "#control-plane/deliveries/lost.ts";
import type { DeliveryMetrics } from "#control-plane/deliveries/metrics.ts";
import type { NoteMailed } from "#control-plane/deliveries/notes.ts";
import { releaseDue } from "#control-plane/deliveries/release/release.ts";
import type { Settler } from "#control-plane/deliveries/settler.ts";
import { claimDeliveries, renewLeases, renewProbes, ripenDeliveries } from "#control-plane/deliveries/claims/store.ts";
import { continueAfter } from "#control-plane/deliveries/transition.ts";

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
  const running = new Map<ClaimedDelivery, Promise<void>>();
  /** Ends the attempts in progress. */
  const aborts = new Set<AbortController>();
  const leased = new Set<ClaimedDelivery>();
  let isStopped = false;
  let isAborted = false;
  /** The round that runs, or the last one. */
  let lastRound: Promise<unknown> = Promise.resolve();
  // New deliveries are planned for. The end of an attempt only makes room for others.
  let isPlanningDue = true;
  /** Claims take the receivers in turn: the last one that was looked at. */
  let lookedTo = 0;
  /** Attempts that have ended since the last claim, and the timer that claims although they are few. */
  let ended = 0;
  let claimLater: NodeJS.Timeout | null = null;

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
      const isMoreReleased = await releaseDue(sql, channel, clock.now());
      const ripened = await ripenDeliveries(sql, channel, clock.now(), RIPENED_AT_ONCE);
      isPlanningDue = isMoreReleased || ripened === RIPENED_AT_ONCE || isPlanningDue;
    }
    const free = sender.concurrency - running.size;
    if (isStopped || free <= 0) return false;
    ended = 0;
    const isWholeTurn = lookedTo === 0;
    const { claimed, lookedTo: reached } = await claim(free);
    lookedTo = reached ?? 0;
    for (const delivery of claimed) begin(delivery);
    return isPlanningDue || claimed.length === free || reached !== null || !isWholeTurn;
  }

  function claim(limit: number): ReturnType<typeof claimDeliveries> {
    const now = clock.now();
    const { perReceiver, probes } = sender;
    const probing = Array.from(running.keys()).filter(({ isProbe }) => isProbe).length;
    return claimDeliveries(sql, {
      channel,
      limit,
      perReceiver,
      probes: probes === null ? null : Math.max(0, probes - probing),
      inProgress: countByReceiver(running.keys()),
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

  function begin(delivery: ClaimedDelivery, onStored: () => void = () => {}): void {
    leased.add(delivery);
    running.set(delivery, attempt(delivery, onStored));
  }

  async function attempt(delivery: ClaimedDelivery, onStored: () => void): Promise<void> {
    const startedAt = clock.monotonic();
    const abort = new AbortController();
    aborts.add(abort);
    if (isAborted) abort.abort(ENDED);
    const outcome = await sendInTime(sender, delivery, abort).catch((error: unknown): Outcome => {
      log.error({ err: error, channel, delivery_id: delivery.id }, "deliveries: a sender failed");
      return INTERNAL;
    });
    aborts.delete(abort);
    const endedAt = clock.now();
    const durationMs = Math.round(clock.monotonic() - startedAt);
    const finished = { attempt: delivery.attempt, endedAt, outcome };
    const next = continueAfter(finished, sender.schedule, () => randomFraction(deps.random));
    const receiver = receiverOf(sender, delivery, outcome);
    const { id, startedAt: begunAt } = delivery;
    deps.settler.add({ ...finished, id, channel, startedAt: begunAt, durationMs, next, receiver }, () => {
      leased.delete(delivery);
      onStored();
    });
    running.delete(delivery);
    observeAttempt(deps.metrics, delivery, { outcome, status: next.status, endedAt });
    makeRoom();
  }

  /** Claims the next deliveries now or soon, because an attempt has ended. */
  function makeRoom(): void {
    ended += 1;
    if (running.size < CLAIMED_TOGETHER || ended >= CLAIMED_TOGETHER) return pump.wake();
    claimLater ??= setTimeout(() => {
      claimLater = null;
      pump.wake();
    }, CLAIM_MS);
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
    const probed = Array.from(leased).flatMap(({ isProbe, receiverId }) => (isProbe ? receiverId : []));
    if (probed.length > 0) renewProbes(sql, channel, probed, until).catch(() => {});
  }, RENEW_MS);
  recover();
  wake();

  return {
    wake,
    attempt: (delivery) => new Promise((resolve) => begin(delivery, resolve)),
    async stop(graceMs) {
      isStopped = true;
      clearInterval(sweep);
      clearInterval(recovery);
      // A round that runs can still claim deliveries: their attempts have begun too.
      await waitAtMost(ABORT_MS, lastRound, undefined);
      const all = () => Promise.all(running.values());
      await waitAtMost(graceMs, all(), []);
      isAborted = true;
      for (const abort of aborts) abort.abort(ENDED);
      if (claimLater !== null) clearTimeout(claimLater);
      await waitAtMost(ABORT_MS, all(), []);
      clearInterval(renewal);
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
