import type { RowProblem } from "#control-plane/accounts/document-part.ts";
import { refuseWrite, type Refused, type WriteRefusal } from "#control-plane/http/written.ts";
import { placeOf, type RowFieldProblem } from "#control-plane/monitors/transfer/row.ts";
import { MOST_PROBLEMS } from "#control-plane/monitors/transfer/rows.ts";

/** Returns the problem with a field of the monitor at an index. */
export function problemAt(index: number, problem: RowFieldProblem): RowProblem {
  return problemIn(placeOf("monitors", index), problem);
}

/** Returns the problem with a field of a row, which is given by its place. */
export function problemIn(row: string, { field, reason, message }: RowFieldProblem): RowProblem {
  return { row, field, reason, message, code: "missing_parameter" };
}

/** Returns the refusal of the monitor at an index as a problem. One of the whole request is a bug here. */
export function problemOf(index: number, refusal: WriteRefusal): RowProblem {
  return refusedIn(placeOf("monitors", index), refusal);
}

/** Returns the refusal of the row at a place as a problem. One of the whole request is a bug here. */
export function refusedIn(row: string, refusal: WriteRefusal): RowProblem {
  const { code, field = null, message } = refusal;
  switch (code) {
    case "missing_parameter":
    case "target_not_allowed":
    case "plan_limit_exceeded":
    case "probe_unavailable":
      return { row, field, reason: refusal.reason ?? code, message, code };
    default:
      throw new Error(`a row was refused with ${code}: ${message}`);
  }
}

/** Returns the refusal of a document: the first problem, and all of them. */
export function refuseProblems(problems: readonly RowProblem[]): Refused {
  const [first] = problems;
  if (first === undefined) throw new Error("a document without a problem is refused");
  const { row, field, reason, message, code } = first;
  return refuseWrite({
    code,
    field: field === null ? row : `${row}.${field}`,
    message,
    ...(reason === code ? {} : { reason }),
    problems: problems.slice(0, MOST_PROBLEMS).map(({ code: _code, ...shown }) => shown),
  });
}
