import type { Queryable, Sql } from "#control-plane/core/database/connect.ts";
import type { PlanName } from "#control-plane/core/plans.ts";

/** Notification channel on which replicas make each other forget keys: `key:<digest>` or `account:<id>`. */
export const KEY_CHANNEL = "vantage_keys";

/** A stored key. */
interface StoredKey {
  readonly id: number;
  readonly accountId: number;
  /** Hex. */
  readonly digest: string;
  readonly plan: PlanName;
  /** null for the scopes of the plan. */
  readonly scopes: readonly string[] | null;
  /** When its last use was noted; null: never. */
  readonly usedAt: Date | null;
}

/** A key without its value, as lists show it. */
export interface ListedKey {
  readonly id: number;
  readonly accountId: number;
  readonly name: string | null;
  readonly prefix: string;
  readonly plan: PlanName;
  readonly scopes: readonly string[] | null;
  readonly createdAt: Date;
  /** Noted every few minutes; null: not since this is noted. */
  readonly usedAt: Date | null;
}

/** A key to insert. */
interface NewKey {
  readonly accountId: number;
  readonly plan: PlanName;
  readonly name: string | null;
  readonly digest: string;
  readonly prefix: string;
  readonly scopes: readonly string[] | null;
  /** The user who makes it; absent: the operator. */
  readonly madeBy?: number | undefined;
  /** Maximum number of keys in the plan. */
  readonly mostKeys: number;
  readonly now: Date;
}

/** Finds the keys with these digests (hex), in any order. Unknown digests are missing. */
export async function findKeys(sql: Sql, digests: readonly string[]): Promise<readonly StoredKey[]> {
  return sql<StoredKey[]>`
    select keys.id, account_id as "accountId", encode(digest, 'hex') as digest, plan, scopes,
      used_at as "usedAt"
    from keys join accounts on accounts.id = account_id
    where digest = any(select decode(hex, 'hex') from unnest(${[...digests]}::text[]) as hex)`;
}

/** Notes that keys are used now. Those that are being changed or deleted at this moment are left out. */
export async function noteUse(sql: Sql, ids: readonly number[], now: Date): Promise<void> {
  await sql`
    update keys set used_at = ${now}
    where id in (select id from keys where id = any(${[...ids]}::bigint[]) for no key update skip locked)`;
}

/**
 * Inserts a key. Returns null if the account is deleted, has changed its plan, or has the maximum number of keys. The
 * count in the account's row makes this exact: a concurrent insert waits for the row and then sees the new count.
 */
export async function insertKey(sql: Queryable, key: NewKey): Promise<number | null> {
  const [row] = await sql<{ id: number }[]>`
    with account as (
      update accounts set key_count = key_count + 1
      where id = ${key.accountId} and plan = ${key.plan} and key_count < ${key.mostKeys}
      returning id
    )
    insert into keys (account_id, name, digest, prefix, scopes, made_by, created_at)
    select id, ${key.name}, decode(${key.digest}, 'hex'), ${key.prefix},
      ${key.scopes === null ? null : [...key.scopes]}::text[], ${key.madeBy ?? null}::bigint, ${key.now}
    from account
    returning id`;
  return row?.id ?? null;
}

/** Filter of a list of keys; an absent field matches every key. */
export interface KeyFilter {
  readonly id?: number;
  readonly accountId?: number;
  /** Id of a user. */
  readonly madeBy?: number;
}

/** Lists a page of keys, newest first. */
export async function listKeys(sql: Queryable, filter: KeyFilter, limit: number, offset: number): Promise<ListedKey[]> {
  return sql<ListedKey[]>`
    select keys.id, account_id as "accountId", name, prefix, plan, scopes, keys.created_at as "createdAt",
      used_at as "usedAt"
    from keys join accounts on accounts.id = account_id
    where ${matches(sql, filter)}
    order by keys.id desc limit ${limit} offset ${offset}`;
}

/** Counts the keys that match a filter. */
export async function countKeys(sql: Queryable, filter: KeyFilter): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select count(*) as total from keys where ${matches(sql, filter)}`;
  return row?.total ?? 0;
}

function matches(sql: Queryable, { id, accountId, madeBy }: KeyFilter) {
  return sql`(${id ?? null}::bigint is null or keys.id = ${id ?? null})
    and (${accountId ?? null}::bigint is null or account_id = ${accountId ?? null})
    and (${madeBy ?? null}::bigint is null or made_by = ${madeBy ?? null})`;
}

/**
 * Deletes a key and notifies every replica, in one statement. Returns its digest and account, and what it was called, or
 * null if there is none.
 * It locks the account before the key, as the erasure of an account does: in the other order the two could deadlock.
 */
export async function deleteKey(
  sql: Queryable,
  id: number,
): Promise<{ readonly digest: string; readonly accountId: number; readonly name: string } | null> {
  const [row] = await sql<{ digest: string; accountId: number; name: string }[]>`
    with owner as materialized (
      select accounts.id from accounts where id = (select account_id from keys where id = ${id}) for update
    ), gone as (
      delete from keys using owner where keys.id = ${id} and account_id = owner.id
      returning account_id, encode(digest, 'hex') as digest, coalesce(name, prefix) as name
    ), account as (
      update accounts set key_count = key_count - 1 from gone where accounts.id = gone.account_id
    )
    select digest, account_id as "accountId", name, pg_notify(${KEY_CHANNEL}, 'key:' || digest) from gone`;
  return row === undefined ? null : { digest: row.digest, accountId: row.accountId, name: row.name };
}

/** Deletes keys of a locked account and notifies every replica. Returns their ids, and what they were called. */
export async function deleteKeys(
  tx: Queryable,
  accountId: number,
  ids: readonly number[],
): Promise<readonly { readonly id: number; readonly name: string }[]> {
  const rows = await tx<{ id: number; name: string }[]>`
    with gone as (
      delete from keys where account_id = ${accountId} and id = any(${[...ids]}::bigint[])
      returning id, encode(digest, 'hex') as digest, coalesce(name, prefix) as name
    ), account as (
      update accounts set key_count = key_count - (select count(*) from gone) where id = ${accountId}
    )
    select id, name, pg_notify(${KEY_CHANNEL}, 'key:' || digest) from gone order by id`;
  return rows.map(({ id, name }) => ({ id, name }));
}

/** Makes every replica forget an account's keys, because its plan changed or it was deleted. */
export async function notifyAccountChanged(sql: Queryable, accountId: number): Promise<void> {
  await sql`select pg_notify(${KEY_CHANNEL}, ${`account:${accountId}`})`;
}
