import type { Actor, Change, ChangeSet } from "#control-plane/access/changes.ts";
import type { Queryable, Sql } from "#control-plane/database/connect.ts";
import { given } from "#control-plane/database/given.ts";

/** A logged change. */
export interface LoggedChange {
  readonly id: number;
  readonly changedAt: Date;
  readonly actorType: Actor["type"];
  /** Id of the key or of the member's user; null: another actor. */
  readonly actorId: number | null;
  /** What the key was called then, or its first characters; the email address of the member then; null: another actor. */
  readonly actorName: string | null;
  /** null: the service itself. */
  readonly address: string | null;
  readonly resource: Change["resource"];
  readonly resourceId: number | null;
  readonly action: Change["action"];
  readonly fields: readonly string[];
}

/** Inserts the changes of one request. The name of its key is read by the same statement. */
export async function insertChanges(sql: Queryable, set: ChangeSet, now: Date): Promise<void> {
  const { accountId, actor, address, fields, changes } = set;
  const actorId = "id" in actor ? actor.id : null;
  const keyId = actor.type === "key" ? actor.id : null;
  const memberName = actor.type === "member" ? actor.name : null;
  await sql`
    insert into account_changes (account_id, changed_at, actor_type, actor_id, actor_name, address, resource,
      resource_id, action, fields)
    select ${accountId}, ${now}, ${actor.type}, ${actorId}::bigint,
      coalesce(${memberName}, (select coalesce(name, prefix) from keys where id = ${keyId}::bigint)), ${address}, resource, given.id, action,
      ${[...fields]}::text[]
    from ${given(sql, changes, { resource: "text", id: "bigint", action: "text" }, { ordinality: "ordinal" })}
    order by ordinal`;
}

/** Lists a page of an account's changes, newest first. */
export async function listChanges(
  sql: Queryable,
  accountId: number,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<readonly LoggedChange[]> {
  return sql<LoggedChange[]>`
    select id, changed_at as "changedAt", actor_type as "actorType", actor_id as "actorId", actor_name as "actorName",
      address, resource, resource_id as "resourceId", action, fields
    from account_changes where account_id = ${accountId} order by id desc limit ${limit} offset ${offset}`;
}

/** Counts an account's changes. */
export async function countChanges(sql: Queryable, accountId: number): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*) as total from account_changes where account_id = ${accountId}`;
  return row?.total ?? 0;
}

/** Deletes up to `limit` changes from before `cutoff`. Returns how many. */
export async function deleteOldChanges(sql: Sql, cutoff: Date, limit: number): Promise<number> {
  const { count } = await sql`
    delete from account_changes where id in (
      select id from account_changes where changed_at < ${cutoff} limit ${limit} for update skip locked
    )`;
  return count;
}
