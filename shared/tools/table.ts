import type { Contract } from "#shared/tools/define.ts";

/** Formats the tools as a Markdown table, for the guide. */
function toolTable(contracts: readonly Contract[]): string {
  const rows = contracts.map(({ name, summary, scope, params }) => {
    const required = new Set((params as { readonly required?: readonly string[] }).required);
    const fields = Object.keys(params.properties).map((field) => (required.has(field) ? `**${field}**` : field));
    return `| \`/api/v4/${name}\` | ${summary} | ${fields.join(", ")} | ${scope} |`;
  });
  return ["| path | result | parameters (**required**) | scope |", "|---|---|---|---|", ...rows].join("\n");
}

/** Replaces the table between the two marker comments of a document. */
export function withToolTable(document: string, contracts: readonly Contract[]): string {
  const lines = document.split("\n");
  const start = lines.findIndex((line) => line.startsWith("<!-- tools: ") && line.endsWith("-->"));
  const end = lines.indexOf("<!-- /tools -->", start);
  if (start === -1 || end === -1) return document;
  return [...lines.slice(0, start + 1), toolTable(contracts), ...lines.slice(end)].join("\n");
}
