import type { Queryable, Sql, Transaction } from "#control-plane/core/database/connect.ts";
import { given } from "#control-plane/core/database/given.ts";
import type { KnownPictures } from "#control-plane/watching/pictures/decide.ts";

/** What is known about the pictures of a monitor, with the settings on which its next comparison depends. */
export interface VisualRow extends KnownPictures {
  readonly version: number;
  readonly basis: string;
  readonly announcedDifferenceId: number | null;
  /** JSON of MonitorSettings. */
  readonly settings: string;
}

/** Reads a monitor's pictures without their contents; null if it takes none. */
export async function readVisual(sql: Sql, monitorId: number): Promise<VisualRow | null> {
  const [row] = await sql<VisualRow[]>`
    select v.version, v.basis, m.settings, v.accepted_id as "acceptedId", v.latest_ratio as "latestRatio",
      v.difference_id as "differenceId", v.compared, v.announced_id as "announcedId",
      v.announced_difference_id as "announcedDifferenceId",
      encode(a.sha256, 'hex') as "acceptedSha256", encode(l.sha256, 'hex') as "latestSha256",
      encode(n.sha256, 'hex') as "announcedSha256"
    from visual_states as v join monitors as m on m.id = v.monitor_id
      left join pictures as a on a.id = v.accepted_id
      left join pictures as l on l.id = v.latest_id
      left join pictures as n on n.id = v.announced_id
    where v.monitor_id = ${monitorId}`;
  return row ?? null;
}

/** Reads the content of a picture; null if it was deleted. */
export async function readContent(sql: Sql, id: number): Promise<Uint8Array | null> {
  const [row] = await sql<{ content: Uint8Array }[]>`select content from pictures where id = ${id}`;
  return row?.content ?? null;
}

/** The facts about a monitor on which the event of a change depends. */
interface EventMonitor {
  readonly id: number;
  readonly accountId: number;
  readonly name: string;
  readonly url: string;
  readonly tags: readonly string[];
  /** JSON of MonitorSettings. */
  readonly settings: string;
}

/**
 * Locks the pictures of a monitor for this transaction. The order of the locks is that of deletions: account, monitor,
 * pictures. Returns null if they have changed since `version`, or if the monitor was deleted.
 */
export async function lockVisual(
  tx: Transaction,
  {
    accountId,
    monitorId,
    version,
  }: { readonly accountId: number; readonly monitorId: number; readonly version: number },
): Promise<EventMonitor | null> {
  await tx`select from accounts where id = ${accountId} for key share`;
  const [monitor] = await tx<EventMonitor[]>`
    select id, account_id as "accountId", name, url, tags, settings from monitors where id = ${monitorId} for key share`;
  const locked = await tx`
    select from visual_states where monitor_id = ${monitorId} and version = ${version} for update`;
  return monitor === undefined || locked.length === 0 ? null : monitor;
}

/** A picture to store. */
interface NewPicture {
  readonly monitorId: number;
  readonly kind: "taken" | "difference";
  readonly takenAt: Date;
  /** Lower-case hex. */
  readonly sha256: string;
  readonly width: number;
  readonly height: number;
  readonly content: Uint8Array;
}

/** Stores a picture, or notes the newer time of an equal one. Returns its id, and whether it is new. */
export async function keepPicture(
  tx: Transaction,
  picture: NewPicture,
): Promise<{ readonly id: number; readonly isNew: boolean }> {
  const { monitorId, kind, takenAt, sha256, width, height, content } = picture;
  // Updating an equal picture does not copy its content, which is stored out of line.
  const [known] = await tx<{ id: number }[]>`
    update pictures set taken_at = greatest(taken_at, ${takenAt}::timestamptz)
    where monitor_id = ${monitorId} and sha256 = decode(${sha256}, 'hex') returning id`;
  if (known !== undefined) return { id: known.id, isNew: false };
  const [row] = await tx<{ id: number }[]>`
    insert into pictures (monitor_id, kind, taken_at, sha256, width, height, size, content)
    values (${monitorId}, ${kind}, ${takenAt}, decode(${sha256}, 'hex'), ${width}, ${height}, ${content.length},
      ${Buffer.from(content)})
    returning id`;
  if (row === undefined) throw new Error("a picture was not inserted");
  return { id: row.id, isNew: true };
}

