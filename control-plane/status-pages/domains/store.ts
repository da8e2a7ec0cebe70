import type { Queryable, Sql, Transaction } from "#control-plane/database/connect.ts";
import type { DomainAfterLook } from "#control-plane/status-pages/domains/record.ts";

/** A domain whose record this replica asks for. */
export interface ClaimedDomain {
  readonly pageId: number;
  readonly accountId: number;
  readonly domain: string;
  readonly token: string;
  readonly claimedAt: Date;
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
      select id from status_pages where domain_due_at <= ${now}
      order by domain_due_at limit ${most} for no key update skip locked
    )
    update status_pages as p set domain_due_at = ${leaseEndsAt} from due where p.id = due.id
    returning p.id as "pageId", p.account_id as "accountId", p.domain, p.domain_token as token,
      p.domain_claimed_at as "claimedAt", p.domain_due_at as "leaseEndsAt"`;
}

/**
 * Writes the state of a domain after a look. Returns false if the page has another domain, or was to be asked again
 * meanwhile. Fails with UNIQUE_VIOLATION if another page took the domain at the same time.
 */
export async function settleDomain(
  tx: Queryable,
  { pageId, domain, leaseEndsAt }: ClaimedDomain,
  { state, dueAt }: DomainAfterLook,
): Promise<boolean> {
  const { count } = await tx`
    update status_pages set domain_state = ${state}, domain_due_at = ${dueAt}
    where id = ${pageId} and domain = ${domain} and domain_due_at = ${leaseEndsAt}`;
  return count > 0;
}

/** Makes a claimed domain due at a time: nobody could be asked. */
export async function postponeDomain(
  sql: Sql,
  { pageId, domain, leaseEndsAt }: ClaimedDomain,
  dueAt: Date,
): Promise<void> {
  await sql`
    update status_pages set domain_due_at = ${dueAt}
    where id = ${pageId} and domain = ${domain} and domain_due_at = ${leaseEndsAt}`;
}

/** Reports whether a domain, or a claim of it that has not failed, belongs to another page. */
export async function isTaken(
  sql: Queryable,
  { pageId, domain }: Pick<ClaimedDomain, "pageId" | "domain">,
): Promise<boolean> {
  const { count } = await sql`
    select from status_pages where domain = ${domain} and domain_state <> 'failed' and id <> ${pageId}`;
  return count > 0;
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
