import { LRUCache } from "lru-cache";
import { publishParams } from "#shared/schema/publish.ts";
import type { Contract, Scope } from "#shared/tools/define.ts";
import { codeText, type CodedText } from "#control-plane/http/coded-text.ts";
import { hashOf } from "#control-plane/http/operations/document.ts";

/** Methods of every tool's REST route. */
export const TOOL_METHODS = ["GET", "POST"] as const;

/** One tool as GET /api/v4/tools lists it. */
export interface CatalogueRow {
  readonly name: string;
  readonly path: string;
  readonly title: string;
  readonly summary: string;
  readonly scope: Scope;
  readonly methods: readonly string[];
  readonly open_tier: boolean;
  readonly locations: boolean;
  /** Whether the calling key has the scope. */
  readonly allowed: boolean;
}

/** The JSON Schemas of a tool, which make a row forty times as long. */
export interface CatalogueSchemas {
  /** Of the parameters. */
  readonly params: unknown;
  /** Of `data`. */
  readonly result: unknown;
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
    open_tier: contract.open !== undefined,
    locations: true,
    allowed,
  };
}

/** What the row of one contract has besides, where it is asked for. */
export function catalogueSchemas(contract: Contract): CatalogueSchemas {
  return { params: publishParams(contract.params), result: contract.result };
}

/** The catalogue as it is sent, but for the meta of one request. */
export interface CatalogueText {
  /** `{"data":[...]`: ASCII. */
  readonly text: string;
  /** The same octets, compressed when they are first asked for. */
  readonly coded: CodedText;
  /** Of the rows, for entity tags. */
  readonly hash: string;
}

/** Sets of scopes in use, with and without schemas; with them a text takes 0.5 MB in all its codings. */
const MOST_TEXTS = 32;

/**
 * The catalogue as JSON text, made once per set of scopes: the rows are large and change only with a release. ASCII alone,
 * the rest escaped, because such text goes out without being encoded anew (measured: 90 us a request instead of 120).
 */
export function createCatalogue(
  contracts: readonly Contract[],
): (scopes: readonly Scope[], schemas: boolean) => CatalogueText {
  const texts = new LRUCache<string, CatalogueText>({ max: MOST_TEXTS });
  return (scopes, schemas) => {
    const key = `${schemas} ${scopes.join()}`;
    const known = texts.get(key);
    if (known !== undefined) return known;
    const rows = contracts.map((contract) => ({
      ...catalogueRow(contract, scopes.includes(contract.scope)),
      ...(schemas ? catalogueSchemas(contract) : {}),
    }));
    const text = `{"data":${toAscii(JSON.stringify(rows))}`;
    const made = { text, coded: codeText(Buffer.from(text, "latin1")), hash: hashOf(text) };
    texts.set(key, made);
    return made;
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
