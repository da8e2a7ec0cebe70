import type { App } from "#control-plane/core/app.ts";
import type { Transaction } from "#control-plane/core/database/connect.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import { logFailure, startUpkeep } from "#control-plane/core/database/upkeep.ts";
import type { FailingReceivers } from "#control-plane/notify/deliveries/failing.ts";
import type { Events } from "#control-plane/notify/events/events.ts";
import { toDeactivatedEvent, type WebhookEventData } from "#control-plane/notify/events/webhook-event.ts";
import { deactivateWebhook, lockActive, type ActiveWebhook } from "#control-plane/notify/webhooks/deactivate-store.ts";
import type { StoredWebhook } from "#control-plane/notify/webhooks/webhook.ts";
import { maskAddress } from "#shared/webhooks/mask-address.ts";

/** From when on a subscription that fails becomes inactive. Both must be reached. */
interface AutoOff {
  /** Time without a success, milliseconds. */
  readonly ms: number;
  /** Failed attempts in this time. */
  readonly failures: number;
}

/** A subscription as an attempt read it. */
type AttemptedWebhook = Pick<StoredWebhook, "id" | "updatedAt">;

/** Makes subscriptions inactive whose receivers take no events, and mails it to their accounts. */
interface Deactivation {
  /**
   * Makes a subscription inactive whose receiver answered 410 to an attempt that read it as it is here. Does nothing if it
   * was changed since: the answer says nothing about another address, nor about a receiver that a user has mended.
   * Rejects while the database is away.
   */
  markGone(attempted: AttemptedWebhook): Promise<void>;
  /** Stops looking for those that have failed for long. */
  close(): void;
}

/** How a receiver has failed until now. */
type FailureHistory = NonNullable<Awaited<ReturnType<FailingReceivers["lock"]>>>;

const SWEEP_MS = 60_000;
const AT_ONCE = 100;

/** Starts to look for subscriptions that have failed for long. */
export function startDeactivation({
  sql,
  clock,
  log,
  timers,
  events,
  failing,
  autoOff,
}: Pick<App, "sql" | "clock" | "log" | "timers"> & {
  readonly events: Pick<Events, "publish">;
  readonly failing: FailingReceivers;
  readonly autoOff: AutoOff;
}): Deactivation {
  async function deactivate(tx: Transaction, webhook: ActiveWebhook, history: FailureHistory | null): Promise<void> {
    const now = clock.now();
    const { id, accountId, name } = webhook;
    const reason = history === null ? "gone" : "failing";
    await deactivateWebhook(tx, id, reason, now);
    const data: WebhookEventData = {
      webhook: { id, name, address: maskAddress(webhook) },
      reason,
      failing_since: history?.failingSince.toISOString() ?? null,
      failures: history?.failures ?? null,
    };
    await events.publish(tx, [toDeactivatedEvent(accountId, data, now)]);
    log.info({ webhook_id: id, account_id: accountId, reason }, "a webhook was made inactive");
  }

  async function markGone(tx: Transaction, { id, updatedAt }: AttemptedWebhook): Promise<void> {
    const webhook = await lockActive(tx, id);
    // Whether it was changed is seen by its row alone: the clocks of replicas differ.
    if (webhook?.updatedAt.getTime() === updatedAt.getTime()) await deactivate(tx, webhook, null);
  }

  /** Looks at a receiver under the locks of its rows: an attempt can have succeeded since it was listed. */
  async function checkFailing(tx: Transaction, id: number, since: Date): Promise<void> {
    // First the subscription, then its failures, as a user's change does.
    const webhook = await lockActive(tx, id);
    const history = await failing.lock(tx, id);
    if (history === null || history.failingSince > since || history.failures < autoOff.failures) return;
    if (webhook !== null) await deactivate(tx, webhook, history);
    // If a user makes it active again, its failures are counted anew.
    await failing.forget(tx, id);
  }

  /** Makes those inactive that have failed for long. */
  async function sweep(): Promise<void> {
    const since = new Date(clock.now().getTime() - autoOff.ms);
    const query = { since, failures: autoOff.failures, limit: AT_ONCE };
    for (const { receiverId } of await failing.list(sql, query)) {
      await transact(sql, (tx) => checkFailing(tx, receiverId, since));
    }
  }

  const name = "webhooks: the search for failing ones";
  void sweep().catch((error: unknown) => logFailure(log, name, error));
  const upkeep = startUpkeep({ everyMs: SWEEP_MS, round: sweep, name, log, timers });
  return {
    markGone: (attempted) => transact(sql, (tx) => markGone(tx, attempted)),
    close: () => upkeep.stop(),
  };
}
