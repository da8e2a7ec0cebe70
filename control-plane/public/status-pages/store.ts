import type { Queryable, SqlFragment, Transaction } from "#control-plane/core/database/connect.ts";
import { given } from "#control-plane/core/database/given.ts";
import { columnsOf } from "#control-plane/http/resource.ts";
import { statusPage } from "#control-plane/public/status-pages/settings/resource.ts";
import type { PageGroup, PageSettings, StatusPage } from "#control-plane/public/status-pages/settings/page-settings.ts";

/** A monitor of a page as selected. */
type MonitorRow = readonly [id: number, name: string | null, group: number | null, position: number | null];

/** Row of a page with its monitors in the order of the page. */
interface Row extends Omit<StatusPage, "monitors" | "groups"> {
  readonly groupNames: readonly string[];
  readonly shown: readonly MonitorRow[];
}

/**
 * Locks an account against other writes of its pages, until the transaction ends, and counts its pages. It is the first
 * lock of a write, as it is of an erasure. Returns null if the account was deleted.
 */
export async function lockAccount(tx: Transaction, accountId: number): Promise<{ readonly pages: number } | null> {
  const { count } = await tx`select from accounts where id = ${accountId} for no key update`;
  if (count === 0) return null;
  // A separate statement: its snapshot is taken when the lock is held, so it sees what the previous holder wrote.
  return { pages: await countPages(tx, accountId) };
}

/** What a write of a page needs besides its settings. */
interface PageWrite {
  readonly now: Date;
  /** Part of the record that verifies the domain of a new page. */
  readonly domainToken: string;
}

/** Inserts a page and returns its id. Fails with UNIQUE_VIOLATION if the slug is in use. */
export async function insertPage(
  tx: Transaction,
  accountId: number,
  settings: PageSettings,
  { now, domainToken }: PageWrite,
): Promise<number> {
  const claimedAt = settings.domain === null ? null : now;
  const [row] = await tx<{ id: number }[]>`
    insert into status_pages ${tx({
      ...columnsOf(statusPage, settings),
      account_id: accountId,
      domain_token: domainToken,
      domain_state: claimedAt === null ? null : "pending",
      domain_claimed_at: claimedAt,
      domain_due_at: claimedAt,
      group_names: tx.array(settings.groups.map(({ name }) => name)),
      created_at: now,
      updated_at: now,
    })} returning id`;
  if (row === undefined) throw new Error("the page was not inserted");
  await insertMonitors(tx, row.id, settings);
  return row.id;
}

/**
 * Writes all settings of a page. Another domain is a new claim; with `asksDomain`, its record is looked for at once. Fails
 * with UNIQUE_VIOLATION if the slug is in use.
 */
export async function updatePage(
  tx: Transaction,
  id: number,
  settings: PageSettings,
  { now, asksDomain }: { readonly now: Date; readonly asksDomain: boolean },
): Promise<void> {
  const { domain } = settings;
  const [isNone, isKept] = [domain === null, tx`domain is not distinct from ${domain}::text`];
  await tx`
    update status_pages set ${tx(columnsOf(statusPage, settings), statusPage.stored)},
      domain_state = case when ${isNone} then null when ${isKept} then coalesce(domain_state, 'pending') else 'pending' end,
      domain_claimed_at = case when ${isNone} then null when ${isKept} then coalesce(domain_claimed_at, ${now}) else ${now} end,
      domain_due_at = case
        when ${isNone} then null
        when ${isKept} and (domain_state = 'verified' or not ${asksDomain}) then domain_due_at
        else ${now} end,
      domain_recheck_at = case when ${isKept} and ${asksDomain} then ${now} else domain_recheck_at end,
      domain_missing_since = case when ${isKept} then domain_missing_since end,
      group_names = ${settings.groups.map(({ name }) => name)}::text[], updated_at = ${now}
    where id = ${id}`;
  await tx`delete from status_page_monitors where page_id = ${id}`;
  await insertMonitors(tx, id, settings);
}

