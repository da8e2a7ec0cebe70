import type { App } from "#control-plane/core/app.ts";
import type { Change } from "#control-plane/http/access/changes.ts";
import type { Accounts } from "#control-plane/accounts/accounts.ts";
import type { Transaction } from "#control-plane/core/database/connect.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import type { MailLimit } from "#control-plane/notify/mail/ledger.ts";
import { isSameAddress } from "#control-plane/core/mail-address.ts";
import {
  EXPIRED,
  peekLink,
  useLink,
  type Chosen,
  type LinksDeps,
  type UsedInvite,
} from "#control-plane/people/users/links/links.ts";
import { insertInviteAddress, lockOpenInvite, type OneTimeLink } from "#control-plane/people/users/links/store.ts";
import { hasAddress } from "#control-plane/people/users/members.ts";
import type { UserMails } from "#control-plane/people/users/mails.ts";
import { recordOf } from "#control-plane/people/users/own-changes.ts";
import { isAllowed } from "#control-plane/people/users/roles.ts";
import type { Client, Session } from "#control-plane/people/users/sessions.ts";
import { BUSY, provePassword } from "#control-plane/people/users/sign-in.ts";
import {
  findRole,
  findUserByEmail,
  holdUser,
  insertMember,
  insertUser,
  type User,
} from "#control-plane/people/users/store.ts";
import { createToken, digestToken } from "#control-plane/people/users/token.ts";

/**
 * Joins an account by an invite, or gets a new one if the invite names none. A user who exists proves it by the password;
 * for others it becomes their password.
 */
export async function useInvite(
  deps: LinksDeps,
  token: string,
  { email, password }: Chosen,
  from: Client,
): Promise<UsedInvite> {
  const invite = await peekLink(deps, "invite", token);
  if (invite === null || !isFor(invite, email)) return EXPIRED;
  const known = await findUserByEmail(deps.sql, email);
  if (known !== null) {
    const proven = await provePassword(deps, { email, password }, from);
    if (proven.kind !== "ok") return proven;
    return join(deps, token, from, (tx) => holdUser(tx, known.id));
  }
  const passwordHash = await deps.passwords.hash(password, from);
  if (passwordHash === null) return BUSY;
  const { clock } = deps;
  // The address of an invite that was for nobody was only typed.
  const user = { email, passwordHash, isOperator: false, isProved: invite.email !== null };
  return join(deps, token, from, (tx) => insertUser(tx, user, clock.now()));
}

/** Addresses to which an invite without one is mailed. */
const MOST_MAILS = 3;

/**
 * Mails an invite without an address to the one that somebody gives who has the link. Returns what does not allow it;
 * null: the mail is on its way. used_up: the invite was mailed to 3 addresses.
 */
export async function mailInvite(
  { sql, clock, random }: Pick<App, "sql" | "clock" | "random">,
  mails: Pick<UserMails, "request">,
  token: string,
  email: string,
): Promise<MailLimit | "expired" | "used_up" | null> {
  return transact(sql, async (tx) => {
    const now = clock.now();
    const invite = await lockOpenInvite(tx, digestToken(token), now);
    if (invite === null) return "expired";
    const { id, accountId, mailed } = invite;
    if (mailed >= MOST_MAILS) return "used_up";
    const own = createToken(random);
    const limit = await mails.request(tx, { purpose: "invite", email, link: { id, token: own }, accountId });
    if (limit === null) await insertInviteAddress(tx, digestToken(own), { inviteId: id, email }, now);
    return limit;
  });
}

/** Joins an account by an invite as the user of a session, whose password need not be given again. */
export async function useInviteAs(
  deps: LinksDeps,
  token: string,
  { userId, email }: Pick<Session, "userId" | "email">,
  from: Client,
): Promise<UsedInvite> {
  const invite = await peekLink(deps, "invite", token);
  if (invite === null || !isFor(invite, email)) return EXPIRED;
  return join(deps, token, from, (tx) => holdUser(tx, userId));
}

/** Uses an invite up for the user that `find` returns; null: the address was taken, or the user erased, at this moment. */
function join(
  deps: LinksDeps,
  token: string,
  from: Client,
  find: (tx: Transaction) => Promise<User | null>,
): Promise<UsedInvite> {
  const { clock, sessions, accounts, record } = deps;
  return useLink(deps, "invite", token, async (tx, link): Promise<UsedInvite> => {
    const maker = await judgeMaker(tx, link);
    if (maker !== "ok") {
      const ended: Change = { resource: "invite", id: link.id, name: link.email, action: "deleted" };
      const system = { actor: { type: "system" }, address: null } as const;
      if (link.accountId !== null) await record(tx, { accountId: link.accountId, ...system, changes: [ended] });
      return { kind: "orphaned", maker };
    }
    const user = await find(tx);
    if (user === null) return { kind: "wrong" };
    const isNew = link.accountId === null;
    const accountId = link.accountId ?? (await createAccount(accounts, tx, user.email));
    const member = { accountId, userId: user.id, role: isNew ? "owner" : (link.role ?? "viewer") };
    const { email: name } = user;
    const changes: Change[] = isNew ? [{ resource: "account", id: accountId, name, action: "created" }] : [];
    if (await insertMember(tx, member, clock.now()))
      changes.push({ resource: "member", id: user.id, name, action: "created" });
    await recordOf(record, tx, { user, from }, accountId, changes);
    const opened = await sessions.open(tx, { userId: user.id, accountId }, from);
    return opened === null ? EXPIRED : { kind: "ok", token: opened, userId: user.id, accountId };
  });
}

/** Judges an invite by what its maker may do now: only owners invite others to their account. */
async function judgeMaker(
  tx: Transaction,
  { accountId, madeBy, byOperator }: OneTimeLink,
): Promise<"ok" | "lowered" | "unknown"> {
  if (accountId === null || byOperator) return "ok";
  if (madeBy === null) return "unknown";
  const role = await findRole(tx, accountId, madeBy);
  return role !== null && isAllowed(role, "manage") ? "ok" : "lowered";
}

/** Reports whether an invite is for an address. */
export function isFor({ email: bound }: Pick<OneTimeLink, "email">, email: string): boolean {
  return bound === null || isSameAddress(bound, email);
}

/** Creates an account of a new owner, with the owner's address unless there is none or another account has it. */
export async function createAccount(accounts: Accounts, tx: Transaction, email: string): Promise<number> {
  const account =
    (hasAddress({ email }) ? await accounts.create(tx, { email, plan: "free" }) : null) ??
    (await accounts.create(tx, { email: null, plan: "free" }));
  if (account === null) throw new Error("an account without an address was not created");
  return account.id;
}
