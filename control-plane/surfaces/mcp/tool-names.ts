/** Names that do not follow the rule, kept since clients know them. */
const EXCEPTIONS: ReadonlyMap<string, string> = new Map([
  ["check", "check_headers"],
  ["ai-check", "check_ai"],
  ["email-check", "check_email"],
]);

/** A tool's name at the agent endpoint: check_ and the path, hyphens as underscores. */
export function mcpName(tool: string): string {
  return EXCEPTIONS.get(tool) ?? `check_${tool.replaceAll("-", "_")}`;
}
