import type { Clock, Random } from "#shared/clock.ts";
import type { Change, RecordChanges } from "#control-plane/access/changes.ts";
import type { Accounts } from "#control-plane/accounts/accounts.ts";
import type { Queryable, Sql, Transaction } from "#control-plane/database/connect.ts";
import { transact } from "#control-plane/database/transaction.ts";
import {
  deleteResets,
  findLink,
  insertLink,
  takeLink,
  type LinkPurpose,
  type OneTimeLink,
} from "#control-plane/users/link-store.ts";
import type { Passwords } from "#control-plane/users/passwords.ts";
import type { Client, Session, Sessions } from "#control-plane/users/sessions.ts";
import { provePassword, type Unproven } from "#control-plane/users/sign-in.ts";
import {
  findUser,
  findUserByEmail,
  hasUsers,
  insertMember,
  insertUser,
  listMemberships,
  updateRole,
  updateUser,
  type User,
} from "#control-plane/users/store.ts";
import { createToken, digestToken, isToken } from "#control-plane/users/token.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Life of links, milliseconds. */
const LIFE_MS: Readonly<Record<LinkPurpose, number>> = {
  start: 15 * MINUTE_MS,
  reset: HOUR_MS,
  invite: 7 * 24 * HOUR_MS,
};

/** A new link, in plain text for the only time. */
export interface CreatedLink {
  readonly id: number;
  readonly token: string;
  readonly expiresAt: Date;
}

/**
 * Result of the use of a link. expired: it is unknown, used or over. foreign: the address belongs to a user who has other
 * accounts, and a password that the link must not set. Others: the password of a known user was not accepted.
 */
export type UsedLink =
  | { readonly kind: "ok"; readonly token: string; readonly userId: number; readonly accountId: number }
  | { readonly kind: "expired" }
  | { readonly kind: "foreign" }
  | Unproven;

/** Dependencies of links. */
export interface LinksDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly random: Random;
  readonly accounts: Accounts;
  readonly passwords: Passwords;
  readonly sessions: Sessions;
  /** Logs changes. */
  readonly record: RecordChanges;
}

/** Email address and password that somebody chooses or has, as read. */
interface Chosen {
  readonly email: string;
  readonly password: string;
}

type Target = Partial<Pick<OneTimeLink, "accountId" | "userId" | "email" | "role">>;

/** Creates a link. `ttlMs`: its life in milliseconds; default: that of its purpose. */
export async function createLink(
  { clock, random }: Pick<LinksDeps, "clock" | "random">,
  sql: Queryable,
  purpose: LinkPurpose,
  { accountId = null, userId = null, email = null, role = null }: Target,
  ttlMs: number = LIFE_MS[purpose],
): Promise<CreatedLink> {
  const token = createToken(random);
  const createdAt = clock.now();
  const expiresAt = new Date(createdAt.getTime() + ttlMs);
  const link = { purpose, accountId, userId, email, role, createdAt, expiresAt };
  return { id: await insertLink(sql, digestToken(token), link), token, expiresAt };
}

/** Finds a link that can still be used, without using it; null if there is none. */
export async function peekLink(
  { sql, clock }: Pick<LinksDeps, "sql" | "clock">,
  purpose: LinkPurpose,
  token: string,
): Promise<OneTimeLink | null> {
  return isToken(token) ? findLink(sql, digestToken(token), purpose, clock.now()) : null;
}

/**
 * Takes over an account by its start link: the user with this address becomes an owner with this password, and is signed
 * in. A user of other accounts keeps the password, which the link must not replace. The first user of all is the operator.
 */
export async function useStartLink(
  deps: LinksDeps,
  token: string,
  { email, password }: Chosen,
  from: Client,
): Promise<UsedLink> {
  const { passwords, clock, sessions, accounts } = deps;
  if ((await peekLink(deps, "start", token)) === null) return EXPIRED;
  const passwordHash = await passwords.hash(password);
  const used = await useLink(deps, "start", token, async (tx, { accountId }): Promise<UsedLink> => {
    if (accountId === null) return EXPIRED;
    const now = clock.now();
    const known = await findUserByEmail(tx, email);
    const others = known === null ? [] : await listMemberships(tx, known.id);
    if (others.some((one) => one.accountId !== accountId)) return { kind: "foreign" };
    const isOperator = !(await hasUsers(tx));
    const user = known ?? (await insertUser(tx, { email, passwordHash, isOperator }, now));
    if (user === null) return { kind: "foreign" };
    if (known !== null) await updateUser(tx, known.id, { passwordHash }, now);
    await sessions.endOf(tx, user.id);
    await deleteResets(tx, user.id);
    const member = { accountId, userId: user.id, role: "owner" as const };
    if (!(await insertMember(tx, member, now))) await updateRole(tx, accountId, user.id, "owner");
    return { kind: "ok", token: await sessions.open(tx, member, from), userId: user.id, accountId };
  });
  // The account's address is that of its first owner. One that another account has stays there.
  if (used.kind === "ok" && (await accounts.find(deps.sql, used.accountId))?.email === null)
    await accounts.update(used.accountId, { email });
  return used;
}

