import { isCircle } from "#control-plane/composites/composites.ts";
import type { Transaction } from "#control-plane/database/connect.ts";
import { referencesOf } from "#control-plane/kinds/kinds.ts";
import type { MonitorDraft } from "#control-plane/kinds/monitor.ts";
import { refuseProblem, type Written } from "#control-plane/http/written.ts";
import { CYCLE } from "#control-plane/monitors/dependencies.ts";
import { readOwned } from "#control-plane/monitors/store.ts";

const FIELD = "composite.monitor_ids";

/**
 * Checks the monitors that a composite follows, and that it leads back to itself neither over those nor over what monitors
 * depend on. `present` is the monitor as it is; null: it is new; `least` is the least number of them. A list that does not change is not checked again: a
 * deleted monitor has left it.
 */
export async function vetMembers(
  tx: Transaction,
  { accountId, id }: { readonly accountId: number; readonly id: number | null },
  draft: MonitorDraft,
  { present, least }: { readonly present: MonitorDraft | null; readonly least: number },
): Promise<Written<null>> {
  const ids = referencesOf(draft.check_type, draft);
  const isKept = present?.check_type === draft.check_type && isSame(ids, referencesOf(present.check_type, present));
  const refuse = (reason: "required" | "range" | "unknown" | "duplicate", message: string, index?: number) =>
    refuseProblem({ field: index === undefined ? FIELD : `${FIELD}.${index}`, reason, message });
  if (draft.composite !== null && !isKept) {
    if (ids.length < least) {
      const message = `must have at least ${least} ids of monitors of your account`;
      return refuse(ids.length === 0 ? "required" : "range", message);
    }
    const twice = ids.findIndex((one, index) => ids.indexOf(one) < index);
    if (twice >= 0) return refuse("duplicate", "is in the list already", twice);
    const owned = await readOwned(tx, accountId, ids);
    const foreign = ids.findIndex((one) => !owned.has(one));
    if (foreign >= 0) return refuse("unknown", "no monitor of your account has this id", foreign);
  }
  if (id === null || (isKept && draft.depends_on === present.depends_on)) return { ok: true, value: null };
  const targets = draft.depends_on === null ? ids : [...ids, draft.depends_on];
  if (!(await isCircle(tx, accountId, id, targets))) return { ok: true, value: null };
  return isKept ? refuseProblem({ field: "depends_on", reason: "range", message: CYCLE }) : refuse("range", CYCLE);
}

function isSame(one: readonly number[], other: readonly number[]): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
