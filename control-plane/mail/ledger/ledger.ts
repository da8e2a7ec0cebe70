import type { Sql, Transaction } from "#control-plane/database/connect.ts";
import { deleteInSteps } from "#control-plane/database/upkeep.ts";
import {
  deleteLedger,
  insertLedger,
  lockLedger,
  readLedger,
  type LedgerRow,
} from "#control-plane/mail/ledger/store.ts";
import { addressKey } from "#control-plane/mail-address.ts";
import type { Encryption } from "#control-plane/secrets/encryption.ts";

/** A mail that asks the owner of an address for a confirmation. */
interface Confirmation {
  readonly accountId: number;
  readonly email: string;
  /** Slug of the page to which it subscribes; null: it is about alerts. */
  readonly page: string | null;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const KEPT_MS = 2 * DAY_MS;
const DELETED_AT_ONCE = 1_000;
/** Mails to one address for a page and in all within a day, and of one account within an hour. */
const LIMITS = { perPage: 1, perRecipient: 3, perAccount: 50 };

/**
 * Chooses the confirmations that the limits allow, in the order given, each counted for those after it. What is deleted
 * since it was asked for counts too. Other transactions that choose wait until this one ends: record those that are sent
 * with `recordConfirmations` in the same transaction.
 */
export async function chooseConfirmations<T extends Confirmation>(
  tx: Transaction,
  encryption: Pick<Encryption, "digest">,
  wanted: readonly T[],
  now: Date,
): Promise<readonly T[]> {
  const rows = toRows(encryption, wanted, now);
  await lockLedger(tx);
  const sent = await readLedger(
    tx,
    { digests: [...new Set(rows.map(({ recipient }) => recipient))], since: new Date(now.getTime() - DAY_MS) },
    { ids: [...new Set(rows.map(({ accountId }) => accountId))], since: new Date(now.getTime() - HOUR_MS) },
  );
  const allowed = chooseAllowed(sent, rows, now);
  return wanted.filter((_, index) => allowed[index]);
}

/** Adds confirmations that the same transaction queues to the ledger. */
export async function recordConfirmations(
  tx: Transaction,
  encryption: Pick<Encryption, "digest">,
  queued: readonly Confirmation[],
  now: Date,
): Promise<void> {
  await insertLedger(tx, toRows(encryption, queued, now));
}

/** Deletes what no limit counts any more. Rejects while the database is away. */
export function sweepLedger(sql: Sql, now: Date): Promise<void> {
  const before = new Date(now.getTime() - KEPT_MS);
  return deleteInSteps(DELETED_AT_ONCE, (limit) => deleteLedger(sql, before, limit));
}

/** Returns for each wanted mail whether the limits allow it, after those sent within a day and the ones before it. */
export function chooseAllowed(sent: readonly LedgerRow[], wanted: readonly LedgerRow[], now: Date): readonly boolean[] {
  const counts = new Map<string, number>();
  const keysOf = ({ recipient, accountId, page }: LedgerRow) => [
    ...(page === null ? [] : [[`page ${recipient} ${page}`, LIMITS.perPage, DAY_MS] as const]),
    [`recipient ${recipient}`, LIMITS.perRecipient, DAY_MS] as const,
    [`account ${accountId}`, LIMITS.perAccount, HOUR_MS] as const,
  ];
  const count = (row: LedgerRow): void => {
    const age = now.getTime() - row.sentAt.getTime();
    for (const [key, , withinMs] of keysOf(row)) if (age < withinMs) counts.set(key, (counts.get(key) ?? 0) + 1);
  };
  sent.forEach(count);
  return wanted.map((row) => {
    const isAllowed = keysOf(row).every(([key, most]) => (counts.get(key) ?? 0) < most);
    if (isAllowed) count(row);
    return isAllowed;
  });
}

function toRows(
  encryption: Pick<Encryption, "digest">,
  confirmations: readonly Confirmation[],
  sentAt: Date,
): readonly LedgerRow[] {
  return confirmations.map(({ accountId, email, page }) => {
    const digest = encryption.digest(addressKey(email), "confirmation_ledger.recipient");
    return { recipient: Buffer.from(digest).toString("hex"), accountId, page, sentAt };
  });
}
