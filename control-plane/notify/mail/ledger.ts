import type { Sql, Transaction } from "#control-plane/core/database/connect.ts";
import { deleteInSteps } from "#control-plane/core/database/upkeep.ts";
import { addressGroup, addressNetwork } from "#control-plane/http/limits/address.ts";
import {
  deleteLedger,
  insertLedger,
  lockLedger,
  readLedger,
  type LedgerPurpose,
  type LedgerRow,
  type LedgerTotals,
} from "#control-plane/notify/mail/ledger-store.ts";
import { addressKey } from "#control-plane/core/mail-address.ts";
import type { Encryption } from "#control-plane/core/secrets/encryption.ts";

/** A mail that strangers ask for, or to an address that has not confirmed. */
interface CountedMail {
  readonly purpose: LedgerPurpose;
  readonly email: string;
  /** null: a stranger asks for it, or the operator. */
  readonly accountId: number | null;
  /** Slug of the page to which it subscribes; null if it is about something else. */
  readonly page: string | null;
  /** Address of the client that asks for a new password or a sign-up; null: the mail is another one. */
  readonly caller: string | null;
}

/** The limit that does not allow a mail. service: that of all mail together, or of all sign-ups. */
export type MailLimit = "page" | "recipient" | "caller" | "invites" | "account" | "service";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const KEPT_MS = 2 * DAY_MS;
const DELETED_AT_ONCE = 1_000;
/** Mails to one address within a day: for a page, and for each purpose. */
const A_DAY = { page: 1, recipient: 3 };
/**
 * Mails within an hour. New passwords and sign-ups, which strangers ask for, count together against their callers. New
 * passwords are mailed to known users alone, and outside of the limits of the service.
 */
const AN_HOUR = { caller: 10, network: 100, invites: 50, account: 50, signUps: 300, service: 1_000 };

/**
 * Finds for each wanted mail, in the order given and each counted for those after it, the limit that does not allow it;
 * null if it is allowed. What is deleted since it was asked for counts too. Other transactions that ask wait until this one
 * ends: record the mails that are sent with `recordMails` in the same transaction. Lock accounts and what belongs to them
 * before.
 */
export async function findLimits(
  tx: Transaction,
  encryption: Pick<Encryption, "digest">,
  wanted: readonly CountedMail[],
  now: Date,
): Promise<readonly (MailLimit | null)[]> {
  const rows = toRows(encryption, wanted, now);
  await lockLedger(tx);
  const since = { day: new Date(now.getTime() - DAY_MS), hour: new Date(now.getTime() - HOUR_MS) };
  const { rows: sent, lastHour } = await readLedger(tx, rows, since);
  return judgeMails(sent, lastHour, rows, now);
}

/** Adds mails that the same transaction queues to the ledger. */
export async function recordMails(
  tx: Transaction,
  encryption: Pick<Encryption, "digest">,
  queued: readonly CountedMail[],
  now: Date,
): Promise<void> {
  await insertLedger(tx, toRows(encryption, queued, now));
}

/** Deletes what no limit counts any more. Rejects while the database is away. */
export function sweepLedger(sql: Sql, now: Date): Promise<void> {
  const before = new Date(now.getTime() - KEPT_MS);
  return deleteInSteps(DELETED_AT_ONCE, (limit) => deleteLedger(sql, before, limit));
}

/** A limit with the key under which mails count against it. */
type Counter = readonly [limit: MailLimit, key: string, most: number, withinMs: number];

/**
 * Returns for each wanted mail the first limit that it exceeds, after those sent within a day and the ones before it;
 * null: none. `lastHour`: all mails of the last hour.
 */
export function judgeMails(
  sent: readonly LedgerRow[],
  lastHour: LedgerTotals,
  wanted: readonly LedgerRow[],
  now: Date,
): readonly (MailLimit | null)[] {
  const counts = new Map<string, number>([
    [ALL, lastHour.mails],
    [SIGN_UPS, lastHour.signUps],
  ]);
  const count = (counters: readonly Counter[], ageMs: number): void => {
    for (const [, key, , withinMs] of counters) if (ageMs < withinMs) counts.set(key, (counts.get(key) ?? 0) + 1);
  };
  for (const row of sent) count(countersOf(row), now.getTime() - row.sentAt.getTime());
  return wanted.map((row) => {
    const counters = [...countersOf(row), ...totalsOf(row)];
    const exceeded = counters.find(([, key, most]) => (counts.get(key) ?? 0) >= most);
    if (exceeded !== undefined) return exceeded[0];
    count(counters, 0);
    return null;
  });
}

const ALL = "all";
const SIGN_UPS = "sign-ups";

function countersOf({ purpose, recipient, accountId, page, caller, network }: LedgerRow): readonly Counter[] {
  const counters: Counter[] = [];
  const isInvite = accountId !== null && purpose === "invite";
  if (isInvite) counters.push(["invites", `invites ${accountId}`, AN_HOUR.invites, HOUR_MS]);
  if (page !== null) counters.push(["page", `page ${recipient} ${page}`, A_DAY.page, DAY_MS]);
  counters.push(["recipient", `${purpose} to ${recipient}`, A_DAY.recipient, DAY_MS]);
  if (caller !== null) counters.push(["caller", `caller ${caller}`, AN_HOUR.caller, HOUR_MS]);
  if (network !== null) counters.push(["caller", `network ${network}`, AN_HOUR.network, HOUR_MS]);
  if (accountId !== null) counters.push(["account", `account ${accountId}`, AN_HOUR.account, HOUR_MS]);
  return counters;
}

function totalsOf({ purpose }: LedgerRow): readonly Counter[] {
  if (purpose === "reset") return [];
  const all: Counter = ["service", ALL, AN_HOUR.service, HOUR_MS];
  return purpose === "sign_up" ? [["service", SIGN_UPS, AN_HOUR.signUps, HOUR_MS], all] : [all];
}

function toRows(
  encryption: Pick<Encryption, "digest">,
  mails: readonly CountedMail[],
  sentAt: Date,
): readonly LedgerRow[] {
  const digestOf = (text: string, of: "recipient" | "caller" | "network"): string =>
    Buffer.from(encryption.digest(text, `confirmation_ledger.${of}`)).toString("hex");
  return mails.map(({ purpose, email, accountId, page, caller }) => ({
    purpose,
    recipient: digestOf(addressKey(email), "recipient"),
    accountId,
    page,
    caller: caller === null ? null : digestOf(addressGroup(caller), "caller"),
    network: caller === null ? null : digestOf(addressNetwork(caller), "network"),
    sentAt,
  }));
}
