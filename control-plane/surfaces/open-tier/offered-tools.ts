import type { Contract } from "#shared/tools/define.ts";

/** A tool as the open tier offers it. */
export interface OpenTool {
  /** Last segment of its path: the contract's name, or the open tier's own name for it. */
  readonly name: string;
  readonly contract: Contract;
  /** The parameter that q stands for. */
  readonly q: string;
  /** Parameters besides q. */
  readonly extra: readonly string[];
  /** Path and query of a call that shows it. */
  readonly example: string;
}

/** Every tool the open tier has, in the catalogue's order. */
export function openTools(contracts: readonly Contract[]): readonly OpenTool[] {
  return contracts.flatMap((contract) => {
    const { open, example } = contract;
    if (open === undefined) return [];
    const name = open.name ?? contract.name;
    const extra = open.extra ?? [];
    return [{ name, contract, q: open.q, extra, example: pathOf(name, open.q, extra, example) }];
  });
}

/** The path of a call, parameters in the order q, then the others. */
export function pathOf(
  name: string,
  q: string,
  extra: readonly string[],
  values: Readonly<Record<string, unknown>>,
): string {
  const query = new URLSearchParams({ q: wireForm(values[q]) });
  for (const field of extra) if (values[field] !== undefined) query.set(field, wireForm(values[field]));
  // These stand for themselves in a query (RFC 3986 section 3.4), and people read this line.
  const readable = query.toString().replaceAll("%3A", ":").replaceAll("%2F", "/").replaceAll("%2C", ",");
  return `/api/open/${name}?${readable}`;
}

/** A parsed parameter as a query has it. */
function wireForm(value: unknown): string {
  if (Array.isArray(value)) return value.join(",");
  if (typeof value === "boolean") return value ? "1" : "0";
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}
