import type { Sql, Transaction } from "#control-plane/database/connect.ts";
import { transact } from "#control-plane/database/transaction.ts";
import {
  readEndedMails,
  settleAttempts,
  type EndedMail,
  type SettledAttempt,
} from "#control-plane/deliveries/store.ts";

/** What became of a notice about an incident that was to be mailed to a recipient. */
export interface MailedNotice extends Omit<EndedMail, "leaderId"> {
  readonly endedAt: Date;
}

/** Notes what became of mails about incidents, in the transaction that ends them. */
export type NoteMailed = (tx: Transaction, notices: readonly MailedNotice[]) => Promise<void>;

/** Stores the ends of attempts, and notes the mails that have ended with them. Rejects while the database is away. */
export async function settleAndNote(sql: Sql, settled: readonly SettledAttempt[], note: NoteMailed): Promise<void> {
  const isNoted = settled.some(({ channel, next }) => channel === "mail" && next.status !== "retrying");
  if (!isNoted) await settleAttempts(sql, settled);
  else await transact(sql, (tx) => settleInside(tx, settled, note));
}

/** The same in a transaction of the caller. */
export async function settleInside(
  tx: Transaction,
  settled: readonly SettledAttempt[],
  note: NoteMailed,
): Promise<void> {
  const stored = await settleAttempts(tx, settled);
  const ended = new Set(stored.flatMap(({ id, status }) => (status === "retrying" ? [] : id)));
  const times = settled.flatMap(({ id, channel, endedAt }) =>
    channel === "mail" && ended.has(id) ? [[id, endedAt] as const] : [],
  );
  await noteEnded(tx, new Map(times), note);
}

/** Notes the mails of deliveries that have ended. `ended` has their times by id. */
export async function noteEnded(tx: Transaction, ended: ReadonlyMap<number, Date>, note: NoteMailed): Promise<void> {
  if (ended.size === 0) return;
  const mails = await readEndedMails(tx, [...ended.keys()]);
  const notices = mails.flatMap(({ leaderId, ...mail }) => {
    const endedAt = ended.get(leaderId);
    return endedAt === undefined ? [] : { ...mail, endedAt };
  });
  if (notices.length > 0) await note(tx, notices);
}
