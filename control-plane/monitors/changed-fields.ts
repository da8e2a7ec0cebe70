import type { Change } from "#control-plane/http/access/changes.ts";
import { diffResource, type ChangedField } from "#control-plane/http/access/diff-resource.ts";
import type { MonitorDraft } from "#control-plane/outages/kinds/monitor.ts";
import { maskSecrets, secretNameOf, secretsOf, withSecrets } from "#control-plane/outages/kinds/secrets.ts";

/** Returns a change of a monitor for the log of changes. */
export function changeOf(
  { id, name }: { readonly id: number; readonly name: string },
  action: Change["action"],
  changed: readonly ChangedField[] = [],
): Change {
  return { resource: "monitor", id, name, action, changed };
}

/**
 * Returns the fields that differ between two forms of a monitor: those that users write. A secret has its name alone, such
 * as `request_headers.X-Api-Key`.
 */
export function differencesOf(present: MonitorDraft, draft: MonitorDraft): readonly ChangedField[] {
  const [before, after] = [namedSecrets(present), namedSecrets(draft)];
  const names = [...new Set([...after.keys(), ...before.keys()])];
  const secrets = names.filter((name) => after.get(name) !== before.get(name));
  return diffResource({ ...masked(present) }, { ...masked(draft) }, secrets);
}

/** Returns the secrets of a monitor by the dotted names of their fields. */
function namedSecrets(draft: MonitorDraft): ReadonlyMap<string, string> {
  const { request_headers: values, body } = secretsOf(draft);
  const named = Object.entries(values).map(([name, value]) => [secretNameOf(draft.check_type, name), value] as const);
  return new Map(body === null ? named : [...named, ["body", body]]);
}

function masked(draft: MonitorDraft): MonitorDraft {
  const { request_headers: values, body } = maskSecrets(secretsOf(draft));
  return { ...withSecrets(draft, draft.check_type, values), body };
}
