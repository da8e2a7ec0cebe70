import type { Queryable, Sql, Transaction } from "#control-plane/core/database/connect.ts";
import { given } from "#control-plane/core/database/given.ts";
import { addressKey } from "#control-plane/core/mail-address.ts";

/** A recipient whose confirmation mail is wanted. */
interface WaitingRecipient {
  readonly id: number;
  readonly accountId: number;
  readonly email: string;
}

/** A confirmation mail that is about to be sent. */
interface NewConfirmation {
  readonly recipientId: number;
  readonly accountId: number;
  readonly email: string;
  readonly tokenHash: Uint8Array;
  readonly tokenSealed: Uint8Array;
}

/** The lock that the replica holds which sends confirmation mails; a random number. */
const CONFIRMATIONS_LOCK = 7_210_462_913;

/**
 * Inserts recipients that are missing and wants a confirmation mail for those that are not confirmed, unless one was
 * sent after `since`. Wakes the queue of mails when the transaction commits.
 */
export async function wantConfirmations(
  sql: Queryable,
  accountId: number,
  emails: readonly string[],
  { now, since, channel }: { readonly now: Date; readonly since: Date; readonly channel: string },
): Promise<void> {
  await sql`
    with wanted as (
      insert into mail_recipients as r (account_id, email, created_at)
      select ${accountId}, email, ${now} from unnest(${[...emails]}::text[]) as email order by mail_address(email)
      on conflict (account_id, mail_address) do update set wants_confirmation = true
      where r.confirmed_at is null and r.unsubscribed_at is null and not r.wants_confirmation and not exists (
        select from mail_confirmations as c where c.recipient_id = r.id and c.sent_at > ${since}
      )
      returning id
    )
    select pg_notify(${channel}, 'mail') from wanted limit 1`;
}

/** Becomes the one replica that sends confirmation mails until the transaction ends; false if another one does. */
export async function lockConfirmations(tx: Transaction): Promise<boolean> {
  const [row] = await tx<{ locked: boolean }[]>`select pg_try_advisory_xact_lock(${CONFIRMATIONS_LOCK}) as locked`;
  return row?.locked ?? false;
}

/** Reports whether any confirmation mail is wanted and due. */
export async function areConfirmationsWanted(sql: Sql, now: Date): Promise<boolean> {
  const rows = await sql`
    select from mail_recipients
    where wants_confirmation and (confirmation_due_at is null or confirmation_due_at <= ${now}) limit 1`;
  return rows.length > 0;
}

/** Reads recipients whose confirmation mail is wanted and due, those that wait longest first. */
export async function readWaitingRecipients(
  tx: Transaction,
  now: Date,
  limit: number,
): Promise<readonly WaitingRecipient[]> {
  return tx<WaitingRecipient[]>`
    select id, account_id as "accountId", email from mail_recipients
    where wants_confirmation and (confirmation_due_at is null or confirmation_due_at <= ${now})
    order by id limit ${limit}`;
}

/** Notes when the confirmation mails of recipients are looked at again. */
export async function postponeConfirmations(tx: Transaction, ids: readonly number[], dueAt: Date): Promise<void> {
  await tx`update mail_recipients set confirmation_due_at = ${dueAt} where id = any(${[...ids]}::bigint[])`;
}

/** Stores the tokens of confirmation mails that are about to be sent. */
export async function storeConfirmations(
  tx: Transaction,
  confirmations: readonly NewConfirmation[],
  { now, expiresAt }: { readonly now: Date; readonly expiresAt: Date },
): Promise<void> {
  await tx`
    with given as (
      select * from ${given(tx, confirmations, {
        recipientId: "bigint",
        accountId: "bigint",
        email: "text",
        tokenHash: "bytea",
        tokenSealed: "bytea",
      })}
    ), sent as (
      insert into mail_confirmations (recipient_id, account_id, email, sent_at)
      select recipient_id, account_id, mail_address(email), ${now} from given
    )
    update mail_recipients as r
    set wants_confirmation = false, confirmation_due_at = null, token_hash = given.token_hash,
      token_sealed = given.token_sealed, token_expires_at = ${expiresAt}
    from given where r.id = given.recipient_id`;
}

/**
 * Takes back the confirmation mails that were not sent yet to these addresses of an account. The link of a mail that was
 * sent works on. A mail that is being sent is not stopped. It locks deliveries by id, as all that write several do.
 */
export async function withdrawConfirmations(
  tx: Transaction,
  accountId: number,
  emails: readonly string[],
): Promise<void> {
  await tx`
    with withdrawn as (
      update mail_recipients set wants_confirmation = false, confirmation_due_at = null, token_sealed = null
      where account_id = ${accountId} and mail_address = any(${emails.map(addressKey)}::text[])
        and confirmed_at is null
      returning id
    ), queued as materialized (
      select d.id from deliveries as d join events as e on e.id = d.event_id
      where d.channel = 'mail' and d.receiver_id in (select id from withdrawn) and e.type = 'confirm'
        and d.status in ('pending', 'retrying') and not d.is_leased
      order by d.id for update of d
    )
    update deliveries as d
    set status = 'failed', is_ready = false, due_at = null, next_attempt_at = null, response_code = null,
      error_code = 'not_needed', error_message = 'The monitor was deleted before this mail was sent.'
    from queued where d.id = queued.id`;
}

/** Reads the sealed token of a recipient; null if it is confirmed or gone. */
export async function findSealedToken(sql: Sql, recipientId: number): Promise<Uint8Array | null> {
  const [row] = await sql<{ sealed: Uint8Array | null }[]>`
    select token_sealed as sealed from mail_recipients
    where id = ${recipientId} and (confirmed_at is null or asks_again)`;
  return row?.sealed ?? null;
}

/** A recipient as a confirmation link finds it. */
interface LinkedRecipient {
  readonly email: string;
  readonly isConfirmed: boolean;
}

/** Finds the recipient of a link; null if there is none or the link has expired. */
export async function findByToken(sql: Sql, tokenHash: Uint8Array, now: Date): Promise<LinkedRecipient | null> {
  const [row] = await sql<LinkedRecipient[]>`
    select email, confirmed_at is not null and not asks_again as "isConfirmed" from mail_recipients
    where token_hash = ${tokenHash} and token_expires_at > ${now}`;
  return row ?? null;
}

/** Confirms the recipient of a link. Returns its address; null if there is none, or the link was used or has expired. */
export async function confirmByToken(sql: Sql, tokenHash: Uint8Array, now: Date): Promise<string | null> {
  const [row] = await sql<{ email: string }[]>`
    update mail_recipients set confirmed_at = ${now}, token_sealed = null, wants_confirmation = false,
      unsubscribed_at = null, asks_again = false
    where token_hash = ${tokenHash} and token_expires_at > ${now} and (confirmed_at is null or asks_again)
    returning email`;
  return row?.email ?? null;
}

/** Deletes what is known about confirmation mails sent before a time. Returns how many, at most `limit`. */
export async function deleteConfirmations(sql: Sql, before: Date, limit: number): Promise<number> {
  const { count } = await sql`
    delete from mail_confirmations where ctid in (
      select ctid from mail_confirmations where sent_at < ${before} limit ${limit}
    )`;
  return count;
}