/** Sets a new password by a reset link, ends all sessions of the user and signs in. */
export async function useResetLink(deps: LinksDeps, token: string, password: string, from: Client): Promise<UsedLink> {
  if ((await peekLink(deps, "reset", token)) === null) return EXPIRED;
  const passwordHash = await deps.passwords.hash(password);
  return useLink(deps, "reset", token, async (tx, { userId }): Promise<UsedLink> => {
    const user = userId === null ? null : await findUser(tx, userId);
    const [membership] = user === null ? [] : await listMemberships(tx, user.id);
    if (user === null || membership === undefined) return EXPIRED;
    await updateUser(tx, user.id, { passwordHash }, deps.clock.now());
    await deps.sessions.endOf(tx, user.id);
    // Links of other mails were for the old password.
    await deleteResets(tx, user.id);
    const { accountId } = membership;
    const opened = await deps.sessions.open(tx, { userId: user.id, accountId }, from);
    return { kind: "ok", token: opened, userId: user.id, accountId };
  });
}

/**
 * Joins an account by an invite, or gets a new one if the invite names none. A user who exists proves it by the password;
 * for others it becomes their password.
 */
export async function useInvite(
  deps: LinksDeps,
  token: string,
  { email, password }: Chosen,
  from: Client,
): Promise<UsedLink> {
  const invite = await peekLink(deps, "invite", token);
  if (invite === null || !isFor(invite, email)) return EXPIRED;
  const known = await findUserByEmail(deps.sql, email);
  if (known !== null) {
    const proven = await provePassword(deps, { email, password }, from);
    if (proven.kind !== "ok") return proven;
    return join(deps, token, from, () => Promise.resolve(known));
  }
  const passwordHash = await deps.passwords.hash(password);
  const { clock } = deps;
  return join(deps, token, from, (tx) => insertUser(tx, { email, passwordHash, isOperator: false }, clock.now()));
}

/** Joins an account by an invite as the user of a session, whose password need not be given again. */
export async function useInviteAs(
  deps: LinksDeps,
  token: string,
  { userId, email }: Pick<Session, "userId" | "email">,
  from: Client,
): Promise<UsedLink> {
  const invite = await peekLink(deps, "invite", token);
  if (invite === null || !isFor(invite, email)) return EXPIRED;
  return join(deps, token, from, (tx) => findUser(tx, userId));
}

/** Uses an invite up for the user that `find` returns; null: the address was taken at this moment. */
function join(
  deps: LinksDeps,
  token: string,
  from: Client,
  find: (tx: Transaction) => Promise<User | null>,
): Promise<UsedLink> {
  const { clock, sessions, accounts, record } = deps;
  return useLink(deps, "invite", token, async (tx, link): Promise<UsedLink> => {
    const user = await find(tx);
    if (user === null) return { kind: "wrong" };
    const isNew = link.accountId === null;
    const accountId = link.accountId ?? (await createAccount(accounts, tx, user.email));
    const member = { accountId, userId: user.id, role: isNew ? "owner" : (link.role ?? "viewer") };
    const { email: name } = user;
    const changes: Change[] = isNew ? [{ resource: "account", id: accountId, name, action: "created" }] : [];
    if (await insertMember(tx, member, clock.now()))
      changes.push({ resource: "member", id: user.id, name, action: "created" });
    const actor = { type: "member", id: user.id, name } as const;
    await record(tx, { accountId, actor, address: from.address, changes });
    const opened = await sessions.open(tx, { userId: user.id, accountId }, from);
    return { kind: "ok", token: opened, userId: user.id, accountId };
  });
}

const EXPIRED = { kind: "expired" } as const;

/** The result of a link that is not used after all: its transaction is rolled back, and the link still works. */
class NotUsed extends Error {
  readonly result: UsedLink;

  constructor(result: UsedLink) {
    super("the link is not used");
    this.result = result;
  }
}

/** Uses a link up and does what it is for, in one transaction; a result other than ok leaves it as it was. */
async function useLink(
  { sql, clock }: Pick<LinksDeps, "sql" | "clock">,
  purpose: LinkPurpose,
  token: string,
  work: (tx: Transaction, link: OneTimeLink) => Promise<UsedLink>,
): Promise<UsedLink> {
  try {
    return await transact(sql, async (tx) => {
      const link = await takeLink(tx, digestToken(token), purpose, clock.now());
      const result = link === null ? EXPIRED : await work(tx, link);
      if (result.kind !== "ok") throw new NotUsed(result);
      return result;
    });
  } catch (error) {
    if (error instanceof NotUsed) return error.result;
    throw error;
  }
}

/** Reports whether an invite is for an address. */
export function isFor({ email: bound }: Pick<OneTimeLink, "email">, email: string): boolean {
  return bound === null || bound.toLowerCase() === email.toLowerCase();
}

async function createAccount(accounts: Accounts, tx: Transaction, email: string): Promise<number> {
  const account =
    (await accounts.create(tx, { email, plan: "free" })) ?? (await accounts.create(tx, { email: null, plan: "free" }));
  if (account === null) throw new Error("an account without an address was not created");
  return account.id;
}
