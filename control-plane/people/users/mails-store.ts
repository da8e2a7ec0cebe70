import type { Queryable } from "#control-plane/core/database/connect.ts";

/** What a mail is for. */
export type MailPurpose = "reset" | "sign_up" | "invite";

/** A mail that was asked for. */
export interface RequestedMail {
  readonly id: number;
  readonly purpose: MailPurpose;
  /** Digest of the address, hex. */
  readonly recipient: string;
  readonly sealed: Uint8Array;
  readonly requestedAt: Date;
  /** Number of this attempt, from 1. */
  readonly attempt: number;
}

/** Inserts a mail that is due now. */
export async function insertMail(
  sql: Queryable,
  mail: Pick<RequestedMail, "purpose" | "recipient" | "sealed"> & { readonly linkId: number | null },
  now: Date,
): Promise<void> {
  await sql`
    insert into requested_mails (purpose, recipient, sealed, link_id, requested_at, due_at)
    values (${mail.purpose}, decode(${mail.recipient}, 'hex'), ${mail.sealed}, ${mail.linkId}, ${now}, ${now})`;
}

/** Claims up to `limit` mails that are due, for an attempt until `leaseEndsAt`, when they are due again. */
export async function claimMails(
  sql: Queryable,
  { now, leaseEndsAt, limit }: { readonly now: Date; readonly leaseEndsAt: Date; readonly limit: number },
): Promise<readonly RequestedMail[]> {
  return sql<RequestedMail[]>`
    update requested_mails set attempts = attempts + 1, due_at = ${leaseEndsAt}
    where id in (
      select id from requested_mails where sealed is not null and due_at <= ${now}
      order by due_at limit ${limit} for update skip locked
    )
    returning id, purpose, encode(recipient, 'hex') as recipient, sealed, requested_at as "requestedAt",
      attempts as attempt`;
}

/** Sets when a mail is tried again. */
export async function postponeMail(sql: Queryable, id: number, dueAt: Date): Promise<void> {
  await sql`update requested_mails set due_at = ${dueAt} where id = ${id}`;
}

/** Ends a mail: its address and token are forgotten. */
export async function endMail(sql: Queryable, id: number): Promise<void> {
  await sql`update requested_mails set sealed = null where id = ${id}`;
}

/** Ends the mails for a new password to these recipients, by the digests of their addresses in hex. */
export async function endResetsTo(sql: Queryable, recipients: readonly string[]): Promise<void> {
  await sql`
    update requested_mails set sealed = null from unnest(${[...recipients]}::text[]) as given (hex)
    where recipient = decode(hex, 'hex') and purpose = 'reset' and sealed is not null`;
}

/** Deletes up to `limit` mails that were asked for before `before`. Returns how many. */
export async function deleteOldMails(sql: Queryable, before: Date, limit: number): Promise<number> {
  const { count } = await sql`
    delete from requested_mails where id in (
      select id from requested_mails where requested_at <= ${before} limit ${limit} for update skip locked
    )`;
  return count;
}
