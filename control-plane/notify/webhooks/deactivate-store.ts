import type { Transaction } from "#control-plane/core/database/connect.ts";
import type { FormatName } from "#control-plane/notify/webhooks/formats/formats.ts";
import type { InactiveReason } from "#control-plane/notify/webhooks/webhook.ts";

/** An active subscription, locked. */
export interface ActiveWebhook {
  readonly id: number;
  readonly accountId: number;
  readonly name: string;
  readonly url: string;
  readonly format: FormatName;
  readonly updatedAt: Date;
}

/** Locks an active subscription until the transaction ends. Returns null if it is inactive, or was deleted. */
export async function lockActive(tx: Transaction, id: number): Promise<ActiveWebhook | null> {
  const [row] = await tx<ActiveWebhook[]>`
    select id, account_id as "accountId", name, url, format, updated_at as "updatedAt" from webhooks where id = ${id} and is_active
    for no key update`;
  return row ?? null;
}

/** Makes a subscription inactive. */
export async function deactivateWebhook(tx: Transaction, id: number, reason: InactiveReason, now: Date): Promise<void> {
  await tx`update webhooks set is_active = false, inactive_reason = ${reason}, updated_at = ${now} where id = ${id}`;
}
