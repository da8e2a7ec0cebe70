import type { Queryable, Sql, SqlFragment, Transaction } from "#control-plane/core/database/connect.ts";
import type { DomainAfterLook } from "#control-plane/public/status-pages/domains/record.ts";
import type { DomainState } from "#control-plane/public/status-pages/settings/page-settings.ts";

/** A domain whose record this replica asks for. */
export interface ClaimedDomain {
  readonly pageId: number;
  readonly accountId: number;
  readonly domain: string;
  readonly token: string;
  readonly state: DomainState;
  readonly claimedAt: Date;
  /** When the record of a verified domain was first missed; null if it stands, or was never missed. */
  readonly missingSince: Date | null;
  /** End of the lease, which identifies it. */
  readonly leaseEndsAt: Date;
}

/**
 * Claims the domains that are due, the most overdue first, until `leaseEndsAt`: then they are due again, unless the look
 * was settled. Those that other replicas claim are left out.
 */
export async function claimDomains(
  sql: Sql,
  { now, leaseEndsAt, most }: { readonly now: Date; readonly leaseEndsAt: Date; readonly most: number },
): Promise<readonly ClaimedDomain[]> {
  return sql<ClaimedDomain[]>`
    with due as materialized (
      select id from status_pages
      where domain_due_at <= ${now} or (domain_state = 'verified' and domain_recheck_at <= ${now})
      order by ${nextLook(sql)} limit ${most} for no key update skip locked
    )
    update status_pages as p set ${dueAgain(sql, leaseEndsAt)} from due where p.id = due.id
    returning p.id as "pageId", p.account_id as "accountId", p.domain, p.domain_token as token, p.domain_state as state,
      p.domain_claimed_at as "claimedAt", p.domain_missing_since as "missingSince", ${leaseEndsAt}::timestamptz as "leaseEndsAt"`;
}

/**
 * Locks a claimed domain until the transaction ends. Returns false if the page has another domain, or was to be asked
 * again meanwhile.
 */
export async function lockDomain(
  tx: Transaction,
  { pageId, domain, state, leaseEndsAt }: ClaimedDomain,
): Promise<boolean> {
  const { count } = await tx`
    select from status_pages
    where id = ${pageId} and domain = ${domain} and domain_state = ${state} and ${nextLook(tx)} = ${leaseEndsAt}
    for no key update`;
  return count > 0;
}

/**
 * Writes the state of a locked domain after a look. Fails with UNIQUE_VIOLATION if another page took the domain at the
 * same time.
 */
export async function settleDomain(
  tx: Transaction,
  { pageId }: ClaimedDomain,
  { state, nextAt, missingSince }: DomainAfterLook,
): Promise<void> {
  const isVerified = state === "verified";
  await tx`
    update status_pages set domain_state = ${state}, domain_due_at = ${isVerified ? null : nextAt},
      domain_recheck_at = ${nextAt}, domain_missing_since = ${missingSince}
    where id = ${pageId}`;
}

/** Makes a claimed domain due at a time: nobody could be asked. */
export async function postponeDomain(
  sql: Sql,
  { pageId, domain, leaseEndsAt }: ClaimedDomain,
  nextAt: Date,
): Promise<void> {
  await sql`
    update status_pages set ${dueAgain(sql, nextAt)}
    where id = ${pageId} and domain = ${domain} and ${nextLook(sql)} = ${leaseEndsAt}`;
}

/** When the record of a page's domain is asked for next. */
function nextLook(sql: Queryable): SqlFragment {
  return sql`(case when domain_state = 'verified' then domain_recheck_at else domain_due_at end)`;
}

/** Assignments that make the domain of a page due at a time. */
function dueAgain(sql: Queryable, at: Date): SqlFragment {
  return sql`
    domain_due_at = case when domain_state <> 'verified' then ${at}::timestamptz end,
    domain_recheck_at = case when domain_state = 'verified' then ${at}::timestamptz else domain_recheck_at end`;
}

/** Returns the token of another page whose verified domain this is; null if there is none. */
export async function findHolder(
  tx: Transaction,
  { pageId, domain }: Pick<ClaimedDomain, "pageId" | "domain">,
): Promise<{ readonly token: string } | null> {
  const [row] = await tx<{ token: string }[]>`
    select domain_token as token from status_pages
    where domain = ${domain} and domain_state = 'verified' and id <> ${pageId}`;
  return row ?? null;
}

/**
 * Takes a domain from the other page that has it verified, if its record was first missed at `goneSince` or before. That
 * page has a failed claim then, due at `askAt`. Returns the account of that page, null if nothing was taken.
 */
export async function takeDomain(
  tx: Transaction,
  { pageId, domain }: Pick<ClaimedDomain, "pageId" | "domain">,
  { goneSince, askAt }: { readonly goneSince: Date; readonly askAt: Date },
): Promise<number | null> {
  const [row] = await tx<{ accountId: number }[]>`
    update status_pages set domain_state = 'failed', domain_due_at = ${askAt}, domain_missing_since = null
    where domain = ${domain} and domain_state = 'verified' and id <> ${pageId} and domain_missing_since <= ${goneSince}
    returning account_id as "accountId"`;
  return row?.accountId ?? null;
}

/** Returns when another account gave up a domain, if that was after `since`; else null. */
export async function findRelease(
  sql: Queryable,
  { accountId, domain }: Pick<ClaimedDomain, "accountId" | "domain">,
  since: Date,
): Promise<Date | null> {
  const [row] = await sql<{ at: Date }[]>`
    select released_at as at from released_domains
    where domain = ${domain} and account_id <> ${accountId} and released_at > ${since}`;
  return row?.at ?? null;
}

/** Notes that a page gives up its verified domain, if it has one other than `kept`. Call it before the page is written. */
export async function releaseDomain(
  tx: Transaction,
  { accountId, id }: { readonly accountId: number; readonly id: number },
  kept: string | null,
  now: Date,
): Promise<void> {
  await insertReleases(tx, accountId, id, kept, now);
}

/** Notes that an account gives up all its verified domains. */
export async function releaseAll(tx: Queryable, accountId: number, now: Date): Promise<void> {
  await insertReleases(tx, accountId, null, null, now);
}

async function insertReleases(
  tx: Queryable,
  accountId: number,
  pageId: number | null,
  kept: string | null,
  now: Date,
): Promise<void> {
  await tx`
    insert into released_domains (domain, account_id, released_at)
    select domain, account_id, ${now} from status_pages
    where account_id = ${accountId} and id = coalesce(${pageId}::bigint, id) and domain_state = 'verified'
      and domain is not null and domain is distinct from ${kept}
    on conflict (domain) do update set account_id = excluded.account_id, released_at = excluded.released_at`;
}

/** Deletes notes of domains that were given up before a time. */
export async function deleteReleases(sql: Sql, before: Date): Promise<void> {
  await sql`delete from released_domains where released_at <= ${before}`;
}

/** Returns the slug of the page of each verified domain. */
export async function readServed(sql: Sql): Promise<ReadonlyMap<string, string>> {
  const rows = await sql<{ domain: string; slug: string }[]>`
    select domain, slug from status_pages where domain_state = 'verified' and domain is not null`;
  return new Map(rows.map(({ domain, slug }) => [domain, slug]));
}
