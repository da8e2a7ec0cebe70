import type { Queryable } from "#control-plane/core/database/connect.ts";

/** Notifies replicas of those of these accounts that have status pages. */
export async function notifyAccounts(tx: Queryable, channel: string, accountIds: readonly number[]): Promise<void> {
  // A commit with a notification waits for other such commits, so accounts without a page send none.
  await tx`
    select pg_notify(${channel}, owner.id::text) from (
      select distinct account_id as id from status_pages where account_id = any(${[...accountIds]}::bigint[])
    ) as owner`;
}

/** Sends a payload on a channel. */
export async function notifyAll(tx: Queryable, channel: string, payload: string): Promise<void> {
  await tx`select pg_notify(${channel}, ${payload})`;
}
