import { isRecord } from "#shared/is-record.ts";
import type { Transaction } from "#control-plane/database/connect.ts";
import { findChainProblem } from "#control-plane/monitors/dependencies.ts";
import type { MonitorDraft } from "#control-plane/monitors/monitor.ts";
import { refuseGone, refuseInside, refuseProblem, type Written } from "#control-plane/monitors/refusal.ts";
import { parseCreation } from "#control-plane/monitors/settings/parse.ts";
import { lockAccount } from "#control-plane/monitors/account/store.ts";
import { vetCreation, type VetContext } from "#control-plane/monitors/vet.ts";
import { insertDrafts, refuseOverAllowance } from "#control-plane/monitors/write/create.ts";
import { vetContext, type WriteDeps } from "#control-plane/monitors/write/deps.ts";

/** A checked row; `parent` is the index of the row it depends on. */
interface CheckedRow {
  readonly draft: MonitorDraft;
  readonly parent: number | null;
}

/**
 * Creates the monitors of a document, all or none. Returns their ids in the order of the rows; none for a dry run, which
 * makes the same checks.
 */
export async function importMonitors(
  deps: WriteDeps,
  tx: Transaction,
  accountId: number,
  rows: readonly unknown[],
  isDryRun: boolean,
): Promise<Written<readonly number[]>> {
  const account = await lockAccount(tx, accountId);
  if (account === null) return refuseGone();
  const plan = deps.plans[account.plan];
  const full = refuseOverAllowance(account, plan, rows.length);
  if (full !== null) return full;
  const checked = checkRows({ ...vetContext(deps), accountId, plan }, rows);
  if (!checked.ok) return checked;
  return { ok: true, value: isDryRun ? [] : await insertDrafts(deps, tx, account, checked.value) };
}

/** Checks every row, then how rows depend on each other. */
function checkRows(context: VetContext, rows: readonly unknown[]): Written<readonly CheckedRow[]> {
  const drafts: MonitorDraft[] = [];
  const parents: (string | null)[] = [];
  for (const [index, row] of rows.entries()) {
    const path = pathOf(index);
    if (!isRecord(row)) return refuseProblem({ field: path, reason: "type", message: "must be an object" });
    const { depends_on: parent = null, ...fields } = row;
    if (parent !== null && typeof parent !== "string") {
      const message = "must be the name of another row, or null";
      return refuseProblem({ field: `${path}.depends_on`, reason: "type", message });
    }
    const given = parseCreation(fields, "current");
    if (!given.ok) {
      const { problem } = given;
      return refuseProblem({ ...problem, field: `${path}.${problem.field}` });
    }
    const vetted = vetCreation(context, given.value);
    if (!vetted.ok) return refuseInside(path, vetted.refusal);
    drafts.push(vetted.value);
    parents.push(parent);
  }
  return linkRows(drafts, parents);
}

/** Replaces the names of rows by their indexes. */
function linkRows(drafts: readonly MonitorDraft[], names: readonly (string | null)[]): Written<readonly CheckedRow[]> {
  const named = Map.groupBy(drafts.keys(), (index) => drafts[index]?.name);
  const parents = new Map<number, number>();
  const linked: CheckedRow[] = [];
  for (const [index, draft] of drafts.entries()) {
    const name = names[index] ?? null;
    if (name === null) {
      linked.push({ draft, parent: null });
      continue;
    }
    const field = `${pathOf(index)}.depends_on`;
    const [parent, other] = named.get(name.trim()) ?? [];
    if (parent === undefined) {
      return refuseProblem({ field, reason: "unknown", message: "no row of the document has this name" });
    }
    if (other !== undefined) {
      return refuseProblem({ field, reason: "duplicate", message: "more than one row of the document has this name" });
    }
    const problem = findChainProblem(parents, index, parent);
    if (problem !== null) return refuseProblem({ field, reason: "range", message: problem });
    parents.set(index, parent);
    linked.push({ draft, parent });
  }
  return { ok: true, value: linked };
}

function pathOf(index: number): string {
  return `monitors.${index}`;
}
