import type { Change, RecordChanges } from "#control-plane/http/access/changes.ts";
import type { ChangedField } from "#control-plane/http/access/diff-resource.ts";
import type { Queryable } from "#control-plane/core/database/connect.ts";
import type { Client } from "#control-plane/people/users/sessions.ts";
import { listMemberships, type User } from "#control-plane/people/users/store.ts";

/** A user who changes something of the own, and from where. */
interface OwnAction {
  readonly user: Pick<User, "id" | "email">;
  readonly from: Pick<Client, "address">;
}

/** Logs what a user changes of an account. */
export function recordOf(
  record: RecordChanges,
  tx: Queryable,
  { user: { id, email: name }, from }: OwnAction,
  accountId: number,
  changes: readonly Change[],
): Promise<void> {
  return record(tx, { accountId, actor: { type: "member", id, name }, address: from.address, changes });
}

/** Returns the change of a member's own fields, for the log of changes. */
export function ownChange({ id, email: name }: OwnAction["user"], changed: readonly ChangedField[]): Change {
  return { resource: "member", id, name, action: "changed", changed };
}

/** Logs the change of a user's own fields in each account whose member the user is. */
export async function recordEverywhere(
  record: RecordChanges,
  tx: Queryable,
  action: OwnAction,
  changed: readonly ChangedField[],
): Promise<void> {
  for (const { accountId } of await listMemberships(tx, action.user.id))
    await recordOf(record, tx, action, accountId, [ownChange(action.user, changed)]);
}