async function insertMonitors(tx: Transaction, pageId: number, { monitors, groups }: PageSettings): Promise<void> {
  if (monitors.length === 0) return;
  const places = new Map(
    groups.flatMap(({ monitorIds }, index) =>
      monitorIds.map((id, position): [number, { index: number; position: number }] => [id, { index, position }]),
    ),
  );
  await tx`
    insert into status_page_monitors (page_id, monitor_id, position, name, group_index, group_position)
    select ${pageId}::bigint, id, ordinal - 1, name, group_index, group_position from ${given(
      tx,
      monitors.map(({ id, name }) => {
        const place = places.get(id);
        return { id, name, groupIndex: place?.index ?? null, groupPosition: place?.position ?? null };
      }),
      { id: "bigint", name: "text", groupIndex: "integer", groupPosition: "integer" },
      { ordinality: "ordinal" },
    )}`;
}

/** Deletes a page. Returns its slug; null if the account has none with this id. */
export async function deletePage(tx: Transaction, accountId: number, id: number): Promise<string | null> {
  const [row] = await tx<{ slug: string }[]>`
    delete from status_pages where id = ${id} and account_id = ${accountId} returning slug`;
  return row?.slug ?? null;
}

/** Finds a page of an account; null if there is none. */
export async function findPage(sql: Queryable, accountId: number, id: number): Promise<StatusPage | null> {
  const rows = await sql<Row[]>`${pages(sql, sql`p.id = ${id} and p.account_id = ${accountId}`)}`;
  return rows.map(readRow)[0] ?? null;
}

/** Finds a page by its slug; null if there is none. */
export async function findBySlug(sql: Queryable, slug: string): Promise<StatusPage | null> {
  const rows = await sql<Row[]>`${pages(sql, sql`p.slug = ${slug}`)}`;
  return rows.map(readRow)[0] ?? null;
}

/** Lists a page of an account's status pages, newest first. */
export async function listPages(
  sql: Queryable,
  accountId: number,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<readonly StatusPage[]> {
  const rows = await sql<Row[]>`
    ${pages(sql, sql`p.account_id = ${accountId}`)} order by p.id desc limit ${limit} offset ${offset}`;
  return rows.map(readRow);
}

/** Counts an account's status pages. */
export async function countPages(sql: Queryable, accountId: number): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*) as total from status_pages where account_id = ${accountId}`;
  return row?.total ?? 0;
}

/** Returns which of these ids are status pages of an account. */
export async function findOwned(sql: Queryable, accountId: number, ids: readonly number[]): Promise<readonly number[]> {
  const rows = await sql<{ id: number }[]>`
    select id from status_pages where account_id = ${accountId} and id = any(${[...ids]}::bigint[])`;
  return rows.map(({ id }) => id);
}

function pages(sql: Queryable, where: SqlFragment) {
  return sql`
    select ${sql(statusPage.stored.map((name) => `p.${name}`))}, p.id, p.account_id as "accountId",
      ${logoFacts(sql)} as logo, p.domain_state as "domainState", p.domain_token as "domainToken",
      p.domain_missing_since as "domainMissingSince",
      p.domain_state <> 'verified' and (
        exists (select from status_pages where domain = p.domain and domain_state = 'verified')
      ) is true as "isDomainTaken", p.group_names as "groupNames", p.created_at as "createdAt", p.updated_at as "updatedAt", (
        select coalesce(json_agg(json_build_array(monitor_id, name, group_index, group_position) order by position), '[]')
        from status_page_monitors where page_id = p.id
      ) as shown
    from status_pages as p left join status_page_logos as l on l.page_id = p.id where ${where}`;
}

/** Returns the logo in the row `l` without its content, null if there is no such row. */
export function logoFacts(sql: Queryable): SqlFragment {
  return sql`(case when l.page_id is not null
    then json_build_object('type', l.type, 'width', l.width, 'height', l.height, 'hash', l.hash) end)`;
}

function readRow({ groupNames, shown, ...page }: Row): StatusPage {
  const groups = groupNames.map((name, index): PageGroup => {
    const inGroup = shown.filter(([, , group]) => group === index).toSorted((a, b) => (a[3] ?? 0) - (b[3] ?? 0));
    return { name, monitorIds: inGroup.map(([id]) => id) };
  });
  return { ...page, monitors: shown.map(([id, name]) => ({ id, name })), groups };
}
