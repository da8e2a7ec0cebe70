import type { Queryable } from "#control-plane/core/database/connect.ts";

/** Makes addresses confirmed recipients of an account. */
export async function confirmRecipients(sql: Queryable, accountId: number, emails: readonly string[]): Promise<void> {
  await sql`
    insert into mail_recipients (account_id, email, created_at, confirmed_at, wants_confirmation)
    select ${accountId}, email, now(), now(), false from unnest(${[...emails]}::text[]) as email`;
}
