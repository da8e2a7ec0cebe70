import type { RowProblem } from "#control-plane/accounts/document-part.ts";
import { refuseWrite, type Refused, type WriteRefusal } from "#control-plane/http/written.ts";
import type { FieldProblem } from "#shared/schema/problem.ts";
import { problemIn, refusedIn, refuseProblems } from "#control-plane/monitors/transfer/problems.ts";
import { placeOf } from "#control-plane/monitors/transfer/row.ts";
import { MOST_PROBLEMS } from "#control-plane/monitors/transfer/rows.ts";

/** Number of ids that a message names. */
const MOST_NAMED = 10;

/** Returns the refusal of fields that are wrong for every monitor. */
export function refuseSet(problems: readonly FieldProblem[]): Refused {
  return refuseProblems(problems.map((problem) => problemIn("set", problem)));
}

/** Returns the refusal of one monitor as a problem; `index` is that of its id. */
export function rowProblem(index: number, id: number, refusal: WriteRefusal): RowProblem {
  return { ...refusedIn(placeOf("ids", index), refusal), id };
}

/** Returns the refusal of a change of many: of the first monitor with a problem, and all of them. */
export function refuseRows(problems: readonly RowProblem[]): Refused {
  const { refusal } = refuseProblems(problems);
  const [first] = problems;
  const { field = null, id } = first ?? {};
  const others = problems.length === 1 ? "" : ", the first of those in error.problems";
  return refuseWrite({
    ...refusal,
    field: field === null ? "set" : `set.${field}`,
    message: `${withoutDot(refusal.message)} (monitor ${id}${others})${refusal.code === "missing_parameter" ? "" : "."}`,
  });
}

/** A problem with a field has no full stop, which its answer adds. */
function withoutDot(message: string): string {
  return message.endsWith(".") ? message.slice(0, -1) : message;
}

/** Returns the refusal of ids that the account does not have; `ids` are all that were given. */
export function refuseAbsentIds(ids: readonly number[], isOwn: (id: number) => boolean): Refused {
  const absent = ids.flatMap((id, index) => (isOwn(id) ? [] : [{ id, index }]));
  const named = absent.slice(0, MOST_NAMED).map(({ id }) => id);
  const more = absent.length > named.length ? ` and ${absent.length - named.length} more` : "";
  return refuseWrite({
    code: "not_found",
    field: placeOf("ids", absent[0]?.index ?? 0),
    reason: "unknown",
    message: `No monitor of your account has the ${absent.length === 1 ? "id" : "ids"} ${named.join(", ")}${more}.`,
    problems: absent.slice(0, MOST_PROBLEMS).map(({ id, index }) => ({
      row: placeOf("ids", index),
      id,
      field: null,
      reason: "unknown",
      message: "no monitor of your account has this id",
    })),
  });
}
