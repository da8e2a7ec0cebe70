import type { Transaction } from "#control-plane/core/database/connect.ts";
import type { MailedNotice } from "#control-plane/notify/deliveries/notes.ts";
import { describeDuration } from "#shared/text/duration.ts";
import { toPlainLine } from "#shared/text/plain-line.ts";
import { serviceEntry } from "#control-plane/outages/incidents/entry.ts";
import { insertMailed } from "#control-plane/outages/incidents/entries-store.ts";

/** What mails are about, by the type of their event; others are about the incident. */
const SUBJECTS: Readonly<Record<string, string>> = {
  "monitor.down": "the outage",
  "monitor.up": "the recovery",
  reminder: "the lasting outage",
};

/** Maximum number of lines about mails in a timeline, and of those about reminders: they leave room for the recovery. */
const MOST_MAILED = { all: 300, reminders: 200 };
const MOST_TEXT = 500;

/**
 * Adds to the timelines of incidents who was mailed and who could not be: one line for each recipient and notice, and one
 * before it when the mail is late. An incident that is gone is left out, and so are the lines beyond MOST_MAILED.
 */
export function noteMailed(tx: Transaction, notices: readonly MailedNotice[]): Promise<void> {
  const entries = notices.map((notice) => ({
    ...serviceEntry(kindOf(notice), notice.endedAt, describe(notice)),
    incidentId: notice.incidentId,
    isReminder: notice.type === "reminder",
  }));
  return insertMailed(tx, entries, MOST_MAILED);
}

function kindOf({ status, nextAttemptAt }: MailedNotice): "mailed" | "mail_delayed" | "mail_failed" {
  return status === "delivered" ? "mailed" : nextAttemptAt === null ? "mail_failed" : "mail_delayed";
}

function describe(notice: MailedNotice): string {
  const { type, recipient, status, attempts, error, endedAt, nextAttemptAt } = notice;
  const mail = `Mail about ${Object.hasOwn(SUBJECTS, type) ? SUBJECTS[type] : "the incident"}`;
  const why = error === null ? "" : `: ${error}`;
  const tries = attempts === 1 ? "" : ` at attempt ${attempts}`;
  if (nextAttemptAt !== null) {
    const wait = describeDuration(nextAttemptAt.getTime() - endedAt.getTime());
    const counted = attempts === 1 ? "1 attempt" : `${attempts} attempts`;
    return toPlainLine(`${mail} to ${recipient} is not sent after ${counted}; the next is in ${wait}${why}`, MOST_TEXT);
  }
  const text =
    status === "delivered"
      ? `${mail} sent to ${recipient}${tries}`
      : status === "failed"
        ? `${mail} to ${recipient} failed${tries}${why}`
        : `${mail} to ${recipient} given up after ${attempts} ${attempts === 1 ? "attempt" : "attempts"}${why}`;
  return toPlainLine(text, MOST_TEXT);
}
