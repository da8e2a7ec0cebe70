import type { Queryable, Transaction } from "#control-plane/core/database/connect.ts";
import { columnsOf } from "#control-plane/http/resource.ts";
import { webhook } from "#control-plane/notify/webhooks/resource.ts";
import type { EventType } from "#control-plane/notify/events/event.ts";
import type { PlanName } from "#control-plane/core/plans.ts";
import type {
  InactiveReason,
  StoredWebhook,
  WebhookFilter,
  WebhookSettings,
} from "#control-plane/notify/webhooks/webhook.ts";

/** The account of a write, locked. */
interface WebhookAccount {
  readonly plan: PlanName;
  /** Number of its subscriptions, and of the active ones. */
  readonly total: number;
  readonly active: number;
}

/** A subscription to write. */
interface WrittenWebhook extends WebhookSettings {
  readonly inactiveReason: InactiveReason | null;
  readonly secrets: Uint8Array;
}

/** An active subscription with what selects its events. */
interface Subscription {
  readonly id: number;
  readonly accountId: number;
  readonly plan: PlanName;
  readonly events: readonly EventType[] | null;
  readonly filter: WebhookFilter | null;
}

type WebhookRow = Omit<StoredWebhook, "filter"> & { readonly filter: string | null };

/**
 * Locks an account against other writes of its subscriptions and changes of its plan until the transaction ends. Returns
 * null if the account was deleted.
 */
export async function lockAccount(tx: Transaction, accountId: number): Promise<WebhookAccount | null> {
  // Sent together and executed one after the other: the snapshot of the second is taken when the lock is held, so it sees
  // what the previous holder wrote.
  const [[account], [counts]] = await Promise.all([
    tx<{ plan: PlanName }[]>`select plan from accounts where id = ${accountId} for no key update`,
    tx<{ total: number; active: number }[]>`
      select count(*) as total, count(*) filter (where is_active) as active from webhooks where account_id = ${accountId}`,
  ]);
  if (account === undefined) return null;
  return { plan: account.plan, total: counts?.total ?? 0, active: counts?.active ?? 0 };
}

/** Lists the subscriptions of an account with its plan, oldest first. */
export async function listWebhooks(
  sql: Queryable,
  accountId: number,
): Promise<readonly (StoredWebhook & { readonly plan: PlanName })[]> {
  const rows = await sql<(WebhookRow & { readonly plan: PlanName })[]>`
    select ${columns(sql)}, (select plan from accounts where accounts.id = account_id) as plan
    from webhooks where account_id = ${accountId} order by id`;
  return rows.map((row) => ({ ...toStored(row), plan: row.plan }));
}

/** Finds a subscription of an account; null if it has none with this id. */
export async function findWebhook(sql: Queryable, accountId: number, id: number): Promise<StoredWebhook | null> {
  const [row] = await sql<WebhookRow[]>`
    select ${columns(sql)} from webhooks where id = ${id} and account_id = ${accountId}`;
  return row === undefined ? null : toStored(row);
}

/** Reads subscriptions of any accounts by id; those that were deleted are missing. */
export async function readWebhooks(sql: Queryable, ids: readonly number[]): Promise<readonly StoredWebhook[]> {
  const rows = await sql<WebhookRow[]>`select ${columns(sql)} from webhooks where id = any(${[...ids]}::bigint[])`;
  return rows.map(toStored);
}

/** Inserts a subscription. */
export async function insertWebhook(
  tx: Transaction,
  accountId: number,
  written: WrittenWebhook,
  now: Date,
): Promise<StoredWebhook> {
  const [row] = await tx<WebhookRow[]>`
    insert into webhooks ${tx({ ...rowOf(tx, written), account_id: accountId, created_at: now, updated_at: now })}
    returning ${columns(tx)}`;
  if (row === undefined) throw new Error("the subscription was not inserted");
  return toStored(row);
}

/** Writes a subscription. Returns null if it was deleted. */
export async function updateWebhook(
  tx: Transaction,
  id: number,
  written: WrittenWebhook,
  now: Date,
): Promise<StoredWebhook | null> {
  const [row] = await tx<WebhookRow[]>`
    update webhooks set ${tx({ ...rowOf(tx, written), updated_at: now })}
    where id = ${id} returning ${columns(tx)}`;
  return row === undefined ? null : toStored(row);
}

/** Deletes a subscription. Returns its name; null if the account has none with this id. */
export async function deleteWebhook(tx: Transaction, accountId: number, id: number): Promise<string | null> {
  const [row] = await tx<{ name: string }[]>`
    delete from webhooks where id = ${id} and account_id = ${accountId} returning name`;
  return row?.name ?? null;
}

/** Lists the active subscriptions of accounts with what selects their events. */
export async function listSubscriptions(
  sql: Queryable,
  accountIds: readonly number[],
): Promise<readonly Subscription[]> {
  const rows = await sql<(Omit<Subscription, "filter"> & { readonly filter: string | null })[]>`
    select w.id, w.account_id as "accountId", a.plan, w.events, w.filter
    from webhooks as w join accounts as a on a.id = w.account_id
    where w.account_id = any(${[...accountIds]}::bigint[]) and w.is_active order by w.id`;
  return rows.map((row) => ({ ...row, filter: readFilter(row.filter) }));
}

/** Makes the newest active subscriptions of an account inactive, because its plan allows fewer. */
export async function pauseNewest(tx: Transaction, accountId: number, surplus: number, now: Date): Promise<void> {
  await tx`
    update webhooks set is_active = false, inactive_reason = 'plan_limit', updated_at = ${now}
    where id in (
      select id from webhooks where account_id = ${accountId} and is_active order by id desc limit ${surplus}
    )`;
}

/** Makes subscriptions active again that the plan made inactive, the oldest first. */
export async function resumeOldest(tx: Transaction, accountId: number, room: number, now: Date): Promise<void> {
  await tx`
    update webhooks set is_active = true, inactive_reason = null, updated_at = ${now}
    where id in (
      select id from webhooks where account_id = ${accountId} and inactive_reason = 'plan_limit' order by id limit ${room}
    )`;
}

function columns(sql: Queryable) {
  return sql`${sql([...webhook.stored])}, id, account_id as "accountId", events, filter, inactive_reason as "inactiveReason",
    secrets, created_at as "createdAt", updated_at as "updatedAt"`;
}

function rowOf(sql: Queryable, { events, filter, inactiveReason, secrets, ...settings }: WrittenWebhook) {
  return {
    ...columnsOf(webhook, settings),
    events: events === null ? null : sql.array([...events]),
    filter: toJson(filter),
    inactive_reason: inactiveReason,
    secrets,
  };
}

function toStored(row: WebhookRow): StoredWebhook {
  return { ...row, filter: readFilter(row.filter) };
}

function readFilter(filter: string | null): WebhookFilter | null {
  return filter === null ? null : (JSON.parse(filter) as WebhookFilter);
}

function toJson(filter: WebhookFilter | null): string | null {
  return filter === null ? null : JSON.stringify(filter);
}
