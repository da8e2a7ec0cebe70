import type { Logger } from "pino";
import type { Clock, Random } from "#shared/clock.ts";
import type { Accounts } from "#control-plane/accounts/accounts.ts";
import type { Queryable, Sql } from "#control-plane/database/connect.ts";
import type { GuardedDatabase } from "#control-plane/database/guarded.ts";
import { deleteInSteps, startUpkeep } from "#control-plane/database/upkeep.ts";
import { deleteOldAttempts } from "#control-plane/users/attempt-store.ts";
import { deleteExpiredLinks, type LinkPurpose, type OneTimeLink } from "#control-plane/users/link-store.ts";
import {
  createLink,
  peekLink,
  useInvite,
  useResetLink,
  useStartLink,
  type CreatedLink,
  type UsedLink,
} from "#control-plane/users/links.ts";
import { createPasswords, type Passwords } from "#control-plane/users/passwords.ts";
import { createSessions, type Client, type Sessions } from "#control-plane/users/sessions.ts";
import { ATTEMPT_WINDOW_MS, signIn, type SignIn } from "#control-plane/users/sign-in.ts";
import { deleteMembers, deleteStrandedUsers, listMembers } from "#control-plane/users/store.ts";

/** People who sign in: their passwords, sessions, memberships and one-time links. */
export interface Users {
  readonly sessions: Sessions;
  readonly passwords: Passwords;
  /** Signs a user in by email address and password. */
  signIn(credentials: { readonly email: string; readonly password: string }, from: Client): Promise<SignIn>;
  /** Creates the link by which an owner takes over an account. */
  createStartLink(sql: Queryable, accountId: number): Promise<CreatedLink>;
  /** Finds a link that can still be used, without using it; null if there is none. */
  peek(purpose: LinkPurpose, token: string): Promise<OneTimeLink | null>;
  /** Takes over an account by its start link. */
  start(token: string, chosen: { readonly email: string; readonly password: string }, from: Client): Promise<UsedLink>;
  /** Sets a new password by a reset link. */
  reset(token: string, password: string, from: Client): Promise<UsedLink>;
  /** Joins an account by an invite. */
  join(token: string, chosen: { readonly email: string; readonly password: string }, from: Client): Promise<UsedLink>;
  /** Stops the housekeeping. */
  close(): void;
}

/** Dependencies of users. */
interface UsersDeps {
  readonly sql: Sql;
  /** Connection for look-ups that a request waits for. */
  readonly gate: GuardedDatabase;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly accounts: Accounts;
}

const SWEEP_MS = 600_000;
const DELETED_AT_ONCE = 1_000;

/** Opens the users of one replica and starts their housekeeping. They join the export and the erasure of accounts. */
export function createUsers(deps: UsersDeps): Users {
  const { sql, clock, random, log, accounts } = deps;
  const passwords = createPasswords(random);
  const sessions = createSessions(deps);
  const linked = { sql, clock, random, accounts, passwords, sessions };

  accounts.addExporter("members", async (on, accountId) =>
    (await listMembers(on, accountId)).map(({ email, role, createdAt }) => ({ email, role, created_at: createdAt })),
  );
  accounts.onErase(async (tx, accountId) => {
    const members = await listMembers(tx, accountId);
    await deleteMembers(tx, accountId);
    await deleteStrandedUsers(
      tx,
      members.map(({ userId }) => userId),
    );
  });
  const upkeep = startUpkeep({
    everyMs: SWEEP_MS,
    async round() {
      const now = clock.now();
      const old = new Date(now.getTime() - ATTEMPT_WINDOW_MS);
      await deleteInSteps(DELETED_AT_ONCE, (limit) => deleteOldAttempts(sql, old, limit));
      await deleteInSteps(DELETED_AT_ONCE, (limit) => deleteExpiredLinks(sql, now, limit));
      await deleteInSteps(DELETED_AT_ONCE, (limit) => sessions.sweep(sql, limit));
    },
    name: "users: housekeeping",
    log,
  });

  return {
    sessions,
    passwords,
    signIn: (credentials, from) => signIn(linked, credentials, from),
    createStartLink: (on, accountId) => createLink(linked, on, "start", { accountId }),
    peek: (purpose, token) => peekLink(linked, purpose, token),
    start: (token, chosen, from) => useStartLink(linked, token, chosen, from),
    reset: (token, password, from) => useResetLink(linked, token, password, from),
    join: (token, chosen, from) => useInvite(linked, token, chosen, from),
    close: () => upkeep.stop(),
  };
}
