import type { Accounts } from "#control-plane/accounts/accounts.ts";
import type { App } from "#control-plane/core/app.ts";
import type { Change, ChangeSet, RecordChanges } from "#control-plane/http/access/changes.ts";
import type { Queryable, Transaction } from "#control-plane/core/database/connect.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import type { Turns } from "#control-plane/core/database/turns.ts";
import { isSameAddress } from "#control-plane/core/mail-address.ts";
import type { Recipients } from "#control-plane/notify/mail/recipients/recipients.ts";
import { isAllowed, rolesAbove, type Role } from "#control-plane/people/users/roles.ts";
import type { Client, Session, Sessions } from "#control-plane/people/users/sessions.ts";
import type { Devices } from "#control-plane/people/users/devices.ts";
import { deleteInvitesOf } from "#control-plane/people/users/links/store.ts";
import {
  deleteMember,
  deleteStrandedUsers,
  findRole,
  listMembers,
  listMemberships,
  lockMembers,
  lockUsers,
  updateRole,
} from "#control-plane/people/users/store.ts";
import type { Member, Membership } from "#control-plane/people/users/store.ts";

/**
 * Result of a change of a member. last_owner: an account must have an owner. gone: the user is no member (any more).
 * not_allowed: who changes it has lost the role for it at this moment.
 */
export type MemberChange = "ok" | "last_owner" | "gone" | "not_allowed";

/** What else is done in the transaction of a change of a member. Returns what it has changed. */
export type AlsoDone = (tx: Transaction) => Promise<readonly Change[]>;

/** Members of accounts. */
export interface Members {
  /** Lists the members of an account, the first one first. */
  list(sql: Queryable, accountId: number): Promise<readonly Member[]>;
  /** Lists the accounts of a user, the oldest first. */
  accountsOf(sql: Queryable, userId: number): Promise<readonly Membership[]>;
  /**
   * Locks the account of a session until the transaction ends, and with it who is a member. Returns whether its user is still
   * allowed to manage it.
   */
  lockForOwner(tx: Transaction, session: Pick<Session, "accountId" | "userId">): Promise<boolean>;
  /**
   * Sets the role of a member of the session's account, and ends the member's sessions there, and the member's invites for a
   * role above it.
   */
  setRole(by: MemberAction, userId: number, role: Role, also?: AlsoDone): Promise<MemberChange>;
  /**
   * Removes a member from the session's account: another one, or the own user. The member's sessions there and devices end, and
   * the links of mails to the member; so do the member's invites, and those for the member's address. A user who has no other
   * account is erased.
   */
  remove(by: MemberAction, userId: number, also?: AlsoDone): Promise<MemberChange>;
}

/** A member as listed. */
export type ListedMember = Awaited<ReturnType<Members["list"]>>[number];

/** An account of a user, with the role there. */
export type UserAccount = Awaited<ReturnType<Members["accountsOf"]>>[number];

/** Who changes something, from where. */
export interface MemberAction {
  readonly session: Session;
  readonly from: Pick<Client, "address">;
}

/** Dependencies of the members. */
interface MembersDeps extends Pick<App, "sql"> {
  readonly turns: Turns;
  readonly sessions: Sessions;
  readonly devices: Pick<Devices, "end">;
  readonly accounts: Pick<Accounts, "lock" | "passAddress">;
  /** Logs changes. */
  readonly record: RecordChanges;
  /** Forgets mails to users who are erased. */
  readonly forgetMails: (tx: Transaction, emails: readonly string[]) => Promise<void>;
  readonly recipients: Pick<Recipients, "endLinks">;
}

