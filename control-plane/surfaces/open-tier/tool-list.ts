import { FORMATS } from "#control-plane/surfaces/open-tier/formats.ts";
import { CACHE_SECONDS } from "#control-plane/surfaces/open-tier/answer-cache.ts";
import type { OpenTool } from "#control-plane/surfaces/open-tier/offered-tools.ts";
import type { AnonymousAllowance } from "#control-plane/limits/anonymous.ts";

/** Renders the list of tools without key for a terminal: summary and an example line for each. */
export function describeCatalogue(
  tools: readonly OpenTool[],
  baseUrl: string,
  { requestsPerMinute, requestsPerDay }: AnonymousAllowance,
): string {
  const width = Math.max(...tools.map(({ name }) => name.length)) + 2;
  const indent = " ".repeat(width);
  const rows = tools.map(({ name, contract, extra, example }) => {
    const more = extra.length === 0 ? "" : `; also ${extra.join(", ")}`;
    return `${name.padEnd(width)}${contract.summary}${more}\n${indent}curl '${baseUrl}${example}'\n`;
  });
  return [
    "Vantage: diagnostics of public hosts, without a key\n",
    `GET ${baseUrl}/api/open/<tool>?q=<target>&format=<${FORMATS.join("|")}>   (format: ${FORMATS[0]} by default)\n`,
    ...rows,
    `Limits: ${requestsPerMinute} requests a minute and ${requestsPerDay} a day from one address; results are cached for ${CACHE_SECONDS} s.`,
    `With a key: GET ${baseUrl}/api/v4/tools, and ${baseUrl}/docs`,
    `# source: ${baseUrl}/api/open/\n`,
  ].join("\n");
}
