import type { Queryable, Transaction } from "#control-plane/core/database/connect.ts";
import { given } from "#control-plane/core/database/given.ts";
import type { CheckType } from "#control-plane/outages/kinds/kinds.ts";
import type { Monitor, MonitorSettings } from "#control-plane/outages/kinds/monitor.ts";
import { readStoredSettings } from "#control-plane/outages/kinds/stored-settings.ts";

/** A monitor with its encrypted secrets. */
export interface StoredMonitor extends Monitor {
  readonly secrets: Uint8Array | null;
}

/** A row as selected: the settings are JSON. */
export type Row = Omit<StoredMonitor, "settings"> & { readonly settings: string };

/** A monitor to write. */
export type NewMonitor = Omit<StoredMonitor, "version" | "createdAt" | "updatedAt">;

/**
 * Locks the states and the slots of monitors until the transaction ends, and so keeps the recording of their checks out.
 * Every transaction that writes more than one row about monitors locks in one order, so that no two of them can
 * deadlock: the account, the states by monitor id, the slots by monitor id and location, then anything else.
 */
export async function lockMonitors(tx: Transaction, ids: readonly number[]): Promise<void> {
  const wanted = tx`${[...ids]}::bigint[]`;
  await tx`select from monitor_states where monitor_id = any(${wanted}) order by monitor_id for update`;
  await tx`select from monitor_slots where monitor_id = any(${wanted}) order by monitor_id, location for update`;
}

/** Reserves ids for new monitors, ascending. */
export async function reserveIds(tx: Transaction, count: number): Promise<readonly number[]> {
  const rows = await tx<{ id: number }[]>`
    select nextval(pg_get_serial_sequence('monitors', 'id')) as id from generate_series(1, ${count})`;
  return rows.map(({ id }) => id).toSorted((one, other) => one - other);
}

/** Inserts monitors with reserved ids. */
export async function insertMonitors(tx: Transaction, monitors: readonly NewMonitor[], now: Date): Promise<void> {
  await tx`
    insert into monitors (id, account_id, name, url, check_type, interval_minutes, is_active, paused_reason, tags,
      depends_on, settings, secrets, created_at, updated_at)
    overriding system value
    select id, account_id, name, url, check_type, interval_minutes, is_active, paused_reason,
      array(select json_array_elements_text(given.tags)), depends_on, settings, secrets,
      ${now}::timestamptz, ${now}::timestamptz
    from ${givenMonitors(tx, monitors)}`;
}

/** Writes every field of monitors; their versions rise. Returns the new rows by id; those that do not exist are missing. */
export async function updateMonitors(
  tx: Transaction,
  monitors: readonly NewMonitor[],
  now: Date,
): Promise<ReadonlyMap<number, StoredMonitor>> {
  const rows = await tx<Row[]>`
    with written as (
      update monitors as m set name = given.name, url = given.url, check_type = given.check_type,
        interval_minutes = given.interval_minutes, is_active = given.is_active, paused_reason = given.paused_reason,
        tags = array(select json_array_elements_text(given.tags)), depends_on = given.depends_on,
        settings = given.settings, secrets = given.secrets, version = m.version + 1, updated_at = ${now}
      from ${givenMonitors(tx, monitors)} where m.id = given.id and m.account_id = given.account_id
      returning m.*
    )
    select ${columns(tx)} from written`;
  return new Map(readRows(rows).map((monitor) => [monitor.id, monitor]));
}

/**
 * Writes settings as JSON that PostgreSQL can read. It refuses NUL and halves of a surrogate pair, which the value of a JSON
 * condition can have, and one such row fails the statement that reads it with others.
 */
function toStored(settings: MonitorSettings): string {
  return JSON.stringify(settings, (_key, value: unknown) =>
    typeof value === "string" ? value.replaceAll("\0", "\ufffd").toWellFormed() : value,
  );
}

function givenMonitors(tx: Transaction, monitors: readonly NewMonitor[]) {
  const rows = monitors.map((monitor) => ({ ...monitor, settings: toStored(monitor.settings) }));
  return given(tx, rows, {
    id: "bigint",
    accountId: "bigint",
    name: "text",
    url: "text",
    checkType: "text",
    intervalMinutes: "integer",
    isActive: "boolean",
    pausedReason: "text",
    tags: "json",
    dependsOn: "bigint",
    settings: "text",
    secrets: "bytea",
  });
}

/** Deletes a monitor with its state and history. Returns false if the account has none with this id. */
export async function deleteMonitor(tx: Transaction, accountId: number, id: number): Promise<boolean> {
  const { count } = await tx`delete from monitors where id = ${id} and account_id = ${accountId}`;
  return count > 0;
}

/** Finds a monitor of an account; null if there is none. */
export async function findMonitor(sql: Queryable, accountId: number, id: number): Promise<StoredMonitor | null> {
  const rows = await sql<Row[]>`
    select ${columns(sql)} from monitors where id = ${id} and account_id = ${accountId}`;
  return readRows(rows)[0] ?? null;
}

/** Finds monitors of an account by their ids, in any order; those that it does not have are missing. */
export async function findMonitors(
  sql: Queryable,
  accountId: number,
  ids: readonly number[],
): Promise<readonly StoredMonitor[]> {
  const rows = await sql<Row[]>`
    select ${columns(sql)} from monitors where account_id = ${accountId} and id = any(${[...ids]}::bigint[])`;
  return readRows(rows);
}

