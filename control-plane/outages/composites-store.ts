import type { Queryable, Transaction } from "#control-plane/core/database/connect.ts";
import { given } from "#control-plane/core/database/given.ts";

/** A monitor that a composite follows. */
export interface Member {
  readonly compositeId: number;
  readonly id: number;
  readonly name: string;
  readonly status: "up" | "down" | "unknown";
}

/** Makes the members of composites those that are given, and lets them be judged. */
export async function replaceMembers(
  tx: Transaction,
  composites: readonly { readonly id: number; readonly memberIds: readonly number[] }[],
): Promise<void> {
  const ids = composites.map(({ id }) => id);
  const links = composites.flatMap(({ id, memberIds }) => memberIds.map((memberId) => ({ id, memberId })));
  await tx`delete from composite_members where composite_id = any(${ids}::bigint[])`;
  await tx`
    insert into composite_members (composite_id, member_id)
    select * from ${given(tx, links, { id: "bigint", memberId: "bigint" })}`;
  await tx`insert into composite_wakes (composite_id) select * from unnest(${ids}::bigint[])`;
}

/** Lets the composites that follow one of these monitors be judged again. */
export async function insertWakes(tx: Transaction, monitorIds: readonly number[]): Promise<void> {
  await tx`
    insert into composite_wakes (composite_id)
    select distinct composite_id from composite_members where member_id = any(${[...monitorIds]}::bigint[])`;
}

/** Returns the composites that follow a monitor, by id. */
export async function listFollowers(sql: Queryable, memberId: number): Promise<readonly number[]> {
  const rows = await sql<{ id: number }[]>`
    select composite_id as id from composite_members where member_id = ${memberId} order by composite_id`;
  return rows.map(({ id }) => id);
}

/** Returns the members of composites, by id. */
export async function listMembers(sql: Queryable, compositeIds: readonly number[]): Promise<readonly Member[]> {
  return sql<Member[]>`
    select c.composite_id as "compositeId", m.id, m.name, t.status
    from composite_members as c join monitors as m on m.id = c.member_id
      join monitor_states as t on t.monitor_id = c.member_id
    where c.composite_id = any(${[...compositeIds]}::bigint[]) order by c.composite_id, m.id`;
}

/** Returns the names and statuses of monitors of an account, by id. */
export async function listStatuses(
  sql: Queryable,
  accountId: number,
  ids: readonly number[],
): Promise<readonly Pick<Member, "name" | "status">[]> {
  return sql<Pick<Member, "name" | "status">[]>`
    select m.name, t.status from monitors as m join monitor_states as t on t.monitor_id = m.id
    where m.account_id = ${accountId} and m.id = any(${[...ids]}::bigint[]) order by m.id`;
}

/** Returns which monitors of an account composites follow, and which their user made dependent: from, to. */
export async function listEdges(
  sql: Queryable,
  accountId: number,
): Promise<readonly { readonly from: number; readonly to: number }[]> {
  return sql<{ from: number; to: number }[]>`
    select id as "from", depends_on as "to" from monitors where account_id = ${accountId} and depends_on is not null
    union all
    select c.composite_id, c.member_id from composite_members as c join monitors as m on m.id = c.composite_id
    where m.account_id = ${accountId}`;
}
