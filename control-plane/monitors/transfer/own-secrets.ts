import type { Transaction } from "#control-plane/database/connect.ts";
import type { MonitorSecrets } from "#control-plane/monitors/monitor.ts";
import { openSecrets } from "#control-plane/monitors/settings/secrets.ts";
import { listMonitorsAfter, type StoredMonitor } from "#control-plane/monitors/store.ts";
import { exportedNames } from "#control-plane/monitors/transfer/export.ts";
import type { Encryption } from "#control-plane/secrets/encryption.ts";

/** Returns the secrets of the monitors with a name and a url. */
type OwnSecrets = (row: { readonly name: string; readonly url: string }) => readonly MonitorSecrets[];

/** Number of monitors that are read at once. */
const STEP = 1_000;

/** Reads the secrets of an account's monitors, by the names that they have and those that an export gives them. */
export async function readOwnSecrets(tx: Transaction, encryption: Encryption, accountId: number): Promise<OwnSecrets> {
  const monitors: StoredMonitor[] = [];
  for (let step = STEP; step === STEP;) {
    const read = await listMonitorsAfter(tx, accountId, monitors.at(-1)?.id ?? 0, STEP);
    monitors.push(...read);
    step = read.length;
  }
  const exported = exportedNames(monitors);
  const byRow = new Map<string, StoredMonitor[]>();
  for (const monitor of monitors) {
    for (const name of new Set([monitor.name, exported.get(monitor.id) ?? monitor.name])) {
      const key = keyOf({ name, url: monitor.url });
      const same = byRow.get(key);
      if (same === undefined) byRow.set(key, [monitor]);
      else same.push(monitor);
    }
  }
  return (row) => (byRow.get(keyOf(row)) ?? []).map(({ secrets }) => openSecrets(encryption, secrets));
}

function keyOf({ name, url }: { readonly name: string; readonly url: string }): string {
  return JSON.stringify([name, url]);
}
