import type { Queryable, Transaction } from "#control-plane/core/database/connect.ts";
import { addressKey } from "#control-plane/core/mail-address.ts";
import type { PlanName } from "#control-plane/core/plans.ts";

/** The facts about an account on which its monitors depend. */
export interface MonitorAccount {
  readonly id: number;
  readonly plan: PlanName;
  readonly email: string | null;
  /** Number of its monitors, and of the active ones. */
  readonly total: number;
  readonly active: number;
}

/**
 * Locks an account against other writes of its monitors and changes of its plan, until the transaction ends. Returns
 * null if the account was deleted.
 */
export async function lockAccount(tx: Transaction, accountId: number): Promise<MonitorAccount | null> {
  const [account] = await tx<Pick<MonitorAccount, "id" | "plan" | "email">[]>`
    select id, plan, email from accounts where id = ${accountId} for no key update`;
  if (account === undefined) return null;
  // A separate statement: its snapshot is taken when the lock is held, so it sees what the previous holder wrote.
  const [counts] = await tx<Pick<MonitorAccount, "total" | "active">[]>`
    select count(*) as total, count(*) filter (where is_active) as active
    from monitors where account_id = ${accountId}`;
  return { ...account, total: counts?.total ?? 0, active: counts?.active ?? 0 };
}

/** Returns the address of an account; null if it has none or was deleted. */
export async function readEmail(sql: Queryable, accountId: number): Promise<string | null> {
  const [row] = await sql<{ email: string | null }[]>`select email from accounts where id = ${accountId}`;
  return row?.email ?? null;
}

/** Reports whether any monitor of an account mails to the account's address. */
export async function isAccountMailed(sql: Queryable, accountId: number): Promise<boolean> {
  const rows = await sql`
    select from monitors
    where account_id = ${accountId} and settings::json ->> 'notify_email' = 'true'
      and settings::json ->> 'notify_emails' is null
    limit 1`;
  return rows.length > 0;
}

/** Returns the monitors of an account that have a list of addresses, by name. */
export async function readListedEmails(
  sql: Queryable,
  accountId: number,
): Promise<readonly { readonly id: number; readonly name: string; readonly emails: readonly string[] }[]> {
  return sql<{ id: number; name: string; emails: string[] }[]>`
    select id, name, array(select json_array_elements_text(settings::json -> 'notify_emails')) as emails
    from monitors where account_id = ${accountId} and json_typeof(settings::json -> 'notify_emails') = 'array'
    order by lower(name), id`;
}

/** Returns those of these addresses to which no monitor of an account mails. */
export async function readUnmailed(
  sql: Queryable,
  accountId: number,
  emails: readonly string[],
): Promise<readonly string[]> {
  const rows = await sql<{ listed: string }[]>`
    select distinct listed from monitors, json_array_elements_text(
      case json_typeof(settings::json -> 'notify_emails')
        when 'array' then settings::json -> 'notify_emails' else '[]'::json end
    ) as listed
    where account_id = ${accountId} and settings::json ->> 'notify_email' = 'true'`;
  const mailed = new Set(rows.map(({ listed }) => addressKey(listed)));
  return emails.filter((email) => !mailed.has(addressKey(email)));
}
