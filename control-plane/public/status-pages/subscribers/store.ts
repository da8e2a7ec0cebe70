import type { Queryable, Sql, Transaction } from "#control-plane/core/database/connect.ts";
import { given } from "#control-plane/core/database/given.ts";
import type { StatusPage } from "#control-plane/public/status-pages/settings/page-settings.ts";
import { logoFacts } from "#control-plane/public/status-pages/store.ts";

/**
 * Locks a page against other subscriptions until the transaction ends. Returns its slug; null if it was deleted.
 */
export async function lockSubscriptions(
  tx: Transaction,
  { pageId, accountId }: { readonly pageId: number; readonly accountId: number },
): Promise<string | null> {
  // The account first, as every transaction that writes more than one row of it.
  await tx`select from accounts where id = ${accountId} for key share`;
  const [row] = await tx<{ slug: string }[]>`select slug from status_pages where id = ${pageId} for no key update`;
  return row?.slug ?? null;
}

/**
 * Adds an address to a page, or notes that it is asked again. Returns the subscriber to ask; null if it is confirmed
 * already, or if the page has `mostSubscribers` confirmed ones.
 */
export async function askSubscriber(
  tx: Transaction,
  { pageId, email }: { readonly pageId: number; readonly email: string },
  now: Date,
  mostSubscribers: number,
): Promise<number | null> {
  const [row] = await tx<{ id: number }[]>`
    insert into status_page_subscribers as s (page_id, email, asked_at)
    select ${pageId}, ${email}, ${now}
    where (
      select count(*) from status_page_subscribers where page_id = ${pageId} and confirmed_at is not null
    ) < ${mostSubscribers}
    on conflict (page_id, mail_address) do update set asked_at = excluded.asked_at where s.confirmed_at is null
    returning id`;
  return row?.id ?? null;
}

/** A subscriber with its page. */
export interface Subscriber extends Pick<StatusPage, (typeof READ)[number] | "accountId" | "logo" | "domainState"> {
  readonly id: number;
  readonly email: string;
  readonly askedAt: Date;
  readonly isConfirmed: boolean;
  readonly pageId: number;
}

/** Fields of the page that mails to its subscribers need. */
const READ = [
  "slug",
  "title",
  "accent_color",
  "domain",
  "is_public",
  "show_causes",
  "auto_incidents",
  "auto_incidents_after_minutes",
] as const;

/** Finds a subscriber; null if there is none. */
export async function findSubscriber(sql: Queryable, id: number): Promise<Subscriber | null> {
  const [row] = await sql<Subscriber[]>`
    select ${sql(READ.map((name) => `p.${name}`))}, s.id, s.email, s.asked_at as "askedAt", s.confirmed_at is not null as "isConfirmed", s.page_id as "pageId",
      p.account_id as "accountId", ${logoFacts(sql)} as logo, p.domain_state as "domainState"
    from status_page_subscribers as s join status_pages as p on p.id = s.page_id
      left join status_page_logos as l on l.page_id = p.id where s.id = ${id}`;
  return row ?? null;
}

/** Confirms a subscriber. */
export async function confirmSubscriber(sql: Sql, id: number, now: Date): Promise<void> {
  await sql`update status_page_subscribers set confirmed_at = ${now} where id = ${id} and confirmed_at is null`;
}

/** Deletes a subscriber. */
export async function deleteSubscriber(sql: Sql, id: number): Promise<void> {
  await sql`delete from status_page_subscribers where id = ${id}`;
}

/** Deletes addresses that were asked before a time and not confirmed. Returns how many. */
export async function deleteUnconfirmed(sql: Sql, askedBefore: Date, limit: number): Promise<number> {
  const { count } = await sql`
    delete from status_page_subscribers where id in (
      select id from status_page_subscribers where confirmed_at is null and asked_at < ${askedBefore} limit ${limit}
    )`;
  return count;
}

/** Counts the confirmed subscribers of an account's pages, by the id of the page; a page without one is missing. */
export async function countSubscribers(sql: Queryable, accountId: number): Promise<ReadonlyMap<number, number>> {
  const rows = await sql<{ id: number; count: number }[]>`
    select s.page_id as id, count(*) as count from status_page_subscribers as s
    join status_pages as p on p.id = s.page_id
    where p.account_id = ${accountId} and s.confirmed_at is not null group by s.page_id`;
  return new Map(rows.map(({ id, count }) => [id, count]));
}

