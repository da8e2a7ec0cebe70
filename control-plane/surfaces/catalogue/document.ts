import { LRUCache } from "lru-cache";
import { publishParams } from "#shared/schema/publish.ts";
import type { Contract, KeyScope, Scope } from "#shared/tools/define.ts";
import { codeText, type CodedText } from "#control-plane/http/coded-text.ts";
import { hashOf } from "#control-plane/http/operations/document.ts";

/** Methods of every tool's REST route. */
export const TOOL_METHODS = ["GET", "POST"] as const;

/** One tool as GET /api/v4/tools lists it. */
interface CatalogueRow {
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

/** The JSON Schemas of a tool; they make a row forty times longer. */
interface CatalogueSchemas {
  /** Schema of the parameters. */
  readonly params: unknown;
  /** Schema of `data`. */
  readonly result: unknown;
}

/** Returns the row of a contract; `allowed`: whether the key has its scope. */
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

/** Returns the optional schemas of a contract's row. */
function catalogueSchemas(contract: Contract): CatalogueSchemas {
  return { params: publishParams(contract.params), result: contract.result };
}

/** The catalogue as sent, without the meta of a request. */
interface CatalogueText {
  /** `{"data":[...]`: ASCII. */
  readonly text: string;
  /** The same octets, compressed on first use. */
  readonly coded: CodedText;
  /** Hash of the rows, for entity tags. */
  readonly hash: string;
}

/** Maximum number of cached texts, by scopes and schemas; a text with schemas takes 0.5 MB in all codings. */
const MOST_TEXTS = 32;

/**
 * Creates the catalogue as JSON text, cached by set of scopes: rows are large and change only with a release. It is ASCII
 * with escapes, because Node sends such text without encoding it again (measured: 90 us per request instead of 120).
 */
export function createCatalogue(
  contracts: readonly Contract[],
): (scopes: readonly KeyScope[], schemas: boolean) => CatalogueText {
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

/** Returns the same JSON in ASCII: other UTF-16 code units become escapes (RFC 8259, section 7). */
function toAscii(json: string): string {
  return json.replaceAll(/[^\p{ASCII}]/gu, (character) =>
    Array.from(
      { length: character.length },
      (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`,
    ).join(""),
  );
}
