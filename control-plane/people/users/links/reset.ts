import type { App } from "#control-plane/core/app.ts";
import type { Change } from "#control-plane/http/access/changes.ts";
import { secretChange } from "#control-plane/http/access/diff-resource.ts";
import type { Transaction } from "#control-plane/core/database/connect.ts";
import { isSameAddress } from "#control-plane/core/mail-address.ts";
import { createAccount } from "#control-plane/people/users/links/invite.ts";
import { EXPIRED, peekLink, useLink, type LinksDeps, type UsedLink } from "#control-plane/people/users/links/links.ts";
import { deleteResets, type OneTimeLink } from "#control-plane/people/users/links/store.ts";
import { hasAddress } from "#control-plane/people/users/members.ts";
import { ownChange, recordEverywhere, recordOf } from "#control-plane/people/users/own-changes.ts";
import type { Client } from "#control-plane/people/users/sessions.ts";
import { BUSY } from "#control-plane/people/users/sign-in.ts";
import {
  findUser,
  insertMember,
  insertUser,
  listMembers,
  listMemberships,
  lockUsers,
  moveMembers,
  releaseAddress,
  updateUser,
  type Membership,
  type User,
} from "#control-plane/people/users/store.ts";

/** A new password, and for each account of a user whose address was not proved whether it belongs to its owner. */
interface NewPassword {
  readonly password: string;
  readonly isMine: ReadonlyMap<number, boolean>;
}

/**
 * Returns the accounts of which the owner of an address has to say whose they are, before the link of a mail sets a
 * password: those of a user whose address nobody has proved. Others have none.
 */
export async function listUnclaimed(
  { sql }: Pick<App, "sql">,
  { userId }: Pick<OneTimeLink, "userId">,
): Promise<readonly Membership[]> {
  const user = userId === null ? null : await findUser(sql, userId);
  return user === null || user.isProved ? [] : listMemberships(sql, user.id);
}

/**
 * Result of the use of such a link. unclaimed: the user has an account of which the owner of the address has not said whose
 * it is. none: no account belongs to the owner; the link is used up.
 */
export type UsedReset = UsedLink | { readonly kind: "unclaimed" } | { readonly kind: "none" };

/**
 * Sets a new password by the link of a mail, ends all sessions and devices of the user and signs in. It also proves the address: a
 * user whom somebody else has made with it is divided before.
 */
export async function useResetLink(
  deps: LinksDeps,
  token: string,
  { password, isMine }: NewPassword,
  from: Client,
): Promise<UsedReset> {
  if ((await peekLink(deps, "reset", token)) === null) return EXPIRED;
  const passwordHash = await deps.passwords.hash(password, from);
  if (passwordHash === null) return BUSY;
  return useLink(deps, "reset", token, async (tx, link): Promise<UsedReset> => {
    const found = link.userId === null ? null : await findUser(tx, link.userId);
    if (found === null) return EXPIRED;
    const user = found.isProved ? found : await divide(deps, tx, { user: found, link, passwordHash, isMine }, from);
    if ("kind" in user) return user;
    const [membership] = await listMemberships(tx, user.id);
    if (membership === undefined) return EXPIRED;
    await updateUser(tx, user.id, { passwordHash, isProved: true }, deps.clock.now());
    await deps.sessions.endOf(tx, user.id);
    await deps.devices.end(tx, user.id);
    // Links of other mails were for the old password.
    await deleteResets(tx, user.id);
    await recordEverywhere(deps.record, tx, { user, from }, [secretChange("password")]);
    const { accountId } = membership;
    const opened = await deps.sessions.open(tx, { userId: user.id, accountId }, from);
    return opened === null ? EXPIRED : { kind: "ok", token: opened, userId: user.id, accountId };
  });
}

interface Division extends Pick<NewPassword, "isMine"> {
  readonly user: User;
  readonly link: Pick<OneTimeLink, "email">;
  readonly passwordHash: string;
}

/**
 * Leaves the accounts that do not belong to the owner of the address with the user who has them, and takes the address
 * from that user. Returns the user of the others, or of a new account if the link is that of a sign-up.
 */
async function divide(
  deps: LinksDeps,
  tx: Transaction,
  { user, link, passwordHash, isMine }: Division,
  from: Client,
): Promise<User | { readonly kind: "unclaimed" } | { readonly kind: "none" } | typeof EXPIRED> {
  const { clock, sessions, accounts, record } = deps;
  // Accounts before users and members, as all that write several do.
  for (const { accountId } of await listMemberships(tx, user.id)) await accounts.lock(tx, accountId);
  await lockUsers(tx, [user.id]);
  const all = await listMemberships(tx, user.id);
  if (all.length === 0) return EXPIRED;
  if (all.some(({ accountId }) => !isMine.has(accountId))) return { kind: "unclaimed" };
  const mine = all.flatMap(({ accountId }) => (isMine.get(accountId) === true ? accountId : []));
  if (mine.length === all.length) return user;
  const now = clock.now();
  await releaseAddress(tx, user.id, now);
  await deleteResets(tx, user.id);
  for (const { accountId, email } of all.filter((one) => !mine.includes(one.accountId))) {
    const isItsAddress = isSameAddress(email, user.email);
    const owner = (await listMembers(tx, accountId)).find((one) => one.role === "owner" && hasAddress(one));
    const after = isItsAddress ? await accounts.passAddress(tx, accountId, owner?.email ?? null) : email;
    const changed = [{ field: "email", before: email, after }];
    const changes: Change[] = [
      ownChange(user, [{ field: "email", before: user.email, after: null }]),
      ...(isItsAddress
        ? [{ resource: "account", id: accountId, name: after, action: "changed", changed } as const]
        : []),
    ];
    await record(tx, { accountId, actor: { type: "system" }, address: from.address, changes });
  }
  if (mine.length === 0 && link.email === null) return { kind: "none" };
  const owner = await insertUser(tx, { email: user.email, passwordHash, isOperator: false, isProved: true }, now);
  if (owner === null) return EXPIRED;
  for (const accountId of mine) await sessions.endOf(tx, user.id, { accountId });
  await moveMembers(tx, user.id, owner.id, mine);
  if (mine.length === 0) {
    const accountId = await createAccount(accounts, tx, owner.email);
    await insertMember(tx, { accountId, userId: owner.id, role: "owner" }, now);
    const change = { resource: "account", id: accountId, name: owner.email, action: "created" } as const;
    await recordOf(record, tx, { user: owner, from }, accountId, [change]);
  }
  return owner;
}
