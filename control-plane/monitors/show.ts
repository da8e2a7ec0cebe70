import type { App } from "#control-plane/core/app.ts";
import { readMonitorStatuses } from "#control-plane/watching/checking/monitor-status.ts";
import { readMembers } from "#control-plane/outages/composites.ts";
import type { Queryable } from "#control-plane/core/database/connect.ts";
import { readExpiryDetails } from "#control-plane/watching/expiry/read/expiry-details.ts";
import type { HeartbeatFacts, Heartbeats } from "#control-plane/watching/heartbeats/heartbeats.ts";
import type { Statistics } from "#control-plane/outages/history/history.ts";
import { openSecrets } from "#control-plane/outages/kinds/secrets.ts";
import { addressKey } from "#control-plane/core/mail-address.ts";
import type { Mail } from "#control-plane/notify/mail/mail.ts";
import { readEmail } from "#control-plane/monitors/account-store.ts";
import type { StoredMonitor } from "#control-plane/monitors/store.ts";
import { showMonitor, type MonitorView, type NotifyFacts } from "#control-plane/monitors/serialize.ts";
import { readMonitorPictures, type MonitorPictures } from "#control-plane/watching/pictures/monitor-pictures.ts";
import type { Encryption } from "#control-plane/core/secrets/encryption.ts";

/** Dependencies of views. */
export interface ShowDeps extends Pick<App, "clock"> {
  readonly encryption: Encryption;
  readonly heartbeats: Heartbeats;
  readonly mail: Pick<Mail, "recipients" | "sender">;
}

/**
 * Returns at most 100 monitors of one account with what is known about them, in the same order. `statistics` are read
 * before a transaction begins: they use another connection.
 */
export async function showMonitors(
  { clock, encryption, heartbeats, mail }: ShowDeps,
  sql: Queryable,
  monitors: readonly StoredMonitor[],
  statistics: ReadonlyMap<number, Statistics> | Promise<ReadonlyMap<number, Statistics>>,
): Promise<readonly MonitorView[]> {
  if (monitors.length === 0) return [];
  const ids = monitors.map(({ id }) => id);
  const waiting = monitors.filter(({ checkType }) => checkType === "heartbeat").map(({ id }) => id);
  const visual = monitors.filter(({ checkType }) => checkType === "visual").map(({ id }) => id);
  const composites = monitors.filter(({ settings }) => settings.composite !== null).map(({ id }) => id);
  const [states, recipients, pinged, expiry, pictured, members, known] = await Promise.all([
    readMonitorStatuses(sql, ids),
    readRecipients(mail, sql, monitors),
    waiting.length === 0 ? new Map<number, HeartbeatFacts>() : heartbeats.facts(sql, waiting),
    readExpiryDetails(sql, ids, clock.now()),
    visual.length === 0 ? new Map<number, MonitorPictures>() : readMonitorPictures(sql, visual),
    readMembers(sql, composites),
    statistics,
  ]);
  return monitors.map((monitor) =>
    showMonitor(monitor, {
      secrets: openSecrets(encryption, monitor.secrets),
      state: states.get(monitor.id) ?? null,
      heartbeat: pinged.get(monitor.id) ?? null,
      expiry: expiry.get(monitor.id) ?? null,
      pictures: pictured.get(monitor.id) ?? null,
      members: members.get(monitor.id) ?? [],
      statistics: known.get(monitor.id) ?? null,
      notify: notifyFacts(monitor, recipients, mail.sender !== null),
    }),
  );
}

/** Receivers of the mail about monitors of one account. */
interface KnownRecipients {
  /** Address of the account. */
  readonly email: string | null;
  /** What is known of addresses, by the address as given. */
  readonly known: ReadonlyMap<string, { readonly confirmed: boolean; readonly unsubscribedAt: Date | null }>;
  /** Addresses to which mail fails, in their normal form. */
  readonly failing: ReadonlySet<string>;
}

async function readRecipients(
  { recipients }: Pick<Mail, "recipients">,
  sql: Queryable,
  monitors: readonly StoredMonitor[],
): Promise<KnownRecipients> {
  const accountId = monitors[0]?.accountId ?? 0;
  const email = await readEmail(sql, accountId);
  const all = [...new Set(monitors.flatMap((monitor) => recipientsOf(monitor, email)))];
  if (all.length === 0) return { email, known: new Map(), failing: new Set() };
  const [statuses, failing] = await Promise.all([
    recipients.statusOf(sql, accountId, all),
    recipients.failingOf(sql, accountId, all),
  ]);
  return { email, known: new Map(statuses.map((one) => [one.email, one])), failing };
}

/** Returns the addresses for mail about a monitor; `email` is that of the account. */
export function recipientsOf({ settings }: Pick<StoredMonitor, "settings">, email: string | null): readonly string[] {
  return settings.notify_emails ?? (email === null ? [] : [email]);
}

function notifyFacts(monitor: StoredMonitor, recipients: KnownRecipients, isConfigured: boolean): NotifyFacts {
  const shown = recipientsOf(monitor, recipients.email).map((email) => {
    const { confirmed = false, unsubscribedAt = null } = recipients.known.get(email) ?? {};
    return { email, confirmed, unsubscribed_at: unsubscribedAt?.toISOString() ?? null };
  });
  const mailed = shown.filter((one) => one.confirmed && one.unsubscribed_at === null).map((one) => one.email);
  const isFailing = mailed.some((email) => recipients.failing.has(addressKey(email)));
  return { notify_emails: shown, notify_state: notifyState(monitor, { isConfigured, mailed, isFailing }) };
}

/** Returns whether anybody is mailed: the first that holds. `mailed` are the addresses that get mail. */
function notifyState(
  { settings }: StoredMonitor,
  facts: { readonly isConfigured: boolean; readonly mailed: readonly string[]; readonly isFailing: boolean },
): NotifyFacts["notify_state"] {
  if (!settings.notify_email) return "off";
  if (!facts.isConfigured) return "mail_not_configured";
  if (facts.mailed.length === 0) return "no_recipient";
  return facts.isFailing ? "mail_failing" : "ok";
}
