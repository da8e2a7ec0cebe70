import type { MonitorDraft } from "#control-plane/monitors/monitor.ts";
import { draftOf } from "#control-plane/monitors/draft.ts";
import { maskSecrets, openSecrets } from "#control-plane/monitors/settings/secrets.ts";
import type { StoredMonitor } from "#control-plane/monitors/store.ts";
import type { Encryption } from "#control-plane/secrets/encryption.ts";

/** A row of the document; `depends_on` is the name of another row. */
export type ExportedRow = Omit<MonitorDraft, "depends_on"> & { readonly depends_on: string | null };

const LONGEST_NAME = 200;

/**
 * Returns monitors, oldest first, as rows of a document. Secrets are masked. Rows on which others depend get a name that
 * no other row has. A monitor that the service paused because of the plan is exported as its user wrote it: active.
 */
export function exportMonitors(encryption: Encryption, monitors: readonly StoredMonitor[]): readonly ExportedRow[] {
  const names = exportedNames(monitors);
  return monitors.map((monitor) => {
    const secrets = maskSecrets(openSecrets(encryption, monitor.secrets));
    const draft = draftOf(monitor, secrets);
    return {
      ...draft,
      name: names.get(monitor.id) ?? draft.name,
      is_active: draft.is_active || monitor.pausedReason === "plan",
      depends_on: draft.depends_on === null ? null : (names.get(draft.depends_on) ?? null),
    };
  });
}

/**
 * Returns the names that an export gives to the monitors on which others depend, by id. A name that others have too gets
 * the id appended.
 */
export function exportedNames(
  monitors: readonly Pick<StoredMonitor, "id" | "name" | "dependsOn">[],
): ReadonlyMap<number, string> {
  const uses = new Map<string, number>();
  for (const { name } of monitors) uses.set(name, (uses.get(name) ?? 0) + 1);
  const parents = new Set(monitors.map(({ dependsOn }) => dependsOn));
  const names = new Map<number, string>();
  for (const { id, name } of monitors) {
    if (!parents.has(id)) continue;
    let unique = name;
    for (let mark = ` (${id})`; (uses.get(unique) ?? 0) > (unique === name ? 1 : 0); mark += "'") {
      unique = `${name.slice(0, LONGEST_NAME - mark.length)}${mark}`;
    }
    uses.set(unique, (uses.get(unique) ?? 0) + 1);
    names.set(id, unique);
  }
  return names;
}
