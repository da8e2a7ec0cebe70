import { outOfScope } from "#control-plane/http/gate.ts";
import { errorFields } from "#control-plane/http/envelope.ts";
import { hasScope, type Principal } from "#control-plane/access/principal.ts";
import type { McpTool, ToolAnswer } from "#control-plane/surfaces/mcp/mcp-tool.ts";

/** The result of tools/call. */
interface CallResult {
  readonly content: readonly [{ readonly type: "text"; readonly text: string }];
  readonly structuredContent?: Readonly<Record<string, unknown>>;
  readonly isError?: true;
}

/** Runs a tool after a check of the caller's scope. */
export async function callTool(
  tool: McpTool,
  principal: Principal,
  args: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<CallResult> {
  if (!hasScope(principal.scopes, tool.scope)) {
    const { code, details } = outOfScope(tool.scope, principal);
    return resultOf({ ok: false, code, details });
  }
  return resultOf(await tool.call(principal, args, signal));
}

/** Returns the result; its text is the same JSON as the structured content, for clients that read only text. */
function resultOf(answer: ToolAnswer): CallResult {
  if (answer.ok) {
    return { content: [{ type: "text", text: JSON.stringify(answer.data) }], structuredContent: answer.data };
  }
  const error = errorFields(answer.code, answer.details);
  return { content: [{ type: "text", text: JSON.stringify({ error }) }], isError: true };
}
