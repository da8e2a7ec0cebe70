import type { Contract } from "#shared/tools/define.ts";

/** The tools as a Markdown table, for the README. */
export function toolTable(contracts: readonly Contract[]): string {
  const rows = contracts.map(({ name, summary, scope, params }) => {
    const required = new Set((params as { readonly required?: readonly string[] }).required);
    const fields = Object.keys(params.properties).map((field) => (required.has(field) ? `**${field}**` : field));
    return `| \`/api/v4/${name}\` | ${summary} | ${fields.join(", ")} | ${scope} |`;
  });
  return ["| path | what it tells | parameters (**required**) | scope |", "|---|---|---|---|", ...rows].join("\n");
}

/** A README with the table between its two marker comments replaced. */
export function withToolTable(readme: string, contracts: readonly Contract[]): string {
  const lines = readme.split("\n");
  const start = lines.findIndex((line) => line.startsWith("<!-- tools: ") && line.endsWith("-->"));
  const end = lines.indexOf("<!-- /tools -->", start);
  if (start === -1 || end === -1) return readme;
  return [...lines.slice(0, start + 1), toolTable(contracts), ...lines.slice(end)].join("\n");
}
