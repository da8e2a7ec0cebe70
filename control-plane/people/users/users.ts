import type { Changes } from "#control-plane/accounts/changes/changes.ts";
import type { Accounts } from "#control-plane/accounts/accounts.ts";
import type { App } from "#control-plane/core/app.ts";
import type { Queryable, Sql, Transaction } from "#control-plane/core/database/connect.ts";
import type { Turns } from "#control-plane/core/database/turns.ts";
import type { GuardedDatabase } from "#control-plane/core/database/guarded.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import { deleteInSteps, startUpkeep } from "#control-plane/core/database/upkeep.ts";
import { deleteOldAttempts } from "#control-plane/people/users/attempt-store.ts";
import {
  countInvites,
  deleteExpiredLinks,
  deleteInvite,
  listInvites,
  type LinkPurpose,
  type OneTimeLink,
} from "#control-plane/people/users/links/store.ts";
import { mailInvite, useInvite, useInviteAs } from "#control-plane/people/users/links/invite.ts";
import {
  createLink,
  peekLink,
  type CreatedLink,
  type UsedInvite,
  type UsedLink,
} from "#control-plane/people/users/links/links.ts";
import { listUnclaimed, useResetLink, type UsedReset } from "#control-plane/people/users/links/reset.ts";
import { useStartLink } from "#control-plane/people/users/links/start.ts";
import { createNetworkOf } from "#control-plane/http/limits/address.ts";
import type { Mailer } from "#control-plane/notify/mail/mailer.ts";
import type { Recipients } from "#control-plane/notify/mail/recipients/recipients.ts";
import type { Encryption } from "#control-plane/core/secrets/encryption.ts";
import { createUserMails, type UserMails } from "#control-plane/people/users/mails.ts";
import { createMembers, type Members, type UserAccount } from "#control-plane/people/users/members.ts";
import { ownChange, recordOf } from "#control-plane/people/users/own-changes.ts";
import { createDevices, type Devices } from "#control-plane/people/users/devices.ts";
import { ATTEMPT_WINDOW_MS, createFailures } from "#control-plane/people/users/failures.ts";
import { createPasswords } from "#control-plane/people/users/passwords.ts";
import type { Role } from "#control-plane/people/users/roles.ts";
import type { SessionChoice } from "#control-plane/people/users/session-store.ts";
import { createSessions, type Client, type Session, type Sessions } from "#control-plane/people/users/sessions.ts";
import {
  changePassword,
  confirmPassword,
  signIn,
  type SignIn,
  type Unproven,
} from "#control-plane/people/users/sign-in.ts";
import {
  deleteMembers,
  deleteStrandedUsers,
  listMembers,
  listStrandedUsers,
  lockUsers,
  updateUser,
} from "#control-plane/people/users/store.ts";

