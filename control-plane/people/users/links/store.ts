import type { Queryable, SqlFragment, Transaction } from "#control-plane/core/database/connect.ts";
import { addressKey } from "#control-plane/core/mail-address.ts";
import type { Role } from "#control-plane/people/users/roles.ts";

/** What a one-time link is for: to take over an account, to set a password, to join an account. */
export type LinkPurpose = "start" | "reset" | "invite";

/** A one-time link without its token. */
export interface OneTimeLink {
  readonly id: number;
  readonly purpose: LinkPurpose;
  /** start: the account that is taken over; invite: the one that is joined; null: a new one. */
  readonly accountId: number | null;
  /** reset: whose password. */
  readonly userId: number | null;
  /** invite: who can use it; null: anybody who has the link. reset: who gets an account if none is theirs. */
  readonly email: string | null;
  /** invite: whether it was mailed to `email` because somebody who has the link gave that address. */
  readonly isMailed: boolean;
  readonly role: Role | null;
  /** invite: the user who made it; null: the operator, or nobody knows. */
  readonly madeBy: number | null;
  /** invite: the operator made it. */
  readonly byOperator: boolean;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** Inserts a link. `digest`: hex. Returns its id. */
export async function insertLink(
  sql: Queryable,
  digest: string,
  link: Omit<OneTimeLink, "id" | "isMailed">,
): Promise<number> {
  const [row] = await sql<{ id: number }[]>`
    insert into one_time_links (digest, purpose, account_id, user_id, email, role, made_by, by_operator, created_at,
      expires_at)
    values (decode(${digest}, 'hex'), ${link.purpose}, ${link.accountId}, ${link.userId}, ${link.email}, ${link.role},
      ${link.madeBy}, ${link.byOperator}, ${link.createdAt}, ${link.expiresAt})
    returning id`;
  if (row === undefined) throw new Error("the insert returned no row");
  return row.id;
}

/** Finds a link that has not expired; null if there is none. */
export async function findLink(
  sql: Queryable,
  digest: string,
  purpose: LinkPurpose,
  now: Date,
): Promise<OneTimeLink | null> {
  const mailed = await findInviteAddress(sql, digest);
  const [row] = await sql<OneTimeLink[]>`
    select ${columns(sql)} from one_time_links
    where (digest = decode(${digest}, 'hex') or id = ${mailed?.inviteId ?? null}::bigint) and purpose = ${purpose}
      and expires_at > ${now}`;
  return row === undefined ? null : { ...row, ...mailed };
}

/**
 * Deletes a link that has not expired and returns it: it works once. null if there is none. It locks the account that the
 * link is for before the link, as the erasure of an account and changes of its members do: in the other order they could
 * deadlock. Members of the account stay as they are until the transaction ends.
 */
export async function takeLink(
  tx: Transaction,
  digest: string,
  purpose: LinkPurpose,
  now: Date,
): Promise<OneTimeLink | null> {
  const mailed = await findInviteAddress(tx, digest);
  const isGiven = tx`(digest = decode(${digest}, 'hex') or id = ${mailed?.inviteId ?? null}::bigint)`;
  await tx`
    select from accounts where id = (select account_id from one_time_links where ${isGiven}) for no key update`;
  const [row] = await tx<OneTimeLink[]>`
    delete from one_time_links where ${isGiven} and purpose = ${purpose} and expires_at > ${now}
    returning ${columns(tx)}`;
  return row === undefined ? null : { ...row, ...mailed };
}

/** An address to which an invite without one is mailed. */
type InviteAddress = Pick<OneTimeLink, "isMailed"> & { readonly inviteId: number; readonly email: string };

async function findInviteAddress(sql: Queryable, digest: string): Promise<InviteAddress | null> {
  const [row] = await sql<InviteAddress[]>`
    select invite_id as "inviteId", email, true as "isMailed" from invite_addresses
    where digest = decode(${digest}, 'hex')`;
  return row ?? null;
}

/**
 * Locks an invite without an address until the transaction ends, after its account, and counts the addresses to which it
 * is mailed; null if there is none, or it has expired.
 */
export async function lockOpenInvite(
  tx: Transaction,
  digest: string,
  now: Date,
): Promise<{ readonly id: number; readonly accountId: number | null; readonly mailed: number } | null> {
  await tx`
    select from accounts
    where id = (select account_id from one_time_links where digest = decode(${digest}, 'hex')) for key share`;
  const [row] = await tx<{ id: number; accountId: number | null }[]>`
    select id, account_id as "accountId" from one_time_links
    where digest = decode(${digest}, 'hex') and purpose = 'invite' and email is null and expires_at > ${now}
    for update`;
  if (row === undefined) return null;
  const [counted] = await tx<{ mailed: number }[]>`
    select count(*) as mailed from invite_addresses where invite_id = ${row.id}`;
  return { ...row, mailed: counted?.mailed ?? 0 };
}

/** Inserts an address to which an invite is mailed. `digest`: hex, of the token in the mail. */
export async function insertInviteAddress(
  tx: Transaction,
  digest: string,
  { inviteId, email }: Pick<InviteAddress, "inviteId" | "email">,
  now: Date,
): Promise<void> {
  await tx`
    insert into invite_addresses (digest, invite_id, email, created_at)
    values (decode(${digest}, 'hex'), ${inviteId}, ${email}, ${now})`;
}

/** Lists the invites of an account that can still be used, newest first. */
export async function listInvites(sql: Queryable, accountId: number, now: Date): Promise<readonly OneTimeLink[]> {
  return sql<OneTimeLink[]>`
    select ${columns(sql)} from one_time_links
    where account_id = ${accountId} and purpose = 'invite' and expires_at > ${now} order by id desc limit 100`;
}

/** Counts the invites of an account that can still be used. */
export async function countInvites(sql: Queryable, accountId: number, now: Date): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*) as total from one_time_links
    where account_id = ${accountId} and purpose = 'invite' and expires_at > ${now}`;
  return row?.total ?? 0;
}

/** Deletes an invite of an account. Returns false if there is none. */
export async function deleteInvite(sql: Queryable, accountId: number, id: number): Promise<boolean> {
  const { count } = await sql`
    delete from one_time_links where id = ${id} and account_id = ${accountId} and purpose = 'invite'`;
  return count > 0;
}

/**
 * Deletes the invites to an account that are for one address, or that a user has made for one of these roles. Returns their
 * ids and addresses.
 */
export async function deleteInvitesOf(
  sql: Queryable,
  accountId: number,
  { email, madeBy, roles }: { readonly email: string | null; readonly madeBy: number; readonly roles: readonly Role[] },
): Promise<readonly Pick<OneTimeLink, "id" | "email">[]> {
  return sql<Pick<OneTimeLink, "id" | "email">[]>`
    delete from one_time_links
    where account_id = ${accountId} and purpose = 'invite'
      and (mail_address = ${email === null ? null : addressKey(email)}::text or made_by = ${madeBy} and role = any(${[...roles]}::text[]))
    returning id, email`;
}

/** Deletes a link. */
export async function deleteLink(sql: Queryable, id: number): Promise<void> {
  await sql`delete from one_time_links where id = ${id}`;
}

/** Deletes the links of a user, which are for a new password. */
export async function deleteResets(sql: Queryable, userId: number): Promise<void> {
  await sql`delete from one_time_links where user_id = ${userId} and purpose = 'reset'`;
}

/** Deletes up to `limit` links that have expired. Returns how many. */
export async function deleteExpiredLinks(sql: Queryable, now: Date, limit: number): Promise<number> {
  const { count } = await sql`
    delete from one_time_links where id in (
      select id from one_time_links where expires_at <= ${now} limit ${limit} for update skip locked
    )`;
  return count;
}

function columns(sql: Queryable): SqlFragment {
  return sql`id, purpose, account_id as "accountId", user_id as "userId", email, false as "isMailed", role,
    made_by as "madeBy", by_operator as "byOperator", created_at as "createdAt", expires_at as "expiresAt"`;
}
