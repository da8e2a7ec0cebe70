import { fieldMessage, type FieldProblem } from "#shared/schema/problem.ts";
import type { ToolAnswer } from "#control-plane/surfaces/mcp/mcp-tool.ts";

/** Returns the answer to a call with a wrong argument. */
export function refuseArgument(problem: FieldProblem): ToolAnswer {
  const { field, reason } = problem;
  return { ok: false, code: "missing_parameter", details: { field, reason, message: fieldMessage(problem) } };
}
