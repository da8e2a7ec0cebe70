import { isRecord } from "#shared/text/is-record.ts";

/** A field that a change has given another value, as the API represents both; null if it was absent before, or is now. */
export interface ChangedField {
  /** Dotted name, such as `heartbeat.grace_seconds`. */
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** A resource in its API representation, or the fields of it that users write. */
type ResourceFields = Readonly<Record<string, unknown>>;

/** Maximum number of fields that are named for one change. */
const MOST_FIELDS = 50;
/** Maximum length of a value, in characters of its JSON; of a longer one the beginning is kept. */
export const MOST_VALUE = 1_000;
const KEPT = 900;
/** In place of both values of a secret. */
export const SECRET = "changed";

/**
 * Returns the fields that differ between two forms of a resource. Objects are compared field by field, lists as a whole.
 * `secretFields` are the dotted names of secrets that have changed: masks look the same before and after.
 */
export function diffResource(
  before: ResourceFields,
  after: ResourceFields,
  secretFields: readonly string[],
): readonly ChangedField[] {
  const shown = compare("", before, after, new Set(secretFields));
  return [...shown, ...secretFields.map(secretChange)].slice(0, MOST_FIELDS);
}

/** Returns the change of a field whose values are secret. */
export function secretChange(field: string): ChangedField {
  return { field, before: SECRET, after: SECRET };
}

function compare(
  prefix: string,
  before: ResourceFields,
  after: ResourceFields,
  secrets: ReadonlySet<string>,
): readonly ChangedField[] {
  const names = new Set([...Object.keys(after), ...Object.keys(before)]);
  return [...names].flatMap((name): readonly ChangedField[] => {
    const field = prefix + name;
    if (secrets.has(field)) return [];
    const [one = null, other = null] = [before[name], after[name]];
    if (isRecord(one) && isRecord(other)) return compare(`${field}.`, one, other, secrets);
    const [oneJson, otherJson] = [JSON.stringify(one), JSON.stringify(other)];
    if (oneJson === otherJson) return [];
    return [{ field, before: bounded(one, oneJson), after: bounded(other, otherJson) }];
  });
}

function bounded(value: unknown, json: string): unknown {
  if (json.length <= MOST_VALUE) return value;
  return `${json.slice(0, KEPT).toWellFormed()}... (the beginning of ${json.length} characters of JSON)`;
}
