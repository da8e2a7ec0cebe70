import type { Sql, Transaction } from "#control-plane/database/connect.ts";
import { given } from "#control-plane/database/given.ts";

/** A confirmation mail in the ledger. */
export interface LedgerRow {
  /** Digest of the address, 32 bytes in hexadecimal. */
  readonly recipient: string;
  readonly accountId: number;
  /** Slug of the page to which it subscribes; null: it is about alerts. */
  readonly page: string | null;
  readonly sentAt: Date;
}

/** The lock of the ledger, which its readers hold until their transaction ends; a random number. */
const LEDGER_LOCK = 3_906_118_475_260;

/** Lets one transaction at a time decide on confirmations, because the limits hold over pages and accounts. */
export async function lockLedger(tx: Transaction): Promise<void> {
  await tx`select pg_advisory_xact_lock(${LEDGER_LOCK})`;
}

/** Reads the mails to these recipients and of these accounts, each sent after a time. */
export async function readLedger(
  tx: Transaction,
  recipients: { readonly digests: readonly string[]; readonly since: Date },
  accounts: { readonly ids: readonly number[]; readonly since: Date },
): Promise<readonly LedgerRow[]> {
  return tx<LedgerRow[]>`
    select encode(recipient, 'hex') as recipient, account_id as "accountId", page, sent_at as "sentAt"
    from confirmation_ledger
    where (
        recipient = any(array(select decode(digest, 'hex') from unnest(${[...recipients.digests]}::text[]) as digest))
        and sent_at > ${recipients.since}
      ) or (account_id = any(${[...accounts.ids]}::bigint[]) and sent_at > ${accounts.since})`;
}

/** Adds mails. */
export async function insertLedger(tx: Transaction, rows: readonly LedgerRow[]): Promise<void> {
  await tx`
    insert into confirmation_ledger (recipient, account_id, page, sent_at)
    select decode(recipient, 'hex'), account_id, page, sent_at
    from ${given(tx, rows, { recipient: "text", accountId: "bigint", page: "text", sentAt: "timestamptz" })}`;
}

/** Deletes mails sent before a time. Returns how many, at most `limit`. */
export async function deleteLedger(sql: Sql, before: Date, limit: number): Promise<number> {
  const { count } = await sql`
    delete from confirmation_ledger where ctid in (
      select ctid from confirmation_ledger where sent_at < ${before} limit ${limit}
    )`;
  return count;
}
