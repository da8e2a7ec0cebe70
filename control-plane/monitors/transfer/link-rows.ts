import type { RowProblem } from "#control-plane/accounts/document-part.ts";
import { findChainProblem } from "#control-plane/monitors/dependencies.ts";
import type { StoredMonitor } from "#control-plane/monitors/store.ts";
import type { CheckedRows } from "#control-plane/monitors/transfer/check-rows.ts";
import { problemAt } from "#control-plane/monitors/transfer/problems.ts";

/** On which rows the rows of a document depend. */
export interface LinkedRows {
  /** Index of the row on which each depends; null: on none; undefined: as its monitor does now. */
  readonly parents: readonly (number | null | undefined)[];
  /** Indexes of the rows that each follows; undefined: those of its monitor now. */
  readonly members: readonly (readonly number[] | undefined)[];
  readonly problems: readonly RowProblem[];
}

/** Replaces the names of rows by their indexes. `own`: the monitors of the account, which rows can be. */
export function linkRows({ rows, names }: CheckedRows, own: readonly StoredMonitor[]): LinkedRows {
  const named = Map.groupBy(names.keys(), (index) => names[index]);
  // New rows have no id yet: their keys are negative.
  const keyOf = (index: number) => rows[index]?.own?.id ?? -1 - index;
  const chain = new Map(own.flatMap(({ id, dependsOn }) => (dependsOn === null ? [] : [[id, dependsOn] as const])));
  for (const [index, row] of rows.entries()) if (row?.parent !== undefined) chain.delete(keyOf(index));
  const problems: RowProblem[] = [];
  const parents = rows.map((row, index) => {
    const name = row?.parent;
    if (name === undefined || name === null) return name;
    const [parent, other] = named.get(name.trim()) ?? [];
    const refuse = (reason: "unknown" | "duplicate" | "range", message: string): null => {
      problems.push(problemAt(index, { field: "depends_on", reason, message }));
      return null;
    };
    if (parent === undefined) return refuse("unknown", "no row of the document has this name");
    if (other !== undefined) return refuse("duplicate", "more than one row of the document has this name");
    const problem = findChainProblem(chain, keyOf(index), keyOf(parent));
    if (problem !== null) return refuse("range", problem);
    chain.set(keyOf(index), keyOf(parent));
    return parent;
  });
  const members = rows.map((row, index) => {
    if (row?.own === null && row.draft.composite !== null && row.members === undefined) {
      const message = "is required for check_type composite: the names of the rows that it follows";
      problems.push(problemAt(index, { field: "composite.monitors", reason: "required", message }));
    }
    return row?.members?.flatMap((name, place) => {
      const [member, other] = named.get(name.trim()) ?? [];
      if (member !== undefined && other === undefined) return [member];
      const message = `${member === undefined ? "no" : "more than one"} row of the document has this name`;
      const reason = member === undefined ? "unknown" : "duplicate";
      problems.push(problemAt(index, { field: `composite.monitors.${place}`, reason, message }));
      return [];
    });
  });
  return { parents, members, problems };
}
