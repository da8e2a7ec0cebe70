import type { Change } from "#control-plane/access/changes.ts";
import { diffShown, type ChangedField } from "#control-plane/access/diff-shown.ts";
import type { MonitorSecrets } from "#control-plane/kinds/common.ts";
import type { CheckType } from "#control-plane/kinds/kinds.ts";
import { maskSecrets, openSecrets, secretPlaceOf } from "#control-plane/kinds/secrets.ts";
import { draftOf } from "#control-plane/monitors/draft.ts";
import type { StoredMonitor } from "#control-plane/monitors/store.ts";
import type { Encryption } from "#control-plane/secrets/encryption.ts";

/** Returns a change of a monitor for the log of changes. */
export function changeOf(
  { id, name }: { readonly id: number; readonly name: string },
  action: Change["action"],
  changed: readonly ChangedField[] = [],
): Change {
  return { resource: "monitor", id, name, action, changed };
}

/** Returns the fields of a monitor that a change has changed: those that users write. Secrets are masked. */
export function changedFields(
  encryption: Encryption,
  before: StoredMonitor,
  after: StoredMonitor,
): readonly ChangedField[] {
  const [one, other] = [openSecrets(encryption, before.secrets), openSecrets(encryption, after.secrets)];
  const [present, past] = [namedSecrets(after.checkType, other), namedSecrets(before.checkType, one)];
  const names = [...new Set([...present.keys(), ...past.keys()])];
  const secrets = names.filter((name) => present.get(name) !== past.get(name));
  return diffShown({ ...draftOf(before, maskSecrets(one)) }, { ...draftOf(after, maskSecrets(other)) }, secrets);
}

/** Returns the secrets of a monitor of a type by the dotted names of their fields. */
function namedSecrets(type: CheckType, { request_headers: values, body }: MonitorSecrets): ReadonlyMap<string, string> {
  const { prefix } = secretPlaceOf(type);
  const named = Object.entries(values).map(([name, value]) => [prefix + name, value] as const);
  return new Map(body === null ? named : [...named, ["body", body]]);
}
