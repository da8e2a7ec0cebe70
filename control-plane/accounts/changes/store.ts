import { parseExact } from "#shared/json/exact.ts";
import type { Actor, Change, ChangeSet } from "#control-plane/http/access/changes.ts";
import type { ChangedField } from "#control-plane/http/access/diff-resource.ts";
import type { Queryable, Sql } from "#control-plane/core/database/connect.ts";
import { given } from "#control-plane/core/database/given.ts";

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
  /** What the resource was called then; null if it has no name, or the row is from before names were stored. */
  readonly resourceName: string | null;
  readonly action: Change["action"];
  /** null: the row is from before values were stored, and has the names of fields. */
  readonly changed: readonly ChangedField[] | null;
  /** Names of the fields that a request from before contained. */
  readonly fields: readonly string[];
}

/** Maximum length of a stored name, characters. */
const MOST_NAME = 200;

/** Inserts the changes of one request. The name of its key is read by the same statement. */
export async function insertChanges(sql: Queryable, set: ChangeSet, now: Date): Promise<void> {
  const { accountId, actor, address, changes } = set;
  const actorId = "id" in actor ? actor.id : null;
  const keyId = actor.type === "key" ? actor.id : null;
  const memberName = actor.type === "member" ? actor.name : null;
  const rows = changes.map(({ changed = [], ...change }) => ({ ...change, changed }));
  const types = { resource: "text", id: "bigint", name: "text", action: "text", changed: "json" } as const;
  await sql`
    insert into account_changes (account_id, changed_at, actor_type, actor_id, actor_name, address, resource,
      resource_id, subject_name, action, changed)
    select ${accountId}, ${now}, ${actor.type}, ${actorId}::bigint,
      coalesce(${memberName}, (select coalesce(name, prefix) from keys where id = ${keyId}::bigint)), ${address}, resource,
      given.id, left(given.name, ${MOST_NAME}), action, changed
    from ${given(sql, rows, types, { ordinality: "ordinal" })}
    order by ordinal`;
}

/** What a list contains; null: every one. */
export interface ChangeFilter {
  /** A kind of resource, or the one with an id. */
  readonly subject: { readonly kind: Change["resource"]; readonly id: number | null } | null;
  /** A kind of actor, or the one with an id. */
  readonly actor: { readonly kind: Actor["type"]; readonly id: number | null } | null;
  /** From this time on. */
  readonly from: Date | null;
  /** Before this time. */
  readonly to: Date | null;
}

/** Lists a page of an account's changes, newest first. */
export async function listChanges(
  sql: Queryable,
  accountId: number,
  filter: ChangeFilter,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<readonly LoggedChange[]> {
  const rows = await sql<(Omit<LoggedChange, "changed"> & { readonly changed: string | null })[]>`
    select id, changed_at as "changedAt", actor_type as "actorType", actor_id as "actorId", actor_name as "actorName",
      address, resource, resource_id as "resourceId", subject_name as "resourceName", action, changed::text as changed, fields
    from account_changes where ${matches(sql, accountId, filter)} order by id desc limit ${limit} offset ${offset}`;
  return rows.map(({ changed, ...row }) => ({ ...row, changed: changed === null ? null : readChanged(changed) }));
}

/** Parses fields with their values, whose numbers keep their digits. */
function readChanged(text: string): readonly ChangedField[] {
  return parseExact(text) as readonly ChangedField[];
}

/** Counts an account's changes. */
export async function countChanges(sql: Queryable, accountId: number, filter: ChangeFilter): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*) as total from account_changes where ${matches(sql, accountId, filter)}`;
  return row?.total ?? 0;
}

function matches(sql: Queryable, accountId: number, { subject, actor, from, to }: ChangeFilter) {
  return sql`account_id = ${accountId}
    ${subject === null ? sql`` : sql`and resource = ${subject.kind}`}
    ${subject === null || subject.id === null ? sql`` : sql`and resource_id = ${subject.id}`}
    ${actor === null ? sql`` : sql`and actor_type = ${actor.kind}`}
    ${actor === null || actor.id === null ? sql`` : sql`and actor_id = ${actor.id}`}
    ${from === null ? sql`` : sql`and changed_at >= ${from}`}
    ${to === null ? sql`` : sql`and changed_at < ${to}`}`;
}

/** Returns the id of an account's newest change; 0: it has none. */
export async function readNewestId(sql: Queryable, accountId: number): Promise<number> {
  const [row] = await sql<{ id: number }[]>`
    select id from account_changes where account_id = ${accountId} order by id desc limit 1`;
  return row?.id ?? 0;
}

/** Deletes up to `limit` changes from before `cutoff`. Returns how many. */
export async function deleteOldChanges(sql: Sql, cutoff: Date, limit: number): Promise<number> {
  const { count } = await sql`
    delete from account_changes where id in (
      select id from account_changes where changed_at < ${cutoff} limit ${limit} for update skip locked
    )`;
  return count;
}
