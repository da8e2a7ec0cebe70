import type { Sql, Transaction } from "#control-plane/core/database/connect.ts";
import { given } from "#control-plane/core/database/given.ts";

/** What a mail in the ledger is for. confirmation: it asks the owner of an address whether it wants mail. */
export type LedgerPurpose = "confirmation" | "reset" | "sign_up" | "invite";

/** A mail in the ledger. Digests have 32 bytes, in hexadecimal. */
export interface LedgerRow {
  readonly purpose: LedgerPurpose;
  /** Digest of the address. */
  readonly recipient: string;
  /** null: a stranger asked for it. */
  readonly accountId: number | null;
  /** Slug of the page to which it subscribes; null if it is about something else. */
  readonly page: string | null;
  /** Digests of the client's address, and of its /24 or /48; null: an account asked for it. */
  readonly caller: string | null;
  readonly network: string | null;
  readonly sentAt: Date;
}

/** Mails of all that count, in the last hour. */
export interface LedgerTotals {
  readonly mails: number;
  readonly signUps: number;
}

/** The lock of the ledger, which its readers hold until their transaction ends; a random number. */
const LEDGER_LOCK = 3_906_118_475_260;

/** Lets one transaction at a time decide on mails, because the limits hold over pages, accounts and strangers. */
export async function lockLedger(tx: Transaction): Promise<void> {
  await tx`select pg_advisory_xact_lock(${LEDGER_LOCK})`;
}

/** Reads the mails that count against those wanted: to their recipients since `day`, of those who ask since `hour`. */
export async function readLedger(
  tx: Transaction,
  wanted: readonly LedgerRow[],
  { day, hour }: { readonly day: Date; readonly hour: Date },
): Promise<{ readonly rows: readonly LedgerRow[]; readonly lastHour: LedgerTotals }> {
  const distinct = <Value>(of: (row: LedgerRow) => Value | null): Value[] => [
    ...new Set(wanted.flatMap((row) => of(row) ?? [])),
  ];
  const digests = (of: (row: LedgerRow) => string | null) =>
    tx`any(array(select decode(digest, 'hex') from unnest(${distinct(of)}::text[]) as digest))`;
  const rows = await tx<LedgerRow[]>`
    select purpose, encode(recipient, 'hex') as recipient, account_id as "accountId", page,
      encode(caller, 'hex') as caller, encode(network, 'hex') as network, sent_at as "sentAt"
    from confirmation_ledger
    where (recipient = ${digests(({ recipient }) => recipient)} and sent_at > ${day})
      or (account_id = any(${distinct(({ accountId }) => accountId)}::bigint[]) and sent_at > ${hour})
      or (caller = ${digests(({ caller }) => caller)} and sent_at > ${hour})
      or (network = ${digests(({ network }) => network)} and sent_at > ${hour})`;
  const [lastHour] = await tx<LedgerTotals[]>`
    select count(*) as mails, count(*) filter (where purpose = 'sign_up') as "signUps"
    from confirmation_ledger where sent_at > ${hour} and purpose <> 'reset'`;
  if (lastHour === undefined) throw new Error("the count returned no row");
  return { rows, lastHour };
}

/** Adds mails. */
export async function insertLedger(tx: Transaction, rows: readonly LedgerRow[]): Promise<void> {
  await tx`
    insert into confirmation_ledger (purpose, recipient, account_id, page, caller, network, sent_at)
    select purpose, decode(recipient, 'hex'), account_id, page, decode(caller, 'hex'), decode(network, 'hex'), sent_at
    from ${given(tx, rows, {
      purpose: "text",
      recipient: "text",
      accountId: "bigint",
      page: "text",
      caller: "text",
      network: "text",
      sentAt: "timestamptz",
    })}`;
}

/** Deletes mails sent before a time. Returns how many, at most `limit`. */
export async function deleteLedger(sql: Sql, before: Date, limit: number): Promise<number> {
  const { count } = await sql`
    delete from confirmation_ledger where ctid in (
      select ctid from confirmation_ledger where sent_at < ${before} limit ${limit}
    )`;
  return count;
}
