import type { Contract } from "#shared/tools/define.ts";

/** A tool of the open tier. */
export interface OpenTool {
  /** Last segment of its path: the name of the contract, or its name in the open tier. */
  readonly name: string;
  readonly contract: Contract;
  /** Parameter that q sets. */
  readonly q: string;
  /** Parameters besides q. */
  readonly extra: readonly string[];
  /** Path and query of an example call. */
  readonly example: string;
}

/** Returns the tools of the open tier, in the order of the catalogue. */
export function openTools(contracts: readonly Contract[]): readonly OpenTool[] {
  return contracts.flatMap((contract) => {
    const { open, example } = contract;
    if (open === undefined) return [];
    const name = open.name ?? contract.name;
    const extra = open.extra ?? [];
    return [{ name, contract, q: open.q, extra, example: pathOf(name, open.q, extra, example) }];
  });
}

/** Returns the path of a call; q is the first parameter. */
export function pathOf(
  name: string,
  q: string,
  extra: readonly string[],
  values: Readonly<Record<string, unknown>>,
): string {
  const query = new URLSearchParams({ q: wireForm(values[q]) });
  for (const field of extra) if (values[field] !== undefined) query.set(field, wireForm(values[field]));
  // These characters need no encoding in a query (RFC 3986 section 3.4), and people read this line.
  const readable = query.toString().replaceAll("%3A", ":").replaceAll("%2F", "/").replaceAll("%2C", ",");
  return `/api/open/${name}?${readable}`;
}

/** Formats a parsed parameter for a query. */
function wireForm(value: unknown): string {
  if (Array.isArray(value)) return value.join(",");
  if (typeof value === "boolean") return value ? "1" : "0";
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}
