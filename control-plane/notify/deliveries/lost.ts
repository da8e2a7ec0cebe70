import type { Clock, Random } from "#shared/time/clock.ts";
import type { Sql } from "#control-plane/core/database/connect.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import type { Sender } from "#control-plane/notify/deliveries/delivery.ts";
import { noteMails, settleInside, type NoteMailed } from "#control-plane/notify/deliveries/notes.ts";
import { endOverdue, lockLost } from "#control-plane/notify/deliveries/store.ts";
import { continueAfterLoss, LOST } from "#control-plane/notify/deliveries/transition.ts";

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
