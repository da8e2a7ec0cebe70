import type { Transaction } from "#control-plane/core/database/connect.ts";
import type { MonitorSecrets } from "#control-plane/outages/kinds/common.ts";
import { openSecrets } from "#control-plane/outages/kinds/secrets.ts";
import { listMonitorsAfter, type StoredMonitor } from "#control-plane/monitors/store.ts";
import { exportedNames } from "#control-plane/monitors/transfer/names.ts";
import type { Encryption } from "#control-plane/core/secrets/encryption.ts";

/** The monitors of an account, as the rows of a document can mean them. */
export interface OwnMonitors {
  readonly all: readonly StoredMonitor[];
  /** The monitor to which an export gives a name. */
  named(name: string): StoredMonitor | undefined;
  /** The secrets of the monitors with a name and a url; the name can be that of an export. */
  secretsOf(row: { readonly name: string; readonly url: string }): readonly MonitorSecrets[];
}

/** Number of monitors that are read at once. */
const STEP = 1_000;

/** Reads the monitors of an account. */
export async function readOwnMonitors(
  tx: Transaction,
  encryption: Encryption,
  accountId: number,
): Promise<OwnMonitors> {
  const all: StoredMonitor[] = [];
  for (let step = STEP; step === STEP;) {
    const read = await listMonitorsAfter(tx, accountId, all.at(-1)?.id ?? 0, STEP);
    all.push(...read);
    step = read.length;
  }
  const exported = exportedNames(all);
  const byName = new Map(all.map((monitor) => [exported.get(monitor.id) ?? monitor.name, monitor]));
  const byRow = new Map<string, StoredMonitor[]>();
  for (const monitor of all) {
    for (const name of new Set([monitor.name, exported.get(monitor.id) ?? monitor.name])) {
      const key = keyOf({ name, url: monitor.url });
      const same = byRow.get(key);
      if (same === undefined) byRow.set(key, [monitor]);
      else same.push(monitor);
    }
  }
  return {
    all,
    named: (name) => byName.get(name),
    secretsOf: (row) => (byRow.get(keyOf(row)) ?? []).map(({ secrets }) => openSecrets(encryption, secrets)),
  };
}

function keyOf({ name, url }: { readonly name: string; readonly url: string }): string {
  return JSON.stringify([name, url]);
}
