import type { Static } from "typebox";
import { parseParams } from "#shared/schema/schema.ts";
import { refuse, type FieldProblem, type Read } from "#shared/schema/problem.ts";
import { refuseProblem, type Written } from "#control-plane/http/written.ts";
import { BULK_OUTLINE, SET, SINGLE } from "#control-plane/monitors/bulk/fields.ts";
import { refuseSet } from "#control-plane/monitors/bulk/problems.ts";
import type { Given } from "#control-plane/monitors/settings/fields.ts";
import { readCodes, readEmails, readTags } from "#control-plane/monitors/settings/lists.ts";
import { readLocationItems } from "#control-plane/monitors/settings/location-items.ts";
import { findFurther } from "#control-plane/monitors/transfer/row.ts";

/** The fields that many monitors get. */
interface BulkSet {
  /** Fields as a change of one monitor has them. */
  readonly given: Given;
  readonly tagsAdd: readonly string[];
  readonly tagsRemove: readonly string[];
}

/** A change of many monitors. */
export interface BulkChange {
  /** Distinct ids, in the order of the answer. */
  readonly ids: readonly number[];
  readonly set: BulkSet;
  /** Says what would change, and changes nothing. */
  readonly isDryRun: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

/** Parses the body of a change of many. Every problem with its fields is reported at once. */
export function parseBulk(raw: Fields): Written<BulkChange> {
  const outline = parseParams(BULK_OUTLINE, raw, { from: "json", unknown: "refuse" });
  if (!outline.ok) return refuseProblem(outline.problem);
  const { ids, dry_run: isDryRun = false } = outline.value;
  const twice = findRepeated(ids);
  if (twice >= 0) {
    return refuseProblem({ field: `ids.${twice}`, reason: "duplicate", message: "is in the list already" });
  }
  const fields = outline.value.set as Fields;
  if (Object.keys(fields).length === 0) {
    return refuseProblem({ field: "set", reason: "range", message: "must have at least one field" });
  }
  const set = parseSet(fields);
  if (!set.ok) return refuseSet([set.problem, ...findFurther(fields, set.problem, parseSet)]);
  return { ok: true, value: { ids, set: set.value, isDryRun } };
}

/** Returns the first index whose id is in the list before; -1: none. */
function findRepeated(ids: readonly number[]): number {
  const seen = new Set<number>();
  return ids.findIndex((id) => seen.size === seen.add(id).size);
}

function parseSet(raw: Fields): Read<BulkSet> {
  for (const name of SINGLE) if (Object.hasOwn(raw, name)) return refuseSingle(name);
  const parsed = parseParams(SET, raw, { from: "json", unknown: "refuse" });
  if (!parsed.ok) return parsed;
  const { tags_add: add = [], tags_remove: remove = [], ...given } = parsed.value;
  if (given.composite?.monitor_ids !== undefined) return refuseSingle("composite.monitor_ids");
  const problem = findListProblem(given);
  if (problem !== null) return { ok: false, problem };
  const lists = readTagLists({ add, remove, isReplaced: given.tags !== undefined });
  return lists.ok ? { ok: true, value: { given, ...lists.value } } : lists;
}

function refuseSingle(field: string): Read<never> {
  const message = `says what one monitor is, and cannot be the same for many; allowed: ${ALLOWED}`;
  return refuse(field, "unknown", message);
}

const ALLOWED = Object.keys(SET.properties).join(", ");

/** Finds the first problem with lists that is one for every monitor. */
function findListProblem({ tags, notify_emails, expected_codes, locations }: Static<typeof SET>): FieldProblem | null {
  const read = [
    ...(tags === undefined ? [] : [readTags(tags)]),
    ...(notify_emails == null ? [] : [readEmails(notify_emails)]),
    ...(expected_codes == null ? [] : [readCodes(expected_codes)]),
    ...(locations === undefined ? [] : [readLocationItems(locations)]),
  ];
  const wrong = read.find(({ ok }) => !ok);
  return wrong?.ok === false ? wrong.problem : null;
}

function readTagLists({
  add,
  remove,
  isReplaced,
}: {
  readonly add: readonly string[];
  readonly remove: readonly string[];
  readonly isReplaced: boolean;
}): Read<Pick<BulkSet, "tagsAdd" | "tagsRemove">> {
  const read = { tags_add: readTags(add), tags_remove: readTags(remove) };
  for (const [field, list] of Object.entries(read)) {
    if (!list.ok) return { ok: false, problem: { ...list.problem, field: list.problem.field.replace("tags", field) } };
    if (isReplaced && list.value.length > 0) return refuse(field, "duplicate", "cannot be given with tags");
  }
  const both = remove.findIndex((tag) => add.includes(tag));
  if (both >= 0) return refuse(`tags_remove.${both}`, "duplicate", "is in tags_add too");
  return { ok: true, value: { tagsAdd: [...new Set(add)], tagsRemove: remove } };
}
