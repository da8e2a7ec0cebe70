import { JsonScanner, UnreadableJson, type JsonFault } from "#probe-agent/analysis/page/structured/json-scanner.ts";

/** A value of a JSON text. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** Result of lenient parsing. `faults` is empty for strict JSON. `values` is the number of values read. */
type LenientJson =
  | { readonly ok: true; readonly value: Json; readonly faults: readonly JsonFault[]; readonly values: number }
  | { readonly ok: false; readonly faults: readonly JsonFault[]; readonly values: number };

/** Maximum nesting depth. schema.org data needs a dozen levels. */
export const MAX_JSON_DEPTH = 128;

type Frame =
  | { readonly close: "]"; readonly items: Json[] }
  | { readonly close: "}"; readonly entries: Map<string, Json>; key: string };

/**
 * Parses JSON as leniently as search engines do: skips comments, CDATA wrappers, trailing commas and a final semicolon,
 * accepts control characters inside strings, and reports each of these faults. Does not recurse, so that no nesting can
 * exhaust the stack. Reads up to `maxValues` values. Keys like "__proto__" become plain properties.
 */
export function parseLenientJson(text: string, maxValues: number): LenientJson {
  const scanner = new JsonScanner(text);
  const count = { values: 0, max: maxValues };
  try {
    const value = readValue(scanner, count);
    scanner.skip(true);
    if (scanner.next === ";") {
      scanner.recordFault("a semicolon after the data");
      scanner.at += 1;
      scanner.skip(true);
    }
    if (scanner.next !== undefined) throw scanner.unexpected("the end of the block");
    return { ok: true, value, faults: scanner.faults(), values: count.values };
  } catch (error) {
    if (!(error instanceof UnreadableJson)) throw error;
    const faults = [...scanner.faults(), { message: error.message, offset: error.offset }];
    return { ok: false, faults, values: count.values };
  }
}

function readValue(scanner: JsonScanner, count: { values: number; readonly max: number }): Json {
  const stack: Frame[] = [];
  scanner.skip(true, true);
  for (;;) {
    const frame = stack.at(-1);
    let value: Json;
    if (frame !== undefined && scanner.next === frame.close) {
      if (sizeOf(frame) > 0) scanner.recordFault("a trailing comma");
      scanner.at += 1;
      stack.pop();
      value = frameValue(frame);
    } else {
      count.values += 1;
      if (count.values > count.max) throw new UnreadableJson("more values than this tool reads", scanner.at);
      if (frame?.close === "}") frame.key = readKey(scanner, frame.entries);
      const opened = newFrame(scanner.next);
      if (opened !== null) {
        if (stack.length >= MAX_JSON_DEPTH)
          throw new UnreadableJson(`nested deeper than ${MAX_JSON_DEPTH} levels`, scanner.at);
        stack.push(opened);
        scanner.at += 1;
        scanner.skip(false);
        continue;
      }
      value = scanner.scalar();
    }
    const root = addToFrame(scanner, stack, value);
    if (root !== undefined) return root;
  }
}

/**
 * Adds a complete value to its array or object. If that ends here too, adds it to the next outer one, and so on.
 * Returns the root value when it is complete, otherwise undefined.
 */
function addToFrame(scanner: JsonScanner, stack: Frame[], value: Json): Json | undefined {
  let complete = value;
  for (let frame = stack.at(-1); frame !== undefined; frame = stack.at(-1)) {
    if (frame.close === "]") frame.items.push(complete);
    else frame.entries.set(frame.key, complete);
    scanner.skip(false);
    if (scanner.next === ",") {
      scanner.at += 1;
      scanner.skip(false);
      return undefined;
    }
    if (scanner.next !== frame.close) throw scanner.unexpected(`a comma or ${frame.close}`);
    scanner.at += 1;
    stack.pop();
    complete = frameValue(frame);
  }
  return complete;
}

function newFrame(character: string | undefined): Frame | null {
  if (character === "[") return { close: "]", items: [] };
  return character === "{" ? { close: "}", entries: new Map(), key: "" } : null;
}

function readKey(scanner: JsonScanner, entries: ReadonlyMap<string, Json>): string {
  const start = scanner.at;
  const key = scanner.string();
  if (entries.has(key)) scanner.recordFault("a name that occurs twice in one object (the last value counts)", start);
  scanner.skip(false);
  if (scanner.next !== ":") throw scanner.unexpected("a colon");
  scanner.at += 1;
  scanner.skip(false);
  return key;
}

function sizeOf(frame: Frame): number {
  return frame.close === "]" ? frame.items.length : frame.entries.size;
}

/** Returns the value of a complete frame. Object.fromEntries makes "__proto__" a property like any other. */
function frameValue(frame: Frame): Json {
  return frame.close === "]" ? frame.items : Object.fromEntries(frame.entries);
}
