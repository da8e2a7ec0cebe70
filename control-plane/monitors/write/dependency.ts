import type { FieldProblem } from "#shared/schema/problem.ts";
import { reachedFrom } from "#control-plane/outages/composites.ts";
import type { Transaction } from "#control-plane/core/database/connect.ts";
import { childrenOf, CYCLE, findChainProblem } from "#control-plane/monitors/dependencies.ts";
import { refuseProblem, type Written } from "#control-plane/http/written.ts";
import { readDependencies, readOwned } from "#control-plane/monitors/store.ts";

/** Takes the place of the id of a monitor that has none yet. */
const NEW_ID = 0;

/** Checks that a monitor may depend on another one; `id` is null for a new monitor. */
export async function vetDependency(
  tx: Transaction,
  accountId: number,
  id: number | null,
  parent: number | null,
): Promise<Written<null>> {
  if (parent === null) return { ok: true, value: null };
  const refuse = (reason: "unknown" | "range", message: string) =>
    refuseProblem({ field: "depends_on", reason, message });
  if (!(await readOwned(tx, accountId, [parent])).has(parent)) {
    return refuse("unknown", "no monitor of your account has this id");
  }
  const parents = new Map(await readDependencies(tx, accountId));
  if (id !== null) parents.delete(id);
  const problem = findChainProblem(parents, id ?? NEW_ID, parent);
  return problem === null ? { ok: true, value: null } : refuse("range", problem);
}

/**
 * Checks that several monitors may depend on one of their account from now on, all at once. Returns why not, by the id of
 * each that may not.
 */
export async function findDependencyProblems(
  tx: Transaction,
  accountId: number,
  ids: readonly number[],
  parent: number,
): Promise<ReadonlyMap<number, FieldProblem>> {
  const parents = new Map(await readDependencies(tx, accountId));
  // What they depend on until now ends. No way back to one of them leads over another that has none itself.
  for (const id of ids) parents.delete(id);
  const children = childrenOf(parents);
  const reached = await reachedFrom(tx, accountId, [parent]);
  const problems = new Map<number, FieldProblem>();
  for (const id of ids) {
    const message = reached.has(id) ? CYCLE : findChainProblem(parents, id, parent, children);
    if (message !== null) problems.set(id, { field: "depends_on", reason: "range", message });
  }
  return problems;
}
