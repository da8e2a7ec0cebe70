import type { Sql, Transaction } from "#control-plane/core/database/connect.ts";
import { transact } from "#control-plane/core/database/transaction.ts";
import {
  readNotedMails,
  settleAttempts,
  type NotedMail,
  type SettledAttempt,
} from "#control-plane/notify/deliveries/store.ts";

/** What became of a notice about an incident that was to be mailed to a recipient. */
export interface MailedNotice extends Omit<NotedMail, "leaderId"> {
  readonly endedAt: Date;
  /** When the next attempt of a mail that is late is made; null if there is none. */
  readonly nextAttemptAt: Date | null;
}

type Times = Pick<MailedNotice, "endedAt" | "nextAttemptAt">;

/** Notes what became of mails about incidents, in the transaction that ends them or finds them late. */
export type NoteMailed = (tx: Transaction, notices: readonly MailedNotice[]) => Promise<void>;

/** Stores the ends of attempts, and notes the mails that have ended with them or are late. Rejects while the database is away. */
export async function settleAndNote(sql: Sql, settled: readonly SettledAttempt[], note: NoteMailed): Promise<void> {
  if (settled.some(isNoted)) await transact(sql, (tx) => settleInside(tx, settled, note));
  else await settleAttempts(sql, settled);
}

function isNoted({ channel, next, isPutOff = false }: SettledAttempt): boolean {
  return channel === "mail" && (next.status !== "retrying" || isPutOff);
}

/** The same in a transaction of the caller. */
export async function settleInside(
  tx: Transaction,
  settled: readonly SettledAttempt[],
  note: NoteMailed,
): Promise<void> {
  const stored = new Set((await settleAttempts(tx, settled)).map(({ id }) => id));
  const times = settled.flatMap((one) => {
    const { id, endedAt, next } = one;
    return stored.has(id) && isNoted(one) ? [[id, { endedAt, nextAttemptAt: next.nextAttemptAt }] as const] : [];
  });
  await noteMails(tx, new Map(times), note);
}

/** Notes the mails of deliveries that have ended or are late, by id. */
export async function noteMails(tx: Transaction, times: ReadonlyMap<number, Times>, note: NoteMailed): Promise<void> {
  if (times.size === 0) return;
  const mails = await readNotedMails(tx, [...times.keys()]);
  const notices = mails.flatMap(({ leaderId, ...mail }) => {
    const of = times.get(leaderId);
    return of === undefined ? [] : { ...mail, ...of };
  });
  if (notices.length > 0) await note(tx, notices);
}