/** What is known after a picture; null: nothing. */
interface NewVisual {
  readonly monitorId: number;
  /** The first picture is accepted at once; null: the accepted one stays. */
  readonly acceptedId: number | null;
  readonly latestId: number;
  readonly latestAt: Date;
  readonly latestRatio: number;
  readonly differenceId: number | null;
  readonly compared: string;
  readonly announcedId: number | null;
  readonly announcedDifferenceId: number | null;
}

/** Writes what is known after a picture. */
export async function updateVisual(tx: Transaction, next: NewVisual): Promise<void> {
  const { acceptedId, latestAt } = next;
  await tx`
    update visual_states set version = version + 1, fault = null, latest_id = ${next.latestId}, latest_at = ${latestAt},
      latest_ratio = ${next.latestRatio}, difference_id = ${next.differenceId}, compared = ${next.compared},
      announced_id = ${next.announcedId}, announced_difference_id = ${next.announcedDifferenceId},
      accepted_id = coalesce(${acceptedId}::bigint, accepted_id),
      accepted_at = case when ${acceptedId}::bigint is null then accepted_at else ${latestAt} end
    where monitor_id = ${next.monitorId}`;
}

/** Notes why a check gave no picture. */
export async function updateFault(sql: Sql, monitorId: number, fault: string): Promise<void> {
  await sql`
    update visual_states set fault = ${fault} where monitor_id = ${monitorId} and fault is distinct from ${fault}`;
}

/** Inserts monitors without pictures. */
export async function insertVisuals(
  tx: Transaction,
  monitors: readonly { readonly id: number; readonly basis: string }[],
): Promise<void> {
  await tx`
    insert into visual_states (monitor_id, basis)
    select id, basis from ${given(tx, monitors, { id: "bigint", basis: "text" })}`;
}

/** Deletes all pictures of monitors. */
export async function deleteVisuals(tx: Transaction, monitorIds: readonly number[]): Promise<void> {
  await tx`delete from visual_states where monitor_id = any(${[...monitorIds]}::bigint[])`;
}

/** Accepts the newest picture. Returns false if there is none. */
export async function acceptLatest(tx: Transaction, monitorId: number, now: Date): Promise<boolean> {
  const { count } = await tx`
    update visual_states set version = version + 1, accepted_id = latest_id, accepted_at = ${now}, latest_ratio = 0,
      difference_id = null, compared = null, announced_id = null, announced_difference_id = null
    where monitor_id = ${monitorId} and latest_id is not null`;
  return count > 0;
}

/** What the API shows about the pictures of a monitor. */
interface VisualFactsRow {
  readonly monitorId: number;
  readonly acceptedId: number | null;
  readonly acceptedAt: Date | null;
  readonly latestId: number | null;
  readonly latestAt: Date | null;
  readonly latestRatio: number | null;
  readonly differenceId: number | null;
  /** JSON of CheckFault. */
  readonly fault: string | null;
}

/** Reads what the API shows. */
export async function readVisualFacts(sql: Queryable, ids: readonly number[]): Promise<readonly VisualFactsRow[]> {
  return sql<VisualFactsRow[]>`
    select monitor_id as "monitorId", accepted_id as "acceptedId", accepted_at as "acceptedAt", latest_id as "latestId",
      latest_at as "latestAt", latest_ratio as "latestRatio", difference_id as "differenceId", fault
    from visual_states where monitor_id = any(${[...ids]}::bigint[])`;
}

/** Reads a picture of a monitor; null if it has none with this id. */
export async function readPicture(
  sql: Sql,
  monitorId: number,
  id: number,
): Promise<{ readonly sha256: string; readonly content: Uint8Array } | null> {
  const [row] = await sql<{ sha256: string; content: Uint8Array }[]>`
    select encode(sha256, 'hex') as sha256, content from pictures where id = ${id} and monitor_id = ${monitorId}`;
  return row ?? null;
}

/** A picture in a data export, without its content. */
interface ExportedPicture {
  readonly monitor_id: number;
  readonly picture_id: number;
  readonly kind: string;
  readonly taken_at: Date;
  readonly sha256: string;
  readonly width: number;
  readonly height: number;
  readonly size: number;
}

/** Lists the pictures of an account, newest first. */
export async function listPictures(sql: Queryable, accountId: number): Promise<readonly ExportedPicture[]> {
  return sql<ExportedPicture[]>`
    select p.monitor_id, p.id as picture_id, p.kind, p.taken_at, encode(p.sha256, 'hex') as sha256, p.width, p.height,
      p.size
    from pictures as p join monitors as m on m.id = p.monitor_id where m.account_id = ${accountId}
    order by p.taken_at desc, p.id desc limit 20000`;
}
