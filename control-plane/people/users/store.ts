import type { Queryable, SqlFragment, Transaction } from "#control-plane/core/database/connect.ts";
import { addressKey } from "#control-plane/core/mail-address.ts";
import type { PlanName } from "#control-plane/core/plans.ts";
import type { Role } from "#control-plane/people/users/roles.ts";

/** A person who can sign in. */
export interface User {
  readonly id: number;
  /** As it was typed, but for its domain. */
  readonly email: string;
  readonly passwordHash: string;
  /** Name of the IANA database. */
  readonly timezone: string;
  readonly isOperator: boolean;
  /** Whether the owner of the address has made this user, or chosen the password. */
  readonly isProved: boolean;
}

/** A member of an account. */
export interface Member {
  readonly userId: number;
  readonly email: string;
  readonly isProved: boolean;
  readonly role: Role;
  readonly createdAt: Date;
}

/** An account of a user. */
export interface Membership {
  readonly accountId: number;
  /** null: the account has no address. */
  readonly email: string | null;
  readonly plan: PlanName;
  readonly role: Role;
}

/** Properties of a user to insert. */
interface NewUser {
  readonly email: string;
  readonly passwordHash: string;
  readonly isOperator: boolean;
  readonly isProved: boolean;
}

/** Returns the id of the oldest account; null if there is none. */
export async function findFirstAccount(sql: Queryable): Promise<number | null> {
  const [row] = await sql<{ id: number }[]>`select id from accounts order by id limit 1`;
  return row?.id ?? null;
}

/** Inserts a user. Returns null if the email address is in use, in any spelling. */
export async function insertUser(sql: Queryable, user: NewUser, now: Date): Promise<User | null> {
  const [row] = await sql<User[]>`
    insert into users (email, password_hash, is_operator, proved_at, created_at, updated_at)
    values (${user.email}, ${user.passwordHash}, ${user.isOperator}, ${user.isProved ? now : null}, ${now}, ${now})
    on conflict do nothing
    returning ${columns(sql)}`;
  return row ?? null;
}

/** Finds a user by email address, in any spelling; null if there is none. */
export async function findUserByEmail(sql: Queryable, email: string): Promise<User | null> {
  const [row] = await sql<User[]>`select ${columns(sql)} from users where mail_address = ${addressKey(email)}`;
  return row ?? null;
}

/** Finds a user; null if there is none. */
export async function findUser(sql: Queryable, id: number): Promise<User | null> {
  const [row] = await sql<User[]>`select ${columns(sql)} from users where id = ${id}`;
  return row ?? null;
}

/** Reports whether anybody can sign in yet. */
export async function hasUsers(sql: Queryable): Promise<boolean> {
  const [row] = await sql<{ found: boolean }[]>`select exists (select from users) as found`;
  return row?.found ?? false;
}

/** Sets the password or the time zone of a user, or that the address is proved. Returns false if there is none. */
export async function updateUser(
  sql: Queryable,
  id: number,
  change: { readonly passwordHash?: string; readonly timezone?: string; readonly isProved?: true },
  now: Date,
): Promise<boolean> {
  const { count } = await sql`
    update users set password_hash = coalesce(${change.passwordHash ?? null}, password_hash),
      timezone = coalesce(${change.timezone ?? null}, timezone),
      proved_at = coalesce(proved_at, ${change.isProved === true ? now : null}), updated_at = ${now}
    where id = ${id}`;
  return count > 0;
}

/** Takes the address from a user, who is not its owner: a text that is no address is there in its place. */
export async function releaseAddress(tx: Transaction, id: number, now: Date): Promise<void> {
  await tx`update users set email = '(no address) ' || id, updated_at = ${now} where id = ${id}`;
}

/**
 * Locks users until the transaction ends, in the order of their ids, against those who make them members. Call it before
 * memberships are locked or deleted.
 */
export async function lockUsers(tx: Queryable, ids: readonly number[]): Promise<void> {
  await tx`select from users where id = any(${[...ids]}::bigint[]) order by id for update`;
}

/** Finds a user who is about to become a member, and stays until the transaction ends; null if there is none. */
export async function holdUser(tx: Transaction, id: number): Promise<User | null> {
  const [row] = await tx<User[]>`select ${columns(tx)} from users where id = ${id} for key share`;
  return row ?? null;
}