/** People who sign in: their passwords, sessions, memberships and one-time links. */
export interface Users {
  readonly sessions: Sessions;
  readonly devices: Devices;
  readonly members: Members;
  readonly mails: UserMails;
  /** Signs a user in by email address and password. */
  signIn(credentials: { readonly email: string; readonly password: string }, from: Client): Promise<SignIn>;
  /**
   * Proves the password of a session's user again; wrong ones are limited as sign-ins are. A new session, in the same
   * account, takes the place of `session`, whose cookie has the value `token`.
   */
  confirm(
    session: Session,
    token: string,
    password: string,
    from: Client,
  ): Promise<{ readonly kind: "ok"; readonly token: string; readonly session: Session } | Unproven>;
  /** Creates the link by which an owner takes over an account. */
  createStartLink(sql: Queryable, accountId: number): Promise<CreatedLink>;
  /** Finds a link that can still be used, without using it; null if there is none. */
  peek(purpose: LinkPurpose, token: string): Promise<OneTimeLink | null>;
  /** Takes over an account by its start link. */
  start(token: string, chosen: { readonly email: string; readonly password: string }, from: Client): Promise<UsedLink>;
  /**
   * Returns the accounts of which the owner of the address has to say whose they are, before a reset link sets a password.
   */
  unclaimed(link: Pick<OneTimeLink, "userId">): Promise<readonly UserAccount[]>;
  /**
   * Sets a new password by a reset link. `isMine`: for each account to claim, by its id, whether it belongs to the owner of
   * the address.
   */
  reset(
    token: string,
    chosen: { readonly password: string; readonly isMine: ReadonlyMap<number, boolean> },
    from: Client,
  ): Promise<UsedReset>;
  /** Joins an account by an invite. */
  join(token: string, chosen: { readonly email: string; readonly password: string }, from: Client): Promise<UsedInvite>;
  /**
   * Mails an invite without an address to the one that somebody gives who has the link. Returns what does not allow it;
   * null: the mail is on its way. used_up: the invite was mailed to 3 addresses.
   */
  mailInvite(token: string, email: string): ReturnType<typeof mailInvite>;
  /** Joins an account by an invite as the user of a session. */
  joinAs(token: string, session: Session, from: Client): Promise<UsedInvite>;
  /**
   * Sets a new password, and ends all sessions of the user but a new one, which takes the place of `session`. Returns the
   * value of its cookie.
   */
  changePassword(
    session: Session,
    passwords: { readonly current: string; readonly next: string },
    from: Client,
  ): Promise<{ readonly kind: "ok"; readonly token: string } | Unproven>;
  /** Sets the time zone of a session's user, a name of the IANA database. */
  setTimezone(session: Session, timezone: string, from: Client): Promise<void>;
  /** Ends sessions of a session's user. Those that have ended in the meantime need no end. */
  endSessions(session: Session, chosen: SessionChoice, from: Client): Promise<void>;
  /**
   * Creates an invite: to an account with a role, or to a new account. `email`: who can use it; null: anybody who has it.
   * `ttlMs`: its life in milliseconds; default: 7 days.
   */
  invite(sql: Queryable, invite: NewInvite, ttlMs?: number): Promise<CreatedLink>;
  /** Lists the invites of an account that can still be used, newest first, at most 100. */
  invites(sql: Queryable, accountId: number): Promise<readonly OneTimeLink[]>;
  /** Counts the invites of an account that can still be used. */
  countInvites(sql: Queryable, accountId: number): Promise<number>;
  /** Deletes an invite of an account. Returns false if there is none. */
  revokeInvite(sql: Queryable, accountId: number, id: number): Promise<boolean>;
  /** Stops the housekeeping. */
  close(): void;
}

/** An invite that can still be used. */
export type Invite = Awaited<ReturnType<Users["invites"]>>[number];

/** An invite to create. */
interface NewInvite {
  readonly accountId: number | null;
  readonly email: string | null;
  readonly role: Role;
  /** The user who makes it: it is worth what this one may do when it is used. null: the operator. */
  readonly madeBy: number | null;
}

/** Dependencies of users. */
interface UsersDeps extends Pick<App, "sql" | "clock" | "random" | "log" | "timers"> {
  /** Connections of sign-ins, which nothing else takes. */
  readonly signInSql: Sql;
  readonly turns: Turns;
  /** Connection for look-ups that a request waits for. */
  readonly gate: GuardedDatabase;
  readonly accounts: Accounts;
  readonly changes: Pick<Changes, "record">;
  readonly encryption: Encryption;
  /** null if there is no mail server. */
  readonly mailer: Mailer | null;
  /** Address of the service, without a slash at its end. */
  readonly baseUrl: string;
  readonly recipients: Pick<Recipients, "endLinks">;
  /** Proxies in front of the service, CIDR ranges. */
  readonly trustedProxies: readonly string[];
}

const SWEEP_MS = 600_000;
const DELETED_AT_ONCE = 1_000;

