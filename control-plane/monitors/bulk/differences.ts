import { isRecord } from "#shared/is-record.ts";
import type { ChangedField } from "#control-plane/access/diff-shown.ts";
import { hasOptions } from "#control-plane/kinds/kinds.ts";
import type { MonitorDraft } from "#control-plane/kinds/monitor.ts";
import { secretPlaceOf } from "#control-plane/kinds/secrets.ts";

/** Shown in place of values that are secret or long. */
export const CHANGED = "changed";
/** Maximum length of a value that is shown, as JSON, in characters: an answer has thousands of them. */
export const LONGEST_SHOWN = 1_000;

/** Compares a monitor with its present fields, whose kind is the same. Returns those that differ, in their order. */
export function differencesOf(present: MonitorDraft, draft: MonitorDraft): readonly ChangedField[] {
  const { kind, field: secret } = secretPlaceOf(draft.check_type);
  const secrets = new Set(["request_headers", "body", ...(kind === null ? [] : [`${kind}.${secret}`])]);
  const after = flatten(draft);
  const before = flatten(present);
  return Array.from(after, ([field, value]) => compare(field, before.get(field), value, secrets.has(field))).filter(
    (change) => change !== null,
  );
}

/** Returns the fields of a monitor, those of its kind's own object by dotted names. */
function flatten(draft: MonitorDraft): ReadonlyMap<string, unknown> {
  const fields = Object.entries(draft).flatMap(([name, value]: readonly [string, unknown]) => {
    if (!hasOptions(name) || !isRecord(value)) return [[name, value] as const];
    return Object.entries(value).map(([part, inner]) => [`${name}.${part}`, inner] as const);
  });
  return new Map(fields);
}

function compare(field: string, before: unknown, after: unknown, isSecret: boolean): ChangedField | null {
  const [one, other] = [before, after].map((value) => JSON.stringify(value ?? null));
  if (one === other) return null;
  if (isSecret) return { field, before: CHANGED, after: CHANGED };
  const shown = (value: unknown, json = "") => (json.length > LONGEST_SHOWN ? CHANGED : (value ?? null));
  return { field, before: shown(before, one), after: shown(after, other) };
}
