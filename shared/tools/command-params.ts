import type { Contract } from "#shared/tools/define.ts";

/** Returns the parameter that a tool's command takes as its argument. */
export function mainParam({ target, params }: Pick<Contract, "target" | "params">): string {
  const { required = [] } = params as { readonly required?: readonly string[] };
  return target?.param ?? required[0] ?? "value";
}

/** Returns how a command names a parameter: `<host>` for its argument, else the option. */
export function nameParam(contract: Contract, field: string): string {
  if (field === mainParam(contract)) return `<${field}>`;
  return field === "locations" ? "--from" : `--${field.replaceAll("_", "-")}`;
}
