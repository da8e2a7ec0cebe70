/** Names that do not follow the rule; kept because clients use them. */
const EXCEPTIONS: ReadonlyMap<string, string> = new Map([
  ["check", "check_headers"],
  ["ai-check", "check_ai"],
  ["email-check", "check_email"],
]);

/** Returns the MCP name of a tool: check_ and the tool's name, with underscores for hyphens. */
export function mcpName(tool: string): string {
  return EXCEPTIONS.get(tool) ?? `check_${tool.replaceAll("-", "_")}`;
}