/** An address that subscribes to a page, or was asked whether it does. */
export interface PageSubscriber {
  readonly id: number;
  readonly email: string;
  readonly isConfirmed: boolean;
  /** When it confirmed; if it did not, when it was asked. */
  readonly since: Date;
}

/** Lists the subscribers of a page of an account, newest first, and their total number. */
export async function listOfPage(
  sql: Queryable,
  { accountId, pageId }: { readonly accountId: number; readonly pageId: number },
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<{ readonly subscribers: readonly PageSubscriber[]; readonly total: number }> {
  const ofPage = sql`
    from status_page_subscribers as s join status_pages as p on p.id = s.page_id
    where s.page_id = ${pageId} and p.account_id = ${accountId}`;
  const [count] = await sql<{ total: number }[]>`select count(*) as total ${ofPage}`;
  const subscribers = await sql<PageSubscriber[]>`
    select s.id, s.email, s.confirmed_at is not null as "isConfirmed", coalesce(s.confirmed_at, s.asked_at) as since
    ${ofPage} order by s.id desc limit ${limit} offset ${offset}`;
  return { subscribers, total: count?.total ?? 0 };
}

/** Deletes a subscriber of a page of an account. Returns false if the page has none with this id. */
export async function deleteOfPage(
  tx: Transaction,
  { accountId, pageId, id }: { readonly accountId: number; readonly pageId: number; readonly id: number },
): Promise<boolean> {
  const { count } = await tx`
    delete from status_page_subscribers as s using status_pages as p
    where s.id = ${id} and s.page_id = ${pageId} and p.id = s.page_id and p.account_id = ${accountId}`;
  return count > 0;
}

/** What events are about, each part with the position of its event. */
export interface EventSubjects {
  readonly monitors: readonly { readonly event: number; readonly monitorId: number }[];
  readonly pages: readonly { readonly event: number; readonly pageId: number }[];
  readonly tags: readonly { readonly event: number; readonly accountId: number; readonly tag: string }[];
}

/** A subscriber who gets an event. */
interface PageReceiver {
  /** Position of the event. */
  readonly event: number;
  readonly id: number;
  readonly email: string;
  /** Minutes after which a confirmed outage is an incident of the page. */
  readonly afterMinutes: number;
}

/** Finds the confirmed subscribers of public pages that show what events are about, each once for an event. */
export async function findReceivers(
  tx: Transaction,
  { monitors, pages, tags }: EventSubjects,
): Promise<readonly PageReceiver[]> {
  return tx`
    with shown as (
      select given.event, m.page_id
      from ${given(tx, monitors, { event: "integer", monitorId: "bigint" })}
      join status_page_monitors as m on m.monitor_id = given.monitor_id
      union
      select event, page_id from ${given(tx, pages, { event: "integer", pageId: "bigint" })}
      union
      select given.event, m.page_id
      from ${given(tx, tags, { event: "integer", accountId: "bigint", tag: "text" })}
      join monitors on monitors.account_id = given.account_id and given.tag = any(monitors.tags)
      join status_page_monitors as m on m.monitor_id = monitors.id
    )
    select shown.event, s.id, s.email, p.auto_incidents_after_minutes as "afterMinutes"
    from shown join status_pages as p on p.id = shown.page_id and p.is_public
      join status_page_subscribers as s on s.page_id = p.id and s.confirmed_at is not null
    order by shown.event, s.id`;
}

/** Returns the names under which a page shows monitors, by id; those that it does not show are missing. */
export async function readShownNames(
  sql: Queryable,
  pageId: number,
  monitorIds: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  const rows = await sql<{ id: number; name: string }[]>`
    select m.id, coalesce(p.name, m.name) as name from status_page_monitors as p join monitors as m on m.id = p.monitor_id
    where p.page_id = ${pageId} and p.monitor_id = any(${[...monitorIds]}::bigint[])`;
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** Lists the subscribers of an account's pages for its data export. */
export async function listSubscribers(sql: Queryable, accountId: number, limit: number): Promise<unknown> {
  return sql`
    select p.slug, s.email, s.confirmed_at from status_page_subscribers as s
    join status_pages as p on p.id = s.page_id where p.account_id = ${accountId} order by s.id limit ${limit}`;
}
