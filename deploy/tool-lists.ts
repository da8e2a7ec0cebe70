import type { ToolName } from "#shared/tools/names.ts";

const HEADER = "// Written by `npm run tools` from shared/tools/names.ts: do not edit.";

/** Formats shared/tools/index.ts, which lists the contract of each name. */
export function contractList(names: readonly ToolName[]): string {
  return `${HEADER}
${importLines("#shared/tools", names)}
import type { Contract } from "#shared/tools/define.ts";
import type { ToolName } from "#shared/tools/names.ts";

/** Every contract by its tool's name. */
export const contractsByName = {
${entryLines(names)}
} satisfies Readonly<Record<ToolName, unknown>>;

/** Every contract, in the order that catalogues and docs show them. */
export const CONTRACTS: readonly Contract[] = Object.values(contractsByName as unknown as Record<ToolName, Contract>);
`;
}

/** Formats probe-agent/tools/index.ts, which lists the implementation of each name. */
export function implementationList(names: readonly ToolName[]): string {
  return `${HEADER}
${importLines("#probe-agent/tools", names)}
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

function importLines(folder: string, names: readonly ToolName[]): string {
  return names.map((name) => `import { ${identifier(name)} } from "${folder}/${name}.ts";`).join("\n");
}

function entryLines(names: readonly ToolName[]): string {
  return names
    .map((name) => (name === identifier(name) ? `  ${name},` : `  "${name}": ${identifier(name)},`))
    .join("\n");
}

/** Returns the export of a tool's files: its name in camel case. */
function identifier(name: ToolName): string {
  return name.replaceAll(/-[a-z]/g, (part) => part.slice(1).toUpperCase());
}
