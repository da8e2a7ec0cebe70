import type { FieldProblem } from "#shared/schema/problem.ts";
import { reachedFrom, reachOf, type Links } from "#control-plane/outages/composites.ts";
import type { Transaction } from "#control-plane/core/database/connect.ts";
import { referencesOf } from "#control-plane/outages/kinds/kinds.ts";
import type { MonitorDraft } from "#control-plane/outages/kinds/monitor.ts";
import { refuseProblem, type Written } from "#control-plane/http/written.ts";
import { CYCLE } from "#control-plane/monitors/dependencies.ts";
import { readOwned } from "#control-plane/monitors/store.ts";

const FIELD = "composite.monitor_ids";

/**
 * Checks the monitors that a composite follows, and that it leads back to itself neither over those nor over what monitors
 * depend on. `present` is the monitor as it is; null if it is new; `least` is the least number of them. A list that does not change is not checked again: a
 * deleted monitor has left it.
 */
export async function vetMembers(
  tx: Transaction,
  { accountId, id }: { readonly accountId: number; readonly id: number | null },
  draft: MonitorDraft,
  { present, least }: { readonly present: MonitorDraft | null; readonly least: number },
): Promise<Written<null>> {
  const ids = referencesOf(draft.check_type, draft);
  const isKept = areKept(present, draft);
  const refuse = (reason: "required" | "range" | "unknown", message: string, index?: number) =>
    refuseProblem({ field: index === undefined ? FIELD : `${FIELD}.${index}`, reason, message });
  if (draft.composite !== null && !isKept) {
    if (ids.length < least) {
      const message = `must have at least ${least} ids of monitors of your account`;
      return refuse(ids.length === 0 ? "required" : "range", message);
    }
    const repeated = findRepeated(ids);
    if (repeated !== null) return refuseProblem(repeated);
    const owned = await readOwned(tx, accountId, ids);
    const foreign = ids.findIndex((one) => !owned.has(one));
    if (foreign >= 0) return refuse("unknown", "no monitor of your account has this id", foreign);
  }
  if (id === null || (isKept && draft.depends_on === present?.depends_on)) return { ok: true, value: null };
  const isCircle = (await reachedFrom(tx, accountId, targetsOf(draft))).has(id);
  return isCircle ? refuseProblem(circleProblem(isKept)) : { ok: true, value: null };
}

/**
 * Finds what is wrong with the monitors that locked monitors of one account follow and depend on, all changed at once:
 * `links` are those of the account before. The monitors that are named exist, and no chain of dependencies is too long.
 * Returns the problems by the id of each.
 */
export function findLinkProblems(
  links: Links,
  changes: readonly { readonly id: number; readonly present: MonitorDraft; readonly draft: MonitorDraft }[],
): ReadonlyMap<number, FieldProblem> {
  const problems = new Map<number, FieldProblem>();
  const after = new Map(links);
  // What they lead to until now ends: a circle halfway is none.
  for (const { id } of changes) after.delete(id);
  for (const { id, present, draft } of changes) {
    const isKept = areKept(present, draft);
    const targets = targetsOf(draft);
    const leadsOn = isKept && draft.depends_on === present.depends_on;
    const repeated = isKept ? null : findRepeated(referencesOf(draft.check_type, draft));
    if (repeated !== null) problems.set(id, repeated);
    else if (!leadsOn && reachOf(after, targets).has(id)) problems.set(id, circleProblem(isKept));
    else after.set(id, targets);
  }
  return problems;
}

/** Reports whether a composite follows what it followed before; a monitor of another kind follows nothing. */
function areKept(present: MonitorDraft | null, draft: MonitorDraft): boolean {
  if (present === null || present.check_type !== draft.check_type) return false;
  return isSame(referencesOf(draft.check_type, draft), referencesOf(present.check_type, present));
}

/** Returns what a monitor leads to: what it follows, and on what it depends. */
function targetsOf(draft: MonitorDraft): readonly number[] {
  const ids = referencesOf(draft.check_type, draft);
  return draft.depends_on === null ? ids : [...ids, draft.depends_on];
}

function findRepeated(ids: readonly number[]): FieldProblem | null {
  const twice = ids.findIndex((one, index) => ids.indexOf(one) < index);
  return twice < 0 ? null : { field: `${FIELD}.${twice}`, reason: "duplicate", message: "is in the list already" };
}

function circleProblem(areMembersKept: boolean): FieldProblem {
  return { field: areMembersKept ? "depends_on" : FIELD, reason: "range", message: CYCLE };
}

function isSame(one: readonly number[], other: readonly number[]): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
