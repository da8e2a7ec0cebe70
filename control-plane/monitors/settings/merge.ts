import { type FieldProblem, refuse, type Read } from "#shared/schema/problem.ts";
import { hasOptions, kindOf, optionsOf, type CheckType } from "#control-plane/outages/kinds/kinds.ts";
import type { JsonCondition } from "#control-plane/outages/kinds/common.ts";
import type { MonitorDraft } from "#control-plane/outages/kinds/monitor.ts";
import { checkTypesOf, defaultDraft } from "#control-plane/outages/kinds/defaults.ts";
import type { Given } from "#control-plane/monitors/settings/fields.ts";
import { readCodes, readEmails, readTags } from "#control-plane/monitors/settings/lists.ts";
import { readHeaders } from "#control-plane/monitors/settings/headers.ts";
import { readLocationItems } from "#control-plane/monitors/settings/location-items.ts";
import { MASK } from "#control-plane/outages/kinds/mask.ts";
import { hiddenProblem } from "#shared/text/hidden-characters.ts";

/**
 * Applies fields to a monitor: its defaults for a creation, its present values for a change. Rules between fields are
 * checked by `findConflict`. A field of another check type is refused unless it has its default value, so that a record
 * can be sent back as it was read. With a new check type, fields of the old one return to their defaults.
 */
export function mergeGiven(present: MonitorDraft, given: Given): Read<MonitorDraft> {
  const checkType = given.check_type ?? present.check_type;
  const defaults = defaultDraft(checkType, 1);
  const base = { ...present, ...lostFields(present.check_type, defaults), check_type: checkType };
  const foreign = findForeign(given, defaults);
  if (foreign !== null) return { ok: false, problem: foreign };
  const changes: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(given)) {
    if (value === undefined || !belongs(field as keyof MonitorDraft, checkType)) continue;
    const read = readField(field as keyof MonitorDraft, value, base);
    if (!read.ok) return read;
    changes[field] = read.value;
  }
  const draft = followInterval({ ...base, ...changes }, present, given);
  return { ok: true, value: draft.name === "" ? { ...draft, name: nameOf(draft) } : draft };
}

/** Reads one field beyond its schema: rules, normal forms, and masks of secrets. */
function readField(field: keyof MonitorDraft, value: unknown, present: MonitorDraft): Read<unknown> {
  switch (field) {
    case "name":
      return readName(String(value), present.name);
    case "tags":
      return readTags(value as readonly string[]);
    case "locations":
      return readLocationItems(value as readonly string[]);
    case "expected_codes":
      return value === null ? { ok: true, value } : readCodes(value as readonly (number | string)[]);
    case "notify_emails":
      return value === null ? { ok: true, value } : readEmails(value as NonNullable<Given["notify_emails"]>);
    case "request_headers":
      return readHeaders(value as Readonly<Record<string, string>>, present.request_headers);
    case "body":
      return readBody(value as string | null, present.body);
    case "quorum":
      return readQuorum(value);
    case "json":
      return { ok: true, value: value === null ? null : completeJson(value as NonNullable<Given["json"]>) };
    default:
      return hasOptions(field) ? readOptions(value, present) : { ok: true, value };
  }
}

function readName(given: string, present: string): Read<string> {
  const name = given.trim();
  // A record that was stored before a rule for names can still be sent back.
  if (name === present && name !== "") return { ok: true, value: name };
  if (name === "") return refuse("name", "range", "must have 1 to 200 characters");
  const problem = hiddenProblem(name);
  return problem === null ? { ok: true, value: name } : refuse("name", "type", problem);
}

function readBody(given: string | null, stored: string | null): Read<string | null> {
  if (given !== MASK) return { ok: true, value: given === "" ? null : given };
  return stored === null ? refuse("body", "type", MASKED) : { ok: true, value: stored };
}

/** Reads majority or a number of locations; how many there are is checked with the other fields. */
function readQuorum(given: unknown): Read<"majority" | number> {
  if (given === "majority") return { ok: true, value: given };
  const number = typeof given === "string" && /^\d{1,2}$/.test(given) ? Number(given) : given;
  if (typeof number === "number" && Number.isInteger(number) && number >= 1) return { ok: true, value: number };
  return refuse("quorum", typeof given === "number" ? "range" : "type", "must be majority, or a number of at least 1");
}

const MASKED = `${MASK} is what responses show in place of a secret; give the value itself`;

function completeJson({ path, op, value = null }: NonNullable<Given["json"]>): JsonCondition {
  return { path, op, value };
}

/** Applies the object of the monitor's kind to the present one. */
function readOptions(given: unknown, present: MonitorDraft): Read<unknown> {
  const { check_type: type, interval_minutes: interval } = present;
  const { options } = kindOf(type);
  if (options === null) return { ok: true, value: null };
  return options.read(given, optionsOf(type, present), options.defaults(interval));
}

/** Carries a new interval, or a new kind, over to the options that depend on the interval. */
function followInterval(draft: MonitorDraft, present: MonitorDraft, given: Given): MonitorDraft {
  const { check_type: type, interval_minutes: interval } = draft;
  const { options } = kindOf(type);
  const isKept = interval === present.interval_minutes && optionsOf(type, present) !== null;
  if (options === null || isKept) return draft;
  const own = (given as Readonly<Record<string, unknown>>)[type] ?? null;
  return { ...draft, [type]: options.follow(optionsOf(type, draft), interval, own) };
}

/** Returns a problem with the first given field that the check type does not have. */
function findForeign(given: Given, defaults: MonitorDraft): FieldProblem | null {
  for (const [name, value] of Object.entries(given)) {
    const field = name as keyof MonitorDraft;
    if (belongs(field, defaults.check_type) || value === undefined || isSame(value, defaults[field])) continue;
    const types = checkTypesOf(field)?.join(" and ") ?? "";
    const message = `is only for check_type ${types}; the check_type of this monitor is ${defaults.check_type}`;
    return { field, reason: "unknown", message };
  }
  return null;
}

function belongs(field: keyof MonitorDraft, checkType: CheckType): boolean {
  return checkTypesOf(field)?.includes(checkType) ?? true;
}

/** Returns the defaults of the fields that not both check types have. */
function lostFields(before: CheckType, defaults: MonitorDraft): Partial<MonitorDraft> {
  const isKept = (name: string) => {
    const field = name as keyof MonitorDraft;
    return belongs(field, before) && belongs(field, defaults.check_type);
  };
  return Object.fromEntries(Object.entries(defaults).filter(([name]) => !isKept(name)));
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/**
 * Returns the name of a monitor without one: host and path of its target, printable and cut. The query can hold a secret,
 * and names are on status pages and in metrics.
 */
function nameOf({ url, check_type: checkType }: MonitorDraft): string {
  const [bare = ""] = url
    .trim()
    .replace(/^[a-z]+:\/\//i, "")
    .split(/[?#]/, 1);
  const name = hiddenProblem(bare) === null ? bare.slice(0, 200) : "";
  return name.isWellFormed() && name !== "" ? name : kindOf(checkType).words.nameless;
}
