import type { MonitorDraft } from "#control-plane/outages/kinds/monitor.ts";
import { draftOf } from "#control-plane/monitors/draft.ts";
import type { CompositeSettings } from "#control-plane/outages/kinds/composite.ts";
import type { TcpSettings } from "#control-plane/outages/kinds/tcp.ts";
import { openSecrets } from "#control-plane/outages/kinds/secrets.ts";
import type { StoredMonitor } from "#control-plane/monitors/store.ts";
import { exportedNames } from "#control-plane/monitors/transfer/names.ts";
import { leaveOutSecrets } from "#control-plane/monitors/transfer/row-secrets.ts";
import type { Encryption } from "#control-plane/core/secrets/encryption.ts";

/** A row of the document, in which other monitors are the names of their rows. */
type ExportedRow = Omit<MonitorDraft, "depends_on" | "composite" | "tcp"> & {
  readonly depends_on: string | null;
  readonly composite: (Omit<CompositeSettings, "monitor_ids"> & { readonly monitors: readonly string[] }) | null;
  readonly tcp: Omit<TcpSettings, "send_limited"> | null;
  /** Absent if the row has all its secrets. */
  readonly secrets_missing?: readonly string[];
};

/** Monitors as rows of a document, and the name that each has there. */
export interface ExportedMonitors {
  readonly rows: readonly ExportedRow[];
  /** By id. */
  readonly names: ReadonlyMap<number, string>;
}

/**
 * Returns monitors, oldest first, as rows of a document. Each gets a name that no other row has. A monitor that the
 * service paused because of the plan is exported as its user wrote it: active.
 */
export function exportMonitors(
  encryption: Encryption,
  monitors: readonly StoredMonitor[],
  withSecrets: boolean,
): ExportedMonitors {
  const names = exportedNames(monitors);
  const rows = monitors.map((monitor): ExportedRow => {
    const secrets = openSecrets(encryption, monitor.secrets);
    const { secrets_missing: missing, ...shown } = leaveOutSecrets(secrets, monitor.checkType);
    const draft = draftOf(monitor, withSecrets ? secrets : shown);
    return {
      ...draft,
      composite: nameMembers(draft.composite, names),
      tcp: writableTcp(draft.tcp),
      name: names.get(monitor.id) ?? draft.name,
      is_active: draft.is_active || monitor.pausedReason === "plan",
      depends_on: draft.depends_on === null ? null : (names.get(draft.depends_on) ?? null),
      ...(withSecrets || missing.length === 0 ? {} : { secrets_missing: missing }),
    };
  });
  return { rows, names };
}

function writableTcp(tcp: TcpSettings | null): ExportedRow["tcp"] {
  if (tcp === null) return null;
  const { send_limited: _readOnly, ...writable } = tcp;
  return writable;
}

function nameMembers(composite: CompositeSettings | null, names: ExportedMonitors["names"]): ExportedRow["composite"] {
  if (composite === null) return null;
  const { monitor_ids: ids, ...rule } = composite;
  return { monitors: ids.flatMap((id) => names.get(id) ?? []), ...rule };
}
