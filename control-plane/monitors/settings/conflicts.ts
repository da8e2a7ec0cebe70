import type { FieldProblem } from "#shared/schema/problem.ts";
import { problem, type SharedField } from "#control-plane/kinds/kind.ts";
import { kindOf, optionsOf } from "#control-plane/kinds/kinds.ts";
import type { MonitorDraft } from "#control-plane/kinds/monitor.ts";

/** Checks the rules between fields, except the locations. Returns the first problem; null if there is none. */
export function findConflict(draft: MonitorDraft): FieldProblem | null {
  const { check_type: type, url } = draft;
  const kind = kindOf(type);
  if (kind.target !== null && url === "") return MISSING_URL;
  for (const [field, what] of Object.entries(kind.required)) {
    if (draft[field as SharedField] === null) {
      return problem(field, "required", `is required for check_type ${type}: ${what}`);
    }
  }
  return kind.findConflict(draft, optionsOf(type, draft));
}

/** The problem of a monitor whose check type needs a target. */
export const MISSING_URL: FieldProblem = { field: "url", reason: "required", message: "is required" };

/** Checks the quorum against the locations, which are known later than the other fields. */
export function findQuorumConflict({ quorum, locations }: MonitorDraft): FieldProblem | null {
  if (quorum === "majority" || quorum <= locations.length) return null;

  return problem("quorum", "range", `must be majority or at most ${locations.length}, the number of locations`);
}
