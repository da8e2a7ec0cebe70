import type { Queryable } from "#control-plane/database/connect.ts";
import type { MonitorPorts, Statistics } from "#control-plane/monitors/ports.ts";
import { openSecrets } from "#control-plane/monitors/settings/secrets.ts";
import { readEmail, type StoredMonitor } from "#control-plane/monitors/store.ts";
import { showMonitor, type MonitorView, type NotifyFacts } from "#control-plane/monitors/view.ts";
import type { Encryption } from "#control-plane/secrets/encryption.ts";

/** Dependencies of views. */
interface ShowDeps {
  readonly ports: Pick<MonitorPorts, "knowledge" | "mail">;
  readonly encryption: Encryption;
}

/**
 * Returns at most 100 monitors of one account with what is known about them, in the same order. `statistics` are read
 * before a transaction begins: they use another connection.
 */
export async function showMonitors(
  { ports, encryption }: ShowDeps,
  sql: Queryable,
  monitors: readonly StoredMonitor[],
  statistics: ReadonlyMap<number, Statistics>,
): Promise<readonly MonitorView[]> {
  const [first] = monitors;
  if (first === undefined) return [];
  const { accountId } = first;
  const states = await ports.knowledge.states(
    sql,
    monitors.map(({ id }) => id),
  );
  const email = await readEmail(sql, accountId);
  const recipients = new Map(monitors.map((monitor) => [monitor.id, recipientsOf(monitor, email)] as const));
  const all = [...new Set([...recipients.values()].flat())];
  const confirmed = new Set(
    (await ports.mail.statusOf(sql, accountId, all))
      .filter((one) => one.confirmed)
      .map((one) => one.email.toLowerCase()),
  );
  return monitors.map((monitor) =>
    showMonitor(monitor, {
      secrets: openSecrets(encryption, monitor.secrets),
      state: states.get(monitor.id) ?? null,
      statistics: statistics.get(monitor.id) ?? null,
      notify: notifyFacts(recipients.get(monitor.id) ?? [], confirmed, ports.mail.isConfigured),
    }),
  );
}

/** Returns the addresses for mail about a monitor; `email` is that of the account. */
export function recipientsOf({ settings }: Pick<StoredMonitor, "settings">, email: string | null): readonly string[] {
  return settings.notify_emails ?? (email === null ? [] : [email]);
}

function notifyFacts(emails: readonly string[], confirmed: ReadonlySet<string>, isConfigured: boolean): NotifyFacts {
  const shown = emails.map((email) => ({ email, confirmed: confirmed.has(email.toLowerCase()) }));
  const state = shown.some((one) => one.confirmed) ? "ok" : "no_recipient";
  return { notify_emails: shown, notify_state: isConfigured ? state : "mail_not_configured" };
}
