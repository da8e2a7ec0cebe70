import { JsonScanner, Unreadable, type JsonFault } from "#probe-agent/analysis/page/structured/json-scanner.ts";

/** A value of a JSON text. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** What a lenient reading gave; `faults` is empty for strict JSON. */
type LenientJson =
  | { readonly ok: true; readonly value: Json; readonly faults: readonly JsonFault[]; readonly values: number }
  | { readonly ok: false; readonly faults: readonly JsonFault[]; readonly values: number };

/** Nesting that is read; schema.org data needs a dozen levels. */
export const MAX_JSON_DEPTH = 128;

type Frame =
  | { readonly close: "]"; readonly items: Json[] }
  | { readonly close: "}"; readonly entries: Map<string, Json>; key: string };

/**
 * Reads JSON as search engines do: comments, CDATA wrappers, control characters inside strings, trailing commas and a
 * final semicolon are read over and reported. Without recursion, so that no nesting can exhaust the stack; at most
 * `maxValues` values. Keys like "__proto__" become plain properties.
 */
export function parseLenientJson(text: string, maxValues: number): LenientJson {
  const scanner = new JsonScanner(text);
  const count = { values: 0, max: maxValues };
  try {
    const value = readValue(scanner, count);
    scanner.skip(true);
    if (scanner.next === ";") {
      scanner.fault("a semicolon after the data");
      scanner.at += 1;
      scanner.skip(true);
    }
    if (scanner.next !== undefined) throw scanner.unexpected("The end");
    return { ok: true, value, faults: scanner.faults(), values: count.values };
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
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
      if (sizeOf(frame) > 0) scanner.fault("a trailing comma");
      scanner.at += 1;
      stack.pop();
      value = finish(frame);
    } else {
      count.values += 1;
      if (count.values > count.max) throw new Unreadable("more values than are looked at", scanner.at);
      if (frame?.close === "}") frame.key = readKey(scanner, frame.entries);
      const opened = open(scanner.next);
      if (opened !== null) {
        if (stack.length >= MAX_JSON_DEPTH) throw new Unreadable("nested deeper than is looked at", scanner.at);
        stack.push(opened);
        scanner.at += 1;
        scanner.skip(false);
        continue;
      }
      value = scanner.scalar();
    }
    const whole = settle(scanner, stack, value);
    if (whole !== undefined) return whole;
  }
}

/** Puts a finished value into what holds it, and that likewise where it ends here; the whole value when all is done. */
function settle(scanner: JsonScanner, stack: Frame[], value: Json): Json | undefined {
  let finished = value;
  for (let frame = stack.at(-1); frame !== undefined; frame = stack.at(-1)) {
    if (frame.close === "]") frame.items.push(finished);
    else frame.entries.set(frame.key, finished);
    scanner.skip(false);
    if (scanner.next === ",") {
      scanner.at += 1;
      scanner.skip(false);
      return undefined;
    }
    if (scanner.next !== frame.close) throw scanner.unexpected(`A comma or ${frame.close}`);
    scanner.at += 1;
    stack.pop();
    finished = finish(frame);
  }
  return finished;
}

function open(character: string | undefined): Frame | null {
  if (character === "[") return { close: "]", items: [] };
  return character === "{" ? { close: "}", entries: new Map(), key: "" } : null;
}

function readKey(scanner: JsonScanner, entries: ReadonlyMap<string, Json>): string {
  const start = scanner.at;
  const key = scanner.string();
  if (entries.has(key)) scanner.fault("a name that occurs twice in one object (the last one counts)", start);
  scanner.skip(false);
  if (scanner.next !== ":") throw scanner.unexpected("A colon");
  scanner.at += 1;
  scanner.skip(false);
  return key;
}

function sizeOf(frame: Frame): number {
  return frame.close === "]" ? frame.items.length : frame.entries.size;
}

/** Object.fromEntries defines properties, so that "__proto__" is one like any other. */
function finish(frame: Frame): Json {
  return frame.close === "]" ? frame.items : Object.fromEntries(frame.entries);
}
