import type { Queryable } from "#control-plane/core/database/connect.ts";
import { addressKey } from "#control-plane/core/mail-address.ts";
import type { PlanName } from "#control-plane/core/plans.ts";

/** An account. */
export interface Account {
  readonly id: number;
  readonly email: string | null;
  readonly plan: PlanName;
  readonly createdAt: Date;
}

/** Fields of an account to change. */
export interface AccountChange {
  readonly email?: string;
  readonly plan?: PlanName;
}

/** Inserts an account. Returns null if the email address is in use, in any spelling. */
export async function insertAccount(
  sql: Queryable,
  account: { readonly email: string | null; readonly plan: PlanName },
  now: Date,
): Promise<Account | null> {
  const [row] = await sql<Account[]>`
    insert into accounts (email, plan, created_at, updated_at)
    values (${account.email}, ${account.plan}, ${now}, ${now})
    on conflict do nothing
    returning ${columns(sql)}`;
  return row ?? null;
}

/** Finds an account; null if there is none. */
export async function findAccount(sql: Queryable, id: number): Promise<Account | null> {
  const [row] = await sql<Account[]>`select ${columns(sql)} from accounts where id = ${id}`;
  return row ?? null;
}

/** Finds an account and keeps other changes of it out until the transaction ends; null if there is none. */
export async function findForChange(sql: Queryable, id: number): Promise<Account | null> {
  const [row] = await sql<Account[]>`select ${columns(sql)} from accounts where id = ${id} for no key update`;
  return row ?? null;
}

/** Returns the email addresses of accounts by id; an account without one is missing. */
export async function readEmails(sql: Queryable, ids: readonly number[]): Promise<ReadonlyMap<number, string>> {
  const rows = await sql<{ id: number; email: string }[]>`
    select id, email from accounts where id = any(${[...ids]}::bigint[]) and email is not null`;
  return new Map(rows.map(({ id, email }) => [id, email]));
}

/** Lists a page of accounts, newest first. */
export async function listAccounts(sql: Queryable, limit: number, offset: number): Promise<readonly Account[]> {
  return sql<Account[]>`select ${columns(sql)} from accounts order by id desc limit ${limit} offset ${offset}`;
}

/** Counts all accounts. */
export async function countAccounts(sql: Queryable): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select count(*) as total from accounts`;
  return row?.total ?? 0;
}

/** Changes an account. Returns null if there is none. Rejects with code 23505 if the email address is in use. */
export async function updateAccount(
  sql: Queryable,
  id: number,
  change: AccountChange,
  now: Date,
): Promise<Account | null> {
  const [row] = await sql<Account[]>`
    update accounts
    set email = coalesce(${change.email ?? null}, email), plan = coalesce(${change.plan ?? null}, plan),
      updated_at = ${now}
    where id = ${id}
    returning ${columns(sql)}`;
  return row ?? null;
}

/**
 * Gives an account another email address, or none if another account has that one. Returns the address that it has then.
 * Rejects with code 23505 if another account takes it at this moment.
 */
export async function replaceAddress(
  sql: Queryable,
  id: number,
  email: string | null,
  now: Date,
): Promise<string | null> {
  const [row] = await sql<{ email: string | null }[]>`
    update accounts
    set email = (select ${email}::text where not exists (
        select from accounts as other where other.mail_address = ${email === null ? null : addressKey(email)} and other.id <> ${id})),
      updated_at = ${now}
    where id = ${id}
    returning email`;
  return row?.email ?? null;
}

/**
 * Locks an account for its deletion until the transaction ends. Returns false if there is none. Every transaction locks
 * the account before anything that belongs to it: in another order a writer and an erasure could deadlock.
 */
export async function lockAccount(sql: Queryable, id: number): Promise<boolean> {
  const { count } = await sql`select from accounts where id = ${id} for update`;
  return count > 0;
}

/** Deletes an account and all rows that refer to it. */
export async function deleteAccount(sql: Queryable, id: number): Promise<void> {
  await sql`delete from accounts where id = ${id}`;
}

function columns(sql: Queryable) {
  return sql`id, email, plan, created_at as "createdAt"`;
}
