import type { Queryable, Transaction } from "#control-plane/core/database/connect.ts";
import type { PlanName } from "#control-plane/core/plans.ts";
import type { Role } from "#control-plane/people/users/roles.ts";

/** A session with what its member is allowed to do now. */
export interface StoredSession {
  readonly id: number;
  readonly userId: number;
  readonly email: string;
  readonly timezone: string;
  readonly isOperator: boolean;
  readonly accountId: number;
  /** null: the account has no address. */
  readonly accountEmail: string | null;
  readonly plan: PlanName;
  readonly role: Role;
  readonly createdAt: Date;
  /** The last time that the password was given. */
  readonly signedInAt: Date;
  /** The device that was given to it, which can have ended; null: none yet. */
  readonly deviceId: number | null;
}

/** A session as its user sees it in a list. */
export interface ListedSession {
  readonly id: number;
  readonly accountId: number;
  readonly createdAt: Date;
  readonly usedAt: Date;
  readonly address: string;
  readonly userAgent: string;
}

/** A session to insert. */
interface NewSession {
  /** Hex. */
  readonly digest: string;
  readonly userId: number;
  readonly accountId: number;
  readonly deviceId: number | null;
  readonly createdAt: Date;
  readonly signedInAt: Date;
  readonly usedAt: Date;
  readonly address: string;
  readonly userAgent: string;
}

/** Maximum number of sessions of a user. */
const MOST_SESSIONS = 50;

/**
 * Inserts a session. Returns false if its user is no member of the account any more, also if that changes at this moment. The
 * oldest sessions of the user beyond the maximum are deleted; `replaced`: the digest, hex, of the one that it replaces.
 */
export async function insertSession(tx: Transaction, session: NewSession, replaced: string | null): Promise<boolean> {
  const { digest, userId, accountId, deviceId, createdAt, signedInAt, usedAt, address, userAgent } = session;
  // Of several at the same time each sees those before it.
  await tx`select from users where id = ${userId} for no key update`;
  const { count } = await tx`
    insert into sessions (digest, user_id, account_id, device_id, created_at, signed_in_at, used_at, address, user_agent)
    select decode(${digest}, 'hex'), user_id, account_id, ${deviceId}::bigint, ${createdAt}, ${signedInAt}, ${usedAt},
      ${address}, ${userAgent}
    from members where user_id = ${userId} and account_id = ${accountId} for key share`;
  if (count === 0) return false;
  if (replaced !== null) await deleteSession(tx, replaced);
  await tx`
    delete from sessions where id in (
      select id from sessions where user_id = ${userId} order by created_at desc, id desc offset ${MOST_SESSIONS})`;
  return true;
}

/**
 * Finds a session that was created after `createdAfter` and used after `usedAfter`; null if there is none. Notes that it
 * is used now, unless it was noted after `notedAfter`.
 */
export async function findSession(
  sql: Queryable,
  digest: string,
  at: { readonly now: Date; readonly createdAfter: Date; readonly usedAfter: Date; readonly notedAfter: Date },
): Promise<StoredSession | null> {
  const [row] = await sql<StoredSession[]>`
    with found as (
      select * from sessions where digest = decode(${digest}, 'hex')
        and created_at > ${at.createdAfter} and used_at > ${at.usedAfter}
    ), noted as (
      update sessions set used_at = ${at.now} from found
      where sessions.id = found.id and found.used_at <= ${at.notedAfter}
    )
    select found.id, found.user_id as "userId", users.email, timezone, is_operator as "isOperator",
      found.account_id as "accountId", accounts.email as "accountEmail", plan, role,
      found.created_at as "createdAt", signed_in_at as "signedInAt", device_id as "deviceId"
    from found join users on users.id = found.user_id join accounts on accounts.id = found.account_id
      join members on members.account_id = found.account_id and members.user_id = found.user_id`;
  return row ?? null;
}

/** Lists the sessions of a user, the last used first. */
export async function listSessions(
  sql: Queryable,
  userId: number,
  { createdAfter, usedAfter }: { readonly createdAfter: Date; readonly usedAfter: Date },
): Promise<readonly ListedSession[]> {
  return sql<ListedSession[]>`
    select id, account_id as "accountId", created_at as "createdAt", used_at as "usedAt", address,
      user_agent as "userAgent"
    from sessions where user_id = ${userId} and created_at > ${createdAfter} and used_at > ${usedAfter}
    order by used_at desc, id desc limit 100`;
}

/** Deletes the session with a digest. */
export async function deleteSession(sql: Queryable, digest: string): Promise<void> {
  await sql`delete from sessions where digest = decode(${digest}, 'hex')`;
}

/** Which sessions of a user: those of an account, or one, or all but one; all if nothing is given. */
export interface SessionChoice {
  readonly accountId?: number;
  readonly id?: number;
  readonly exceptId?: number;
}

/** Deletes sessions of a user. Returns their ids and accounts. */
export async function deleteSessions(
  sql: Queryable,
  userId: number,
  { accountId = -1, id = -1, exceptId = -1 }: SessionChoice = {},
): Promise<readonly Pick<StoredSession, "id" | "accountId">[]> {
  // Ids are positive: -1 is none.
  return sql<Pick<StoredSession, "id" | "accountId">[]>`
    delete from sessions where user_id = ${userId} and ${accountId}::bigint in (-1, account_id) and ${id}::bigint in (-1, id)
      and id <> ${exceptId}::bigint
    returning id, account_id as "accountId"`;
}

/** Deletes up to `limit` sessions that have ended. Returns how many. */
export async function deleteEndedSessions(
  sql: Queryable,
  ended: { readonly createdBefore: Date; readonly usedBefore: Date },
  limit: number,
): Promise<number> {
  const { count } = await sql`
    delete from sessions where id in (
      select id from sessions where used_at <= ${ended.usedBefore} or created_at <= ${ended.createdBefore}
      limit ${limit} for update skip locked
    )`;
  return count;
}
