import type { Queryable, Transaction } from "#control-plane/core/database/connect.ts";
import {
  insertWakes,
  listEdges,
  listFollowers,
  listMembers,
  listStatuses,
  replaceMembers,
  type Member,
} from "#control-plane/outages/composites-store.ts";

/**
 * Notes that the statuses of these monitors change, in the transaction that changes them: the composites that follow them
 * are judged again. It is a row and no call, so that it is done however the process ends.
 */
export async function wakeComposites(tx: Transaction, monitorIds: readonly number[]): Promise<void> {
  if (monitorIds.length > 0) await insertWakes(tx, monitorIds);
}

/** Returns a composite with the monitors that it follows; none if the monitor is of another kind. */
export function compositeOf({
  id,
  settings,
}: {
  readonly id: number;
  readonly settings: { readonly composite: { readonly monitor_ids: readonly number[] } | null };
}): readonly { readonly id: number; readonly memberIds: readonly number[] }[] {
  return settings.composite === null ? [] : [{ id, memberIds: settings.composite.monitor_ids }];
}

/** Makes the members of composites those that are given, and lets them be judged. */
export async function setMembers(
  tx: Transaction,
  composites: readonly { readonly id: number; readonly memberIds: readonly number[] }[],
): Promise<void> {
  if (composites.length > 0) await replaceMembers(tx, composites);
}

/** Returns the ids of the composites that follow a monitor, ascending. */
export async function followersOf(sql: Queryable, monitorId: number): Promise<readonly number[]> {
  return listFollowers(sql, monitorId);
}

/** Returns the members of composites by the id of the composite; those without members are missing. */
export async function readMembers(
  sql: Queryable,
  compositeIds: readonly number[],
): Promise<ReadonlyMap<number, readonly Member[]>> {
  if (compositeIds.length === 0) return new Map();
  return Map.groupBy(await listMembers(sql, compositeIds), ({ compositeId }) => compositeId);
}

/** Returns the names and statuses of monitors of an account, by id. */
export async function readStatuses(
  sql: Queryable,
  accountId: number,
  ids: readonly number[],
): Promise<readonly Pick<Member, "name" | "status">[]> {
  return listStatuses(sql, accountId, ids);
}

/** Returns the monitors to which these lead, over what composites follow and what monitors depend on; they are among them. */
export async function reachedFrom(
  sql: Queryable,
  accountId: number,
  targets: readonly number[],
): Promise<ReadonlySet<number>> {
  return reachOf(await readLinks(sql, accountId), targets);
}

/** To which monitors each leads at once: what a composite follows, and on what a monitor depends. */
export type Links = ReadonlyMap<number, readonly number[]>;

/** Returns the links of all monitors of an account. */
export async function readLinks(sql: Queryable, accountId: number): Promise<Links> {
  const edges = Map.groupBy(await listEdges(sql, accountId), ({ from }) => from);
  return new Map(Array.from(edges, ([from, own]) => [from, own.map(({ to }) => to)]));
}

/** Returns the monitors to which these lead; they are among them. */
export function reachOf(links: Links, targets: readonly number[]): ReadonlySet<number> {
  const reached = new Set(targets);
  for (const one of reached) for (const to of links.get(one) ?? []) reached.add(to);
  return reached;
}
