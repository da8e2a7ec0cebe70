import { isText, type Document, type Element } from "domhandler";
import { rawTextOf, walkElements } from "#probe-agent/analysis/html/document.ts";
import { attribute, INERT_ELEMENTS } from "#probe-agent/analysis/html/page.ts";
import { type Found, type Located, type StructuredError } from "#probe-agent/analysis/page/structured/item.ts";
import { parseLenientJson, type Json } from "#probe-agent/analysis/page/structured/lenient-json.ts";

/** An object of a JSON-LD block, unchanged. */
export type JsonLdObject = { readonly [key: string]: Json };

/** Maximum number of JSON values read from all blocks of a page. */
const MAX_VALUES = 300_000;
/** Maximum number of blocks read. */
const MAX_BLOCKS = 1000;
const MAX_ERRORS = 200;

/**
 * Reads the objects of a page's JSON-LD blocks (W3C JSON-LD 1.1 section 7). A top-level array gives one entry for each
 * of its objects.
 */
export function readJsonLd(root: Document): Found<JsonLdObject> {
  const items: Located<JsonLdObject>[] = [];
  const errors: StructuredError[] = [];
  let left = MAX_VALUES;
  let blocks = 0;
  for (const script of walkElements(root, INERT_ELEMENTS)) {
    if (script.name !== "script" || !isJsonLd(script)) continue;
    blocks += 1;
    if (blocks > MAX_BLOCKS || errors.length > MAX_ERRORS) break;
    const { text, start } = contentOf(script);
    if (text.trim() === "") {
      errors.push({ message: "JSON-LD: the block is empty", position: start });
      continue;
    }
    const parsed = parseLenientJson(text, left);
    left -= parsed.values;
    for (const [index, { message, offset }] of parsed.faults.entries()) {
      const lost = !parsed.ok && index === parsed.faults.length - 1 ? { lost: true as const } : {};
      errors.push({ message: `JSON-LD: ${message}`, position: start + offset, ...lost });
    }
    if (!parsed.ok) continue;
    for (const value of Array.isArray(parsed.value) ? flat(parsed.value) : [parsed.value]) {
      if (isObject(value)) items.push({ value, offset: script.startIndex ?? 0 });
      else errors.push({ message: "JSON-LD: a top-level value that is not an object", position: start });
    }
  }
  return { items, errors };
}

/** Reports whether a JSON value is an object. */
export function isObject(value: Json | undefined): value is { [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Reports whether a script has the MIME type application/ld+json, with or without parameters. */
function isJsonLd(script: Element): boolean {
  const type = (attribute(script, "type") ?? "").slice(0, 200);
  return /^application\/ld\+json\s*(?:;|$)/i.test(type);
}

function contentOf(script: Element): { text: string; start: number } {
  const first = script.firstChild;
  const start = first !== null && isText(first) ? (first.startIndex ?? 0) : (script.startIndex ?? 0);
  return { text: rawTextOf(script, Number.POSITIVE_INFINITY), start };
}

/** Flattens nested arrays, which have the same meaning as one array. parseLenientJson bounds their nesting. */
function flat(values: readonly Json[]): Json[] {
  return values.flatMap((value) => (Array.isArray(value) ? flat(value) : [value]));
}
