import { existsSync } from "node:fs";
import type { Contract } from "#shared/tools/define.ts";
import type { ToolName } from "#shared/tools/names.ts";

const HEADER = "// Written by `npm run tools` from shared/tools/names.ts: do not edit.";

/** Formats shared/tools/index.ts, which lists the contract and the presenter of each name. */
export function contractList(names: readonly ToolName[]): string {
  return `${HEADER}
${names.map((name) => importLine(name, `shared/tools/${name}/contract.ts`)).join("\n")}
${names.map((name) => importLine(name, `shared/tools/${name}/presenter.ts`, presenterOf(name))).join("\n")}
import type { Contract } from "#shared/tools/define.ts";
import type { Presenter } from "#shared/tools/define-presenter.ts";
import type { ToolName } from "#shared/tools/names.ts";

/** Every contract by its tool's name. */
export const contractsByName = {
${entryLines(names)}
} satisfies Readonly<Record<ToolName, unknown>>;

/** Every contract, in the order that catalogues and docs show them. */
export const CONTRACTS: readonly Contract[] = Object.values(contractsByName as unknown as Record<ToolName, Contract>);

/** Every presenter by its tool's name. */
export const presentersByTool: ReadonlyMap<string, Presenter> = new Map(
  Object.entries({
${names.map((name) => `    ${keyOf(name)}: ${presenterOf(name)},`).join("\n")}
  } satisfies Readonly<Record<ToolName, Presenter>>),
);
`;
}

/** Where a tool is implemented: in its folder, or in a file of its name if that is all it has. */
export function implementationPath(name: ToolName): string {
  const inFolder = `probe-agent/tools/${name}/${name}.ts`;
  return existsSync(new URL(`../${inFolder}`, import.meta.url)) ? inFolder : `probe-agent/tools/${name}.ts`;
}

/** Formats probe-agent/tools/index.ts, which lists the implementation of each name. */
export function implementationList(names: readonly ToolName[]): string {
  return `${HEADER}
${names.map((name) => importLine(name, implementationPath(name))).join("\n")}
import type { Implementation, ImplementationOf } from "#probe-agent/tools/implement.ts";
import type { contractsByName } from "#shared/tools/index.ts";

/** Every implementation by its tool's name; the compiler checks that it fulfils the contract of that name. */
const implementationsByName: {
  readonly [Name in keyof typeof contractsByName]: ImplementationOf<(typeof contractsByName)[Name]>;
} = {
${entryLines(names)}
};

/** Every implementation by its tool's name. */
export const implementations: ReadonlyMap<string, Implementation> = new Map(
  Object.entries(implementationsByName as unknown as Record<string, Implementation>),
);
`;
}

/** Replaces the table between the two marker comments of a document. */
export function withToolTable(document: string, contracts: readonly Contract[]): string {
  const lines = document.split("\n");
  const start = lines.findIndex((line) => line.startsWith("<!-- tools: ") && line.endsWith("-->"));
  const end = lines.indexOf("<!-- /tools -->", start);
  if (start === -1 || end === -1) return document;
  return [...lines.slice(0, start + 1), toolTable(contracts), ...lines.slice(end)].join("\n");
}

/** Formats the tools as a Markdown table, for the guide. */
function toolTable(contracts: readonly Contract[]): string {
  const rows = contracts.map(({ name, summary, scope, params }) => {
    const required = new Set((params as { readonly required?: readonly string[] }).required);
    const fields = Object.keys(params.properties).map((field) => (required.has(field) ? `**${field}**` : field));
    return `| \`/api/v4/${name}\` | ${summary} | ${fields.join(", ")} | ${scope} |`;
  });
  return ["| path | result | parameters (**required**) | scope |", "|---|---|---|---|", ...rows].join("\n");
}

/** Imports what a file of a tool exports, which is named like the tool, under this name or another one. */
function importLine(name: ToolName, path: string, as = identifier(name)): string {
  const renamed = as === identifier(name) ? as : `${identifier(name)} as ${as}`;
  return `import { ${renamed} } from "#${path}";`;
}

function entryLines(names: readonly ToolName[]): string {
  return names
    .map((name) => (name === identifier(name) ? `  ${name},` : `  ${keyOf(name)}: ${identifier(name)},`))
    .join("\n");
}

function keyOf(name: ToolName): string {
  return name === identifier(name) ? name : `"${name}"`;
}

function presenterOf(name: ToolName): string {
  return `${identifier(name)}Presenter`;
}

/** Returns the export of a tool's files: its name in camel case. */
function identifier(name: ToolName): string {
  return name.replaceAll(/-[a-z]/g, (part) => part.slice(1).toUpperCase());
}
