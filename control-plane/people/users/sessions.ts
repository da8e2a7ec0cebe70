import type { App } from "#control-plane/core/app.ts";
import type { Queryable, Transaction } from "#control-plane/core/database/connect.ts";
import type { GuardedDatabase } from "#control-plane/core/database/guarded.ts";
import type { Devices } from "#control-plane/people/users/devices.ts";
import {
  deleteEndedSessions,
  deleteSession,
  deleteSessions,
  findSession,
  insertSession,
  listSessions,
  type ListedSession,
  type SessionChoice,
  type StoredSession,
} from "#control-plane/people/users/session-store.ts";
import { createToken, digestToken, formToken, isToken } from "#control-plane/people/users/token.ts";

/** A session ends when it was not used for 30 days, and 90 days after it was created; milliseconds. */
const IDLE_MS = 30 * 86_400_000;
const LIFE_MS = 90 * 86_400_000;
/** How exactly the last use is noted, milliseconds: not every page view writes. */
const NOTED_MS = 300_000;
/** What manages secrets asks for a password that was given at most this long ago, milliseconds. */
const RECENT_MS = 600_000;
/** Maximum length of a stored User-Agent, in characters. */
const LONGEST_AGENT = 200;

/** A signed-in member: who it is, in which account, and what is allowed there. */
export interface Session extends StoredSession {
  /** Value of the field `_csrf` in its forms. */
  readonly formToken: string;
  /** Whether the password was given in the last 10 minutes. */
  readonly isRecent: boolean;
}

/** Where a session comes from. */
export interface Client {
  /** Address of the client. */
  readonly address: string;
  /** The User-Agent field; empty if there is none. */
  readonly userAgent: string;
  /** The cookie of its device; null if it sent none. */
  readonly device: string | null;
  /** Its live session; null if nobody is signed in. */
  readonly session: Session | null;
  /** Reports whether it has closed its connection, and waits for no answer. */
  readonly isGone: () => boolean;
}

/** Sessions of members. The value of a session's cookie is stored as its SHA-256 alone. */
export interface Sessions {
  /**
   * Opens a session of a member and returns the value of its cookie; null: the user is no member of the account any more. The
   * 51st session of a user ends the oldest one.
   */
  open(
    tx: Transaction,
    member: { readonly userId: number; readonly accountId: number },
    from: Client,
  ): Promise<string | null>;
  /**
   * Replaces a session by one of another account of its user, which lasts no longer and does not count as a new sign-in.
   * Returns the value of its cookie; null: the user is no member of that account any more, and the session stays.
   */
  switch(tx: Transaction, session: Session, token: string, accountId: number, from: Client): Promise<string | null>;
  /** Finds the session of a cookie's value; null if it has ended. Rejects within 2 s if the database is away. */
  find(token: string): Promise<Session | null>;
  /** Ends the session of a cookie's value. */
  end(sql: Queryable, token: string): Promise<void>;
  /** Ends sessions of a user: all, unless some are chosen. Returns their ids and accounts. */
  endOf(
    sql: Queryable,
    userId: number,
    chosen?: SessionChoice,
  ): Promise<readonly { readonly id: number; readonly accountId: number }[]>;
  /** Lists the sessions of a user, the last used first. */
  list(sql: Queryable, userId: number): Promise<readonly ListedSession[]>;
  /** Deletes sessions that have ended, up to a number. Returns how many. */
  sweep(sql: Queryable, limit: number): Promise<number>;
}

/** A session as its user sees it in a list. */
export type SessionEntry = Awaited<ReturnType<Sessions["list"]>>[number];

/** Opens the sessions of one replica. Requests wait for look-ups on `gate`. */
export function createSessions({
  gate,
  clock,
  random,
  devices,
}: Pick<App, "clock" | "random"> & {
  readonly gate: GuardedDatabase;
  readonly devices: Pick<Devices, "use">;
}): Sessions {
  const before = (ms: number): Date => new Date(clock.now().getTime() - ms);
  const described = ({ address, userAgent }: Client) => ({ address, userAgent: userAgent.slice(0, LONGEST_AGENT) });

  return {
    async open(tx, { userId, accountId }, from) {
      const token = createToken(random);
      const now = clock.now();
      const times = { createdAt: now, signedInAt: now, usedAt: now };
      const deviceId = await devices.use(tx, from.device, userId);
      const session = { digest: digestToken(token), userId, accountId, deviceId, ...times, ...described(from) };
      return (await insertSession(tx, session, null)) ? token : null;
    },
    async switch(tx, { userId, deviceId, createdAt, signedInAt }, old, accountId, from) {
      const token = createToken(random);
      const times = { createdAt, signedInAt, usedAt: clock.now() };
      const session = { digest: digestToken(token), userId, accountId, deviceId, ...times, ...described(from) };
      return (await insertSession(tx, session, digestToken(old))) ? token : null;
    },
    async find(token) {
      if (!isToken(token)) return null;
      const at = {
        now: clock.now(),
        createdAfter: before(LIFE_MS),
        usedAfter: before(IDLE_MS),
        notedAfter: before(NOTED_MS),
      };
      const found = await gate.run((client) => findSession(client, digestToken(token), at));
      if (found === null) return null;
      return { ...found, formToken: formToken(token), isRecent: found.signedInAt > before(RECENT_MS) };
    },
    end: (sql, token) => deleteSession(sql, digestToken(token)),
    endOf: deleteSessions,
    list: (sql, userId) => listSessions(sql, userId, { createdAfter: before(LIFE_MS), usedAfter: before(IDLE_MS) }),
    sweep: (sql, limit) =>
      deleteEndedSessions(sql, { createdBefore: before(LIFE_MS), usedBefore: before(IDLE_MS) }, limit),
  };
}
