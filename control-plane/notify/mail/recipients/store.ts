import type { Queryable, Sql } from "#control-plane/core/database/connect.ts";
import { given } from "#control-plane/core/database/given.ts";
import { addressKey } from "#control-plane/core/mail-address.ts";

/** A recipient of an account. */
interface Recipient {
  readonly id: number;
  readonly accountId: number;
  /** The normal form of its address. */
  readonly address: string;
  readonly email: string;
  readonly isConfirmed: boolean;
  /** null if it has not unsubscribed. */
  readonly unsubscribedAt: Date | null;
}

/** Reads the recipients of accounts that have one of these addresses, in any spelling, each once. */
export async function readRecipients(
  sql: Queryable,
  addresses: readonly { readonly accountId: number; readonly email: string }[],
): Promise<readonly Recipient[]> {
  if (addresses.length === 0) return [];
  return sql<Recipient[]>`
    select r.id, r.account_id as "accountId", given.address, r.email, r.confirmed_at is not null as "isConfirmed",
      r.unsubscribed_at as "unsubscribedAt"
    from (
      select distinct account_id, address from ${given(
        sql,
        addresses.map(({ accountId, email }) => ({ accountId, address: addressKey(email) })),
        { accountId: "bigint", address: "text" },
      )}
    ) as given
    join mail_recipients as r on r.account_id = given.account_id and r.mail_address = given.address
    order by r.id`;
}

/** Reads which of these addresses of an account get no mail since a time or longer, in their normal form. */
export async function readFailing(
  sql: Queryable,
  accountId: number,
  emails: readonly string[],
  since: Date,
): Promise<readonly string[]> {
  const rows = await sql<{ address: string }[]>`
    select r.mail_address as address
    from mail_recipients as r join failing_receivers as f on f.channel = 'mail' and f.receiver_id = r.id
    where r.account_id = ${accountId} and r.mail_address = any(${emails.map(addressKey)}::text[])
      and f.failing_since <= ${since}`;
  return rows.map(({ address }) => address);
}

/** The account and the address of a recipient. */
export interface FoundRecipient {
  readonly accountId: number;
  readonly email: string;
  /** Links of mails that were made until then have ended; null: none has. */
  readonly linksEndedAt: Date | null;
}

/** Finds a recipient by its id; null if there is none. */
export async function findRecipient(sql: Sql, id: number): Promise<FoundRecipient | null> {
  const [row] = await sql<FoundRecipient[]>`
    select account_id as "accountId", email, links_ended_at as "linksEndedAt" from mail_recipients where id = ${id}`;
  return row ?? null;
}

/** Ends the links of mails to an address that were made until now. */
export async function endLinks(tx: Queryable, accountId: number, email: string, now: Date): Promise<void> {
  await tx`
    update mail_recipients set links_ended_at = ${now}
    where account_id = ${accountId} and mail_address = ${addressKey(email)}`;
}

/** A recipient as the link finds it by which it unsubscribes. */
export interface Subscription {
  readonly email: string;
  readonly isUnsubscribed: boolean;
}

/** Finds a recipient by its id; null if there is none. */
export async function findSubscription(sql: Sql, id: number): Promise<Subscription | null> {
  const [row] = await sql<Subscription[]>`
    select email, unsubscribed_at is not null as "isUnsubscribed" from mail_recipients where id = ${id}`;
  return row ?? null;
}

/**
 * Unsubscribes a recipient and ends its deliveries that were not sent yet; a mail that is being sent is not stopped.
 * Earlier confirmation links do not work any more. It locks deliveries by id, as all that write several do.
 */
export async function unsubscribe(sql: Sql, id: number, now: Date): Promise<void> {
  await sql`
    with ended as (
      update mail_recipients set unsubscribed_at = ${now}, asks_again = false, wants_confirmation = false,
        token_hash = null, token_sealed = null
      where id = ${id} and unsubscribed_at is null
      returning id
    ), queued as materialized (
      select d.id from deliveries as d
      where d.channel = 'mail' and d.receiver_id in (select id from ended) and d.status in ('pending', 'retrying')
        and not d.is_leased
      order by d.id for update of d
    )
    update deliveries as d
    set status = 'failed', is_ready = false, due_at = null, next_attempt_at = null, response_code = null,
      error_code = 'unsubscribed', error_message = 'The recipient unsubscribed before this mail was sent.'
    from queued where d.id = queued.id`;
}

/** Wants a confirmation mail for a recipient that has unsubscribed, and wakes the queue of mails. */
export async function askAgain(sql: Sql, id: number, channel: string): Promise<void> {
  await sql`
    with asked as (
      update mail_recipients set asks_again = true, wants_confirmation = true
      where id = ${id} and unsubscribed_at is not null and not wants_confirmation
      returning id
    )
    select pg_notify(${channel}, 'mail') from asked`;
}

/** A recipient as the data export of its account shows it. */
interface ExportedRecipient {
  readonly email: string;
  readonly confirmed_at: Date | null;
  readonly unsubscribed_at: Date | null;
  readonly created_at: Date;
}

/** Lists the recipients of an account. */
export async function listRecipients(sql: Queryable, accountId: number): Promise<readonly ExportedRecipient[]> {
  return sql<ExportedRecipient[]>`
    select email, confirmed_at, unsubscribed_at, created_at from mail_recipients where account_id = ${accountId} order by id`;
}

/** Deletes recipients created before a time that were never confirmed. Returns how many, at most `limit`. */
export async function deleteUnconfirmed(sql: Sql, before: Date, limit: number): Promise<number> {
  const { count } = await sql`
    delete from mail_recipients where id in (
      select id from mail_recipients where confirmed_at is null and created_at < ${before} order by created_at limit ${limit}
    )`;
  return count;
}
