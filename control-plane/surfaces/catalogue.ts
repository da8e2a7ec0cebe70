import type { Contract, Scope } from "#shared/tools/define.ts";

/** Methods of every tool's REST route. */
export const TOOL_METHODS = ["GET", "POST"] as const;

/** One tool as GET /api/v4/tools lists it (decisions 11). */
export interface CatalogueRow {
  readonly name: string;
  readonly path: string;
  readonly title: string;
  readonly summary: string;
  readonly scope: Scope;
  readonly methods: readonly string[];
  /** JSON Schema of the parameters. */
  readonly params: unknown;
  /** JSON Schema of `data`. */
  readonly result: unknown;
  readonly open_tier: boolean;
  readonly locations: boolean;
  /** Whether the calling key has the scope. */
  readonly allowed: boolean;
}

/** The row of one contract for a key that has or lacks its scope. */
export function catalogueRow(contract: Contract, allowed: boolean): CatalogueRow {
  return {
    name: contract.name,
    path: `/api/v4/${contract.name}`,
    title: contract.title,
    summary: contract.summary,
    scope: contract.scope,
    methods: TOOL_METHODS,
    params: contract.params,
    result: contract.result,
    open_tier: contract.open !== undefined,
    locations: true,
    allowed,
  };
}

/**
 * The catalogue as JSON octets, made once per set of scopes: the rows are large and change only with a release. Octets,
 * because encoding the text anew was a quarter of the work of each request (measured).
 */
export function createCatalogue(contracts: readonly Contract[]): (scopes: readonly Scope[]) => Buffer {
  const made = new Map<string, Buffer>();
  return (scopes) => {
    const key = scopes.join();
    let octets = made.get(key);
    if (octets === undefined) {
      const rows = contracts.map((contract) => catalogueRow(contract, scopes.includes(contract.scope)));
      octets = Buffer.from(JSON.stringify(rows));
      made.set(key, octets); // at most 2^7 sets of scopes exist
    }
    return octets;
  };
}
