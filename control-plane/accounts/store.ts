import type { Queryable } from "#control-plane/database/connect.ts";
import type { PlanName } from "#control-plane/plans/plans.ts";

/** An account. */
export interface Account {
  readonly id: number;
  readonly email: string | null;
  readonly plan: PlanName;
  readonly createdAt: Date;
}

/** Which fields of an account change. */
export interface AccountChange {
  readonly email?: string;
  readonly plan?: PlanName;
}

/** Adds an account; null where the address is in use (in any case of its letters). */
export async function insertAccount(
  sql: Queryable,
  account: { readonly email: string | null; readonly plan: PlanName },
  now: Date,
): Promise<Account | null> {
  const [row] = await sql<Account[]>`
    insert into accounts (email, plan, created_at, updated_at)
    values (${account.email}, ${account.plan}, ${now}, ${now})
    on conflict (lower(email)) do nothing
    returning ${columns(sql)}`;
  return row ?? null;
}

/** One account, or null. */
export async function findAccount(sql: Queryable, id: number): Promise<Account | null> {
  const [row] = await sql<Account[]>`select ${columns(sql)} from accounts where id = ${id}`;
  return row ?? null;
}

/** Newest first. */
export async function listAccounts(sql: Queryable, limit: number, offset: number): Promise<readonly Account[]> {
  return sql<Account[]>`select ${columns(sql)} from accounts order by id desc limit ${limit} offset ${offset}`;
}

/** How many accounts there are. */
export async function countAccounts(sql: Queryable): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select count(*) as total from accounts`;
  return row?.total ?? 0;
}

/** Changes an account; null where there is none. Fails with 23505 where the address is in use. */
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

/** Deletes an account and all that refers to it; false where there was none. */
export async function deleteAccount(sql: Queryable, id: number): Promise<boolean> {
  const { count } = await sql`delete from accounts where id = ${id}`;
  return count > 0;
}

function columns(sql: Queryable) {
  return sql`id, email, plan, created_at as "createdAt"`;
}
