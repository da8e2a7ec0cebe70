import type { Change } from "#control-plane/http/access/changes.ts";
import { secretChange } from "#control-plane/http/access/diff-resource.ts";
import {
  EXPIRED,
  peekLink,
  useLink,
  type Chosen,
  type LinksDeps,
  type UsedLink,
} from "#control-plane/people/users/links/links.ts";
import { deleteResets } from "#control-plane/people/users/links/store.ts";
import type { Client } from "#control-plane/people/users/sessions.ts";
import { ownChange, recordOf } from "#control-plane/people/users/own-changes.ts";
import { BUSY } from "#control-plane/people/users/sign-in.ts";
import {
  findUserByEmail,
  hasUsers,
  holdUser,
  insertMember,
  insertUser,
  listMemberships,
  updateRole,
  updateUser,
} from "#control-plane/people/users/store.ts";

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
  const { passwords, clock, sessions, devices, accounts, record } = deps;
  if ((await peekLink(deps, "start", token)) === null) return EXPIRED;
  const passwordHash = await passwords.hash(password, from);
  if (passwordHash === null) return BUSY;
  const used = await useLink(deps, "start", token, async (tx, { accountId }): Promise<UsedLink> => {
    if (accountId === null) return EXPIRED;
    const now = clock.now();
    const found = await findUserByEmail(tx, email);
    const known = found === null ? null : await holdUser(tx, found.id);
    const others = known === null ? [] : await listMemberships(tx, known.id);
    if (others.some((one) => one.accountId !== accountId)) return { kind: "foreign" };
    const isOperator = !(await hasUsers(tx));
    const user = known ?? (await insertUser(tx, { email, passwordHash, isOperator, isProved: true }, now));
    if (user === null) return { kind: "foreign" };
    if (known !== null) await updateUser(tx, known.id, { passwordHash, isProved: true }, now);
    await sessions.endOf(tx, user.id);
    await devices.end(tx, user.id);
    await deleteResets(tx, user.id);
    const member = { accountId, userId: user.id, role: "owner" as const };
    const before = others.find((one) => one.accountId === accountId)?.role;
    const change: Change =
      before === undefined
        ? { resource: "member", id: user.id, name: user.email, action: "created" }
        : ownChange(user, [
            secretChange("password"),
            ...(before === "owner" ? [] : [{ field: "role", before, after: "owner" }]),
          ]);
    if (!(await insertMember(tx, member, now))) await updateRole(tx, accountId, user.id, "owner");
    await recordOf(record, tx, { user, from }, accountId, [change]);
    const opened = await sessions.open(tx, member, from);
    return opened === null ? EXPIRED : { kind: "ok", token: opened, userId: user.id, accountId };
  });
  // The account's address is that of its first owner. One that another account has stays there.
  if (used.kind === "ok" && (await accounts.find(deps.sql, used.accountId))?.email === null)
    await accounts.update(used.accountId, { email }, (tx) => {
      const changed = [{ field: "email", before: null, after: email }];
      const change: Change = { resource: "account", id: used.accountId, name: email, action: "changed", changed };
      return recordOf(record, tx, { user: { id: used.userId, email }, from }, used.accountId, [change]);
    });
  return used;
}