/**
 * Deletes users who are members of no account any more, of these, with their sessions and links. Returns their addresses.
 * Call it once they are locked: two erasures at the same time would each see the other's membership.
 */
export async function deleteStrandedUsers(tx: Queryable, ids: readonly number[]): Promise<readonly string[]> {
  const rows = await tx<{ email: string }[]>`
    delete from users where id = any(${[...ids]}::bigint[])
      and not exists (select from members where user_id = users.id)
    returning email`;
  return rows.map(({ email }) => email);
}

/** Lists up to `limit` users who are members of no account. */
export async function listStrandedUsers(sql: Queryable, limit: number): Promise<readonly number[]> {
  const rows = await sql<{ id: number }[]>`
    select id from users where not exists (select from members where user_id = users.id) order by id limit ${limit}`;
  return rows.map(({ id }) => id);
}

/** Makes a user a member. Returns false if the user is one already: the role stays as it is. */
export async function insertMember(
  sql: Queryable,
  { accountId, userId, role }: { readonly accountId: number; readonly userId: number; readonly role: Role },
  now: Date,
): Promise<boolean> {
  const { count } = await sql`
    insert into members (account_id, user_id, role, created_at) values (${accountId}, ${userId}, ${role}, ${now})
    on conflict do nothing`;
  return count > 0;
}

/** Gives memberships of a user to another one. Their sessions have to be ended before. */
export async function moveMembers(
  tx: Transaction,
  from: number,
  to: number,
  accountIds: readonly number[],
): Promise<void> {
  await tx`
    update members set user_id = ${to} where user_id = ${from} and account_id = any(${[...accountIds]}::bigint[])`;
}

/** Lists the members of an account, the first one first. */
export async function listMembers(sql: Queryable, accountId: number): Promise<readonly Member[]> {
  return sql<Member[]>`
    select user_id as "userId", email, proved_at is not null as "isProved", role, members.created_at as "createdAt"
    from members join users on users.id = user_id
    where account_id = ${accountId} order by members.created_at, user_id`;
}

/** Finds the role of a user in an account; null: the user is no member. */
export async function findRole(sql: Queryable, accountId: number, userId: number): Promise<Role | null> {
  const [row] = await sql<{ role: Role }[]>`
    select role from members where account_id = ${accountId} and user_id = ${userId}`;
  return row?.role ?? null;
}

/** Lists the accounts of a user, the oldest first. */
export async function listMemberships(sql: Queryable, userId: number): Promise<readonly Membership[]> {
  return sql<Membership[]>`
    select account_id as "accountId", accounts.email, plan, role
    from members join accounts on accounts.id = account_id
    where user_id = ${userId} order by account_id`;
}

/** Locks the members of an account until the transaction ends, and returns them by user. */
export async function lockMembers(
  tx: Transaction,
  accountId: number,
): Promise<ReadonlyMap<number, Pick<Member, "userId" | "email" | "role">>> {
  const rows = await tx<Pick<Member, "userId" | "email" | "role">[]>`
    select user_id as "userId", email, role from members join users on users.id = user_id
    where account_id = ${accountId} order by user_id for update of members`;
  return new Map(rows.map((member) => [member.userId, member]));
}

/** Sets the role of a member. Returns false if there is none. */
export async function updateRole(sql: Queryable, accountId: number, userId: number, role: Role): Promise<boolean> {
  const { count } = await sql`
    update members set role = ${role} where account_id = ${accountId} and user_id = ${userId}`;
  return count > 0;
}

/** Deletes a membership, and with it its sessions. Returns false if there is none. */
export async function deleteMember(sql: Queryable, accountId: number, userId: number): Promise<boolean> {
  const { count } = await sql`delete from members where account_id = ${accountId} and user_id = ${userId}`;
  return count > 0;
}

/** Deletes all members of an account that is erased. */
export async function deleteMembers(sql: Queryable, accountId: number): Promise<void> {
  await sql`delete from members where account_id = ${accountId}`;
}

function columns(sql: Queryable): SqlFragment {
  return sql`id, email, password_hash as "passwordHash", timezone, is_operator as "isOperator",
    proved_at is not null as "isProved"`;
}