/** Opens the members of accounts. */
export function createMembers(deps: MembersDeps): Members {
  const { sql, turns, sessions, devices, accounts, record, forgetMails, recipients } = deps;

  /**
   * Changes a member while the others stay as they are: of two owners who demote each other at the same time, one
   * does. `next`: the role afterwards; null: the member is removed.
   */
  function change(
    by: MemberAction,
    userId: number,
    next: Role | null,
    work: (tx: Transaction, email: string) => Promise<void>,
    also: AlsoDone = () => Promise.resolve([]),
  ): Promise<MemberChange> {
    const { accountId } = by.session;
    const changing = async (tx: Transaction): Promise<MemberChange> => {
      const account = await accounts.lock(tx, accountId);
      if (next === null) await lockUsers(tx, [userId]);
      const members = await lockMembers(tx, accountId);
      const actor = members.get(by.session.userId);
      if (actor === undefined || !isAllowed(actor.role, "manage")) return "not_allowed";
      const member = members.get(userId);
      if (member === undefined) return "gone";
      const { role, email: name } = member;
      if (role === next) return "ok";
      const owners = [...members.values()].filter((one) => one.role === "owner").length;
      if (role === "owner" && owners === 1) return "last_owner";
      await work(tx, name);
      // What a member made goes with the member.
      const lost = { email: next === null ? name : null, madeBy: userId, roles: rolesAbove(next) };
      const revoked = await deleteInvitesOf(tx, accountId, lost);
      const invites = revoked.map(
        ({ id, email }): Change => ({ resource: "invite", id, name: email, action: "deleted" }),
      );
      // The mail of an account goes to an owner: who is none any more gets no more of it.
      const isTheirs = role === "owner" && isSameAddress(account?.email ?? null, name);
      const passed = isTheirs ? await passAddress(tx, accountId, name) : [];
      const subject = { resource: "member", id: userId, name } as const;
      const logged: Change =
        next === null
          ? { ...subject, action: "deleted" }
          : { ...subject, action: "changed", changed: [{ field: "role", before: role, after: next }] };
      await record(tx, memberChange(by, [logged, ...invites, ...passed, ...(await also(tx))]));
      return "ok";
    };
    return turns.run(accountId, () => transact(sql, changing));
  }

  /** Gives an account the address of its first owner who has one, in place of that of one who was its owner. */
  async function passAddress(tx: Transaction, accountId: number, before: string): Promise<readonly Change[]> {
    const owner = (await listMembers(tx, accountId)).find((one) => one.role === "owner" && hasAddress(one));
    const name = owner?.email ?? null;
    const after = await accounts.passAddress(tx, accountId, name);
    const changed = [{ field: "email", before, after }];
    return [{ resource: "account", id: accountId, name, action: "changed", changed }];
  }

  return {
    list: listMembers,
    accountsOf: listMemberships,
    async lockForOwner(tx, { accountId, userId }) {
      if ((await accounts.lock(tx, accountId)) === null) return false;
      const role = await findRole(tx, accountId, userId);
      return role !== null && isAllowed(role, "manage");
    },
    setRole: (by, userId, role, also) =>
      change(
        by,
        userId,
        role,
        async (tx) => {
          const { accountId } = by.session;
          await updateRole(tx, accountId, userId, role);
          await sessions.endOf(tx, userId, { accountId });
        },
        also,
      ),
    remove: (by, userId, also) =>
      change(
        by,
        userId,
        null,
        async (tx, email) => {
          const { accountId } = by.session;
          await deleteMember(tx, accountId, userId);
          await devices.end(tx, userId);
          await recipients.endLinks(tx, accountId, email);
          await forgetMails(tx, await deleteStrandedUsers(tx, [userId]));
        },
        also,
      ),
  };
}

/** Reports whether a user has an address. */
export function hasAddress({ email }: Pick<Member, "email">): boolean {
  return email.includes("@");
}

/** Returns what a member changes of the session's account, for the log of changes. */
export function memberChange({ session, from }: MemberAction, changes: readonly Change[]): ChangeSet {
  const { accountId, userId: id, email: name } = session;
  return { accountId, actor: { type: "member", id, name }, address: from.address, changes };
}