/** Filter of a list; an absent field matches every monitor. */
export interface MonitorFilter {
  readonly status?: "up" | "down" | "unknown" | undefined;
  readonly tag?: string | undefined;
  readonly checkType?: CheckType | undefined;
  /** Text that the name or the target contains, in any case. */
  readonly text?: string | undefined;
}

/** Lists a page of an account's monitors, newest first. */
export async function listMonitors(
  sql: Queryable,
  accountId: number,
  filter: MonitorFilter,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<readonly StoredMonitor[]> {
  const rows = await sql<Row[]>`
    select ${columns(sql)} from monitors where ${matches(sql, accountId, filter)}
    order by id desc limit ${limit} offset ${offset}`;
  return readRows(rows);
}

/** Counts an account's monitors that match a filter. */
export async function countMonitors(sql: Queryable, accountId: number, filter: MonitorFilter): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*) as total from monitors where ${matches(sql, accountId, filter)}`;
  return row?.total ?? 0;
}

function matches(sql: Queryable, accountId: number, { status, tag, checkType, text }: MonitorFilter) {
  const isStatus = sql`exists (
    select from monitor_states where monitor_id = monitors.id and monitor_states.status = ${status ?? null})`;
  const contains = sql`(position(lower(${text ?? null}::text) in lower(name)) > 0
    or position(lower(${text ?? null}::text) in lower(url)) > 0)`;
  return sql`account_id = ${accountId}
    and ${status === undefined ? sql`true` : isStatus}
    and ${tag === undefined ? sql`true` : sql`${tag} = any(tags)`}
    and ${checkType === undefined ? sql`true` : sql`check_type = ${checkType}`}
    and ${text === undefined ? sql`true` : contains}`;
}

/** A monitor without its settings. */
export type BriefMonitor = Pick<
  StoredMonitor,
  | "id"
  | "accountId"
  | "name"
  | "url"
  | "checkType"
  | "intervalMinutes"
  | "isActive"
  | "pausedReason"
  | "tags"
  | "createdAt"
>;

/** Lists all monitors of an account without their settings, newest first. */
export async function listBriefly(sql: Queryable, accountId: number): Promise<readonly BriefMonitor[]> {
  return sql<BriefMonitor[]>`
    select id, account_id as "accountId", name, url, check_type as "checkType", interval_minutes as "intervalMinutes",
      is_active as "isActive", paused_reason as "pausedReason", tags, created_at as "createdAt"
    from monitors where account_id = ${accountId} order by id desc`;
}

/** Lists all monitors of an account, oldest first, in steps: those with an id above `after`. */
export async function listMonitorsAfter(
  sql: Queryable,
  accountId: number,
  after: number,
  limit: number,
): Promise<readonly StoredMonitor[]> {
  const rows = await sql<Row[]>`
    select ${columns(sql)} from monitors where account_id = ${accountId} and id > ${after} order by id limit ${limit}`;
  return readRows(rows);
}

/** Returns the ids of an account's monitors. */
export async function readIds(sql: Queryable, accountId: number): Promise<readonly number[]> {
  const rows = await sql<{ id: number }[]>`select id from monitors where account_id = ${accountId}`;
  return rows.map(({ id }) => id);
}

/** Returns which monitors of an account depend on which. */
export async function readDependencies(sql: Queryable, accountId: number): Promise<ReadonlyMap<number, number>> {
  const rows = await sql<{ id: number; dependsOn: number }[]>`
    select id, depends_on as "dependsOn" from monitors where account_id = ${accountId} and depends_on is not null`;
  return new Map(rows.map(({ id, dependsOn }) => [id, dependsOn]));
}

/** Returns which of these ids are monitors of an account. */
export async function readOwned(
  sql: Queryable,
  accountId: number,
  ids: readonly number[],
): Promise<ReadonlySet<number>> {
  const rows = await sql<{ id: number }[]>`
    select id from monitors where account_id = ${accountId} and id = any(${[...ids]}::bigint[])`;
  return new Set(rows.map(({ id }) => id));
}

/** Returns the columns of a row as selected. */
export function columns(sql: Queryable) {
  return sql`id, account_id as "accountId", name, url, check_type as "checkType", interval_minutes as "intervalMinutes",
    is_active as "isActive", paused_reason as "pausedReason", tags, depends_on as "dependsOn", settings, secrets,
    version, created_at as "createdAt", updated_at as "updatedAt"`;
}

/** Reads rows as selected. */
export function readRows(rows: readonly Row[]): readonly StoredMonitor[] {
  return rows.map((row) => ({ ...row, settings: readStoredSettings(row.settings) }));
}

/** Returns the tags of monitors by id; those that were deleted are missing. */
export async function readTags(
  sql: Queryable,
  ids: readonly number[],
): Promise<ReadonlyMap<number, readonly string[]>> {
  const rows = await sql<{ id: number; tags: string[] }[]>`
    select id, tags from monitors where id = any(${[...ids]}::bigint[])`;
  return new Map(rows.map(({ id, tags }) => [id, tags]));
}
