import type { ChangedField } from "#control-plane/http/access/diff-resource.ts";
import type { Queryable, Transaction } from "#control-plane/core/database/connect.ts";
import { isSameAddress } from "#control-plane/core/mail-address.ts";
import { readListedEmails, readUnmailed } from "#control-plane/monitors/account-store.ts";
import { findMonitors, lockMonitors, updateMonitors } from "#control-plane/monitors/store.ts";
import type { WriteDeps } from "#control-plane/monitors/write/deps.ts";

/** A monitor that mails to an address of its list. */
interface MailedMonitor {
  readonly id: number;
  readonly name: string;
}

/** Lists the monitors of an account that have an address in their notify_emails, by name. */
export async function listMailedTo(
  sql: Queryable,
  accountId: number,
  email: string,
): Promise<readonly MailedMonitor[]> {
  const listed = await readListedEmails(sql, accountId);
  return listed
    .filter(({ emails }) => emails.some((one) => isSameAddress(one, email)))
    .map(({ id, name }) => ({ id, name }));
}

/**
 * Takes an address out of the notify_emails of the monitors of a locked account. A monitor that mailed to nobody else mails to
 * the address of the account from then on. Settings of before that are not allowed any more keep nothing from it. Returns
 * the monitors with what has changed, for the log of changes.
 */
export async function takeAddressOut(
  { clock, mail }: Pick<WriteDeps, "clock" | "mail">,
  tx: Transaction,
  accountId: number,
  email: string,
): Promise<readonly (MailedMonitor & { readonly changed: readonly ChangedField[] })[]> {
  const ids = (await listMailedTo(tx, accountId, email)).map(({ id }) => id);
  if (ids.length === 0) return [];
  await lockMonitors(tx, ids);
  const before = await findMonitors(tx, accountId, ids);
  const after = before.map((monitor) => {
    const others = (monitor.settings.notify_emails ?? []).filter((one) => !isSameAddress(one, email));
    return { ...monitor, settings: { ...monitor.settings, notify_emails: others.length === 0 ? null : others } };
  });
  await updateMonitors(tx, after, clock.now());
  if (after.some(({ settings }) => settings.notify_email && settings.notify_emails === null))
    await mail.recipients.ensureRecipients(tx, accountId, null);
  const unmailed = await readUnmailed(tx, accountId, [email]);
  if (unmailed.length > 0) await mail.recipients.withdrawRecipients(tx, accountId, unmailed);
  return before.map(({ id, name, settings }, index) => {
    const left = after[index]?.settings.notify_emails ?? null;
    return { id, name, changed: [{ field: "notify_emails", before: settings.notify_emails, after: left }] };
  });
}
