import { publishParams } from "#shared/schema/publish.ts";
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
    params: publishParams(contract.params),
    result: contract.result,
    open_tier: contract.open !== undefined,
    locations: true,
    allowed,
  };
}

/**
 * The catalogue as JSON text, made once per set of scopes: the rows are large and change only with a release. ASCII alone,
 * the rest escaped, because such text goes out without being encoded anew (measured: 90 us a request instead of 120).
 */
export function createCatalogue(contracts: readonly Contract[]): (scopes: readonly Scope[]) => string {
  const texts = new Map<string, string>();
  return (scopes) => {
    const key = scopes.join();
    let text = texts.get(key);
    if (text === undefined) {
      text = toAscii(JSON.stringify(contracts.map((row) => catalogueRow(row, scopes.includes(row.scope)))));
      texts.set(key, text); // at most 2^7 sets of scopes exist
    }
    return text;
  };
}

/** The same JSON in ASCII: every other UTF-16 code unit as an escape (RFC 8259, section 7). */
function toAscii(json: string): string {
  return json.replaceAll(/[^\p{ASCII}]/gu, (character) =>
    Array.from(
      { length: character.length },
      (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`,
    ).join(""),
  );
}