/** Opens the users of one replica and starts their housekeeping. They join the export and the erasure of accounts. */
export function createUsers(deps: UsersDeps): Users {
  const { sql, clock, random, log, timers, accounts } = deps;
  const { record } = deps.changes;
  const networkOf = createNetworkOf(deps.trustedProxies);
  const passwords = createPasswords(random, networkOf);
  const devices = createDevices({ ...deps, sql: deps.signInSql });
  const failures = createFailures({ ...deps, sql: deps.signInSql, devices, networkOf });
  const sessions = createSessions({ ...deps, devices });
  const linked = { sql, clock, random, accounts, passwords, sessions, devices, failures, record };
  const signingIn = { ...linked, sql: deps.signInSql };

  const mails = createUserMails(deps);
  const forgetMails = (tx: Transaction, emails: readonly string[]) => mails.forget(tx, emails);

  accounts.addExporter("members", async (on, accountId) =>
    (await listMembers(on, accountId)).map(({ email, role, createdAt }) => ({ email, role, created_at: createdAt })),
  );
  accounts.onErase(async (tx, accountId) => {
    const ids = (await listMembers(tx, accountId)).map(({ userId }) => userId);
    await lockUsers(tx, ids);
    await deleteMembers(tx, accountId);
    await mails.forget(tx, await deleteStrandedUsers(tx, ids));
  });
  const upkeep = startUpkeep({
    everyMs: SWEEP_MS,
    async round() {
      const now = clock.now();
      const old = new Date(now.getTime() - ATTEMPT_WINDOW_MS);
      await deleteInSteps(DELETED_AT_ONCE, (limit) => deleteOldAttempts(sql, old, limit));
      await deleteInSteps(DELETED_AT_ONCE, (limit) => deleteExpiredLinks(sql, now, limit));
      await deleteInSteps(DELETED_AT_ONCE, (limit) => sessions.sweep(sql, limit));
      await deleteInSteps(DELETED_AT_ONCE, (limit) => devices.sweep(sql, limit));
      // Erased when they leave their last account; releases before kept them.
      await deleteInSteps(DELETED_AT_ONCE, (limit) => eraseStranded(sql, limit));
    },
    name: "users: housekeeping",
    log,
    timers,
  });

  return {
    sessions,
    devices,
    mails,
    members: createMembers({ ...linked, turns: deps.turns, forgetMails, recipients: deps.recipients }),
    confirm: (session, token, password, from) => confirmPassword(signingIn, session, token, password, from),
    signIn: (credentials, from) => signIn(signingIn, credentials, from),
    createStartLink: (on, accountId) => createLink(linked, on, "start", { accountId }),
    peek: (purpose, token) => peekLink(linked, purpose, token),
    start: (token, chosen, from) => useStartLink(linked, token, chosen, from),
    unclaimed: (link) => listUnclaimed(linked, link),
    reset: (token, chosen, from) => useResetLink(linked, token, chosen, from),
    join: (token, chosen, from) => useInvite(linked, token, chosen, from),
    mailInvite: (token, email) => mailInvite(linked, mails, token, email),
    joinAs: (token, session, from) => useInviteAs(linked, token, session, from),
    changePassword: (session, given, from) => changePassword(signingIn, session, given, from),
    setTimezone: (session, timezone, from) =>
      transact(sql, async (tx) => {
        const { userId: id, email, accountId } = session;
        await updateUser(tx, id, { timezone }, clock.now());
        if (timezone === session.timezone) return;
        const changed = [{ field: "timezone", before: session.timezone, after: timezone }];
        await recordOf(record, tx, { user: { id, email }, from }, accountId, [ownChange({ id, email }, changed)]);
      }),
    endSessions: ({ userId: id, email, deviceId }, chosen, from) =>
      transact(sql, async (tx) => {
        const ended = Map.groupBy(await sessions.endOf(tx, id, chosen), ({ accountId }) => accountId);
        for (const [accountId, [first, ...others]] of ended) {
          const session = others.length === 0 ? (first?.id ?? null) : null;
          const change = { resource: "session", id: session, name: null, action: "deleted" } as const;
          await recordOf(record, tx, { user: { id, email }, from }, accountId, [change]);
        }
        // All others end with their devices: one of them is not the user's any more.
        if (chosen.id === undefined) await devices.end(tx, id, deviceId);
      }),
    invite: (on, invite, ttlMs) =>
      createLink(linked, on, "invite", { ...invite, byOperator: invite.madeBy === null }, ttlMs),
    invites: (on, accountId) => listInvites(on, accountId, clock.now()),
    countInvites: (on, accountId) => countInvites(on, accountId, clock.now()),
    revokeInvite: deleteInvite,
    close() {
      upkeep.stop();
      mails.close();
    },
  };
}

/** Erases up to `limit` users who are members of no account. Returns how many it has found. */
async function eraseStranded(sql: Sql, limit: number): Promise<number> {
  const ids = await listStrandedUsers(sql, limit);
  await transact(sql, async (tx) => {
    await lockUsers(tx, ids);
    await deleteStrandedUsers(tx, ids);
  });
  return ids.length;
}
