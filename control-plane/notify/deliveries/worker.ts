import type { Logger } from "pino";
import type { Clock, Random } from "#shared/time/clock.ts";
import type { Timers } from "#control-plane/core/timers.ts";
import type { Sql } from "#control-plane/core/database/connect.ts";
import type { ClaimedDelivery, Outcome, Sender } from "#control-plane/notify/deliveries/delivery.ts";
import type { DeliveryMetrics } from "#control-plane/notify/deliveries/metrics.ts";
import { type NoteMailed, noteMails, settleInside } from "#control-plane/notify/deliveries/notes.ts";
import { releaseDue } from "#control-plane/notify/deliveries/release/release.ts";
import type { Settler } from "#control-plane/notify/deliveries/settler.ts";
import {
  claimDeliveries,
  renewLeases,
  renewProbes,
  ripenDeliveries,
} from "#control-plane/notify/deliveries/claims-store.ts";
import { becomesLate, continueAfter, continueAfterLoss, LOST } from "#control-plane/notify/deliveries/transition.ts";
import { startClaimedWork, type ClaimedWork } from "#control-plane/checks/jobs/claimed-work.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import { endOverdue, lockLost, type SettledAttempt } from "#control-plane/notify/deliveries/store.ts";
import { waitAtMost } from "#shared/time/time-limit.ts";

/** Sends the deliveries of one channel, on one replica. */
export interface DeliveryWorker {
  /** Looks for due deliveries soon. */
  wake(): void;
  /** Makes the attempt of a delivery that the caller has claimed. Resolves when its result is stored, or refused. */
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
  readonly timers: Timers;
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
  const { sql, clock, log, timers } = deps;
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
    timers,
    most: sender.concurrency,
    lookMs: SWEEP_MS,
    claim: release,
    work: attempt,
    onError: (error, { id }) => log.error({ err: error, channel, delivery_id: id }, "deliveries: an attempt failed"),
    renewal: { everyMs: RENEW_MS, renew },
    together: { pieces: CLAIMED_TOGETHER, ms: CLAIM_MS },
  });
  // While the database is away the next round does the work.
  const recover = (): Promise<void> => recoverLost(deps, sender).catch(() => {});
  const recovery = timers.repeat(RECOVER_MS, recover);
  void recover();
  attempts.wake();
  return {
    wake: () => attempts.wake(),
    attempt: (delivery) =>
      new Promise((resolve) => {
        leased.set(delivery, resolve);
        void attempts.run(delivery);
      }),
    async stop(graceMs) {
      recovery.stop();
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

/** Dependencies of the recovery. */
interface LostDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly random: Random;
  readonly noteMailed: NoteMailed;
}

/** Maximum number of deliveries in one statement; the rest follows in the next round. */
const MOST_AT_ONCE = 500;

/**
 * Schedules the next attempt of deliveries whose replica stopped in the middle of one, and ends those that are overdue.
 * Rejects while the database is away.
 */
export async function recoverLost({ sql, clock, random, noteMailed }: LostDeps, sender: Sender): Promise<void> {
  const now = clock.now();
  await transact(sql, async (tx) => {
    const lost = await lockLost(tx, sender.channel, now, MOST_AT_ONCE);
    if (lost.length === 0) return;
    const settled = lost.map(({ id, attempt, startedAt, leaseEndedAt, isTest }) => {
      const [byte = 0] = random.bytes(1);
      const next = isTest
        ? ({ status: "failed", nextAttemptAt: null } as const)
        : continueAfterLoss({ attempt, leaseEndedAt }, sender.schedule, { now, jitter: byte / 255 });
      const { channel } = sender;
      const known = { id, channel, attempt, startedAt, endedAt: leaseEndedAt, durationMs: null };
      return { ...known, outcome: LOST, next, receiver: null };
    });
    await settleInside(tx, settled, noteMailed);
  });
  await transact(sql, async (tx) => {
    const ended = await endOverdue(tx, sender.channel, now, MOST_AT_ONCE);
    await noteMails(tx, new Map(ended.map((id) => [id, { endedAt: now, nextAttemptAt: null }])), noteMailed);
  });
}

/** Time that a sender has to return after its time is up, milliseconds. */
const ABORT_MS = 2_000;

/**
 * Makes an attempt that ends in time, or when `stopping` is aborted. Its timer ends with it: that of AbortSignal.timeout would go on, and keep what an
 * attempt consists of for the whole time limit.
 */
async function sendInTime(sender: Sender, delivery: ClaimedDelivery, stopping: AbortSignal): Promise<Outcome> {
  const abort = new AbortController();
  const end = (): void => abort.abort(ENDED);
  const timer = setTimeout(end, sender.timeoutMs);
  stopping.addEventListener("abort", end, { once: true });
  if (stopping.aborted) end();
  try {
    return await waitAtMost<Outcome>(sender.timeoutMs + ABORT_MS, sender.send(delivery, abort.signal), TIMEOUT);
  } finally {
    clearTimeout(timer);
    stopping.removeEventListener("abort", end);
  }
}

/** Why attempts are aborted. Their outcome says more. */
const ENDED = new Error("the time of this attempt is up");

const TIMEOUT: Outcome = {
  kind: "retry",
  responseCode: null,
  code: "timeout",
  message: "The attempt took longer than its time limit.",
};

/** Outcome of an attempt whose sender has a bug. */
const INTERNAL: Outcome = {
  kind: "retry",
  responseCode: null,
  code: "internal_error",
  message: "Internal error. It is logged with the id of the delivery.",
};

/** Returns the receiver whose state an outcome shows; null if it shows none. */
function receiverOf(
  { channel, probes, notesFailures }: Sender,
  { receiverId }: ClaimedDelivery,
  outcome: Outcome,
): SettledAttempt["receiver"] {
  const isOwn = outcome.kind === "refused" && outcome.isOwn === true;
  const isNoted = probes !== null || notesFailures === true;
  return !isNoted || isOwn || outcome === INTERNAL ? null : { channel, id: receiverId };
}

/** Counts an attempt, and the time from the creation of a delivery to its success. */
function observeAttempt(
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
