import { isRecord } from "#shared/text/is-record.ts";
import { toExactNumber } from "#shared/json/exact.ts";

/** A field of a request as it was typed: `name=value`. */
export interface TypedField {
  readonly text: string;
  /**
   * text: as it is. typed: true, false, null and numbers are converted, and @file is read. loose: null is converted, and
   * in members and lists also the others; the service converts other texts by its schema.
   */
  readonly as: "text" | "typed" | "loose";
}

/** Fields as one object, or the sentence that says what is wrong with one. */
type ReadFields =
  | { readonly ok: true; readonly value: Record<string, unknown> }
  | { readonly ok: false; readonly line: string };

const DECIMAL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;

/**
 * Reads fields into one object. `a[b]=1` sets a member of the object a, `a[]=1` adds to the list a, and `a[]` without a
 * value is the empty list. `readFile` returns the text of a file, null if it cannot be read. Pure.
 */
export function readFields(fields: readonly TypedField[], readFile: (path: string) => string | null): ReadFields {
  // Without the members of every object, which a field can be named like.
  const root = Object.create(null) as Record<string, unknown>;
  for (const { text, as } of fields) {
    const at = text.indexOf("=");
    const name = at === -1 ? text : text.slice(0, at);
    const path = pathOf(name);
    const isEmptyList = at === -1 && path.length > 1 && path.at(-1) === "";
    if (path.length === 0 || (at === -1 && !isEmptyList))
      return { ok: false, line: `a field must be name=value, not ${text}` };
    const raw = text.slice(at + 1);
    const value = isEmptyList ? undefined : read(raw, as, path.length > 1, readFile);
    if (value === UNREADABLE) return { ok: false, line: `${raw.slice(1)} cannot be read` };
    if (!put(root, path, value)) return { ok: false, line: `${name} is both a value and a list or an object` };
  }
  return { ok: true, value: root };
}

const UNREADABLE = Symbol("unreadable");

/** Splits a name: `a[b][]` is a, b and "" for a list. No parts if it is no name. */
function pathOf(name: string): readonly string[] {
  const [first = "", ...members] = name.split("[");
  const isWhole =
    first !== "" && !first.includes("]") && members.every((one) => one.indexOf("]") === one.length - 1 && one !== "");
  return isWhole ? [first, ...members.map((one) => one.slice(0, -1))] : [];
}

function read(
  raw: string,
  as: TypedField["as"],
  isInside: boolean,
  readFile: (path: string) => string | null,
): unknown {
  if (as === "typed" && raw.startsWith("@")) return readFile(raw.slice(1)) ?? UNREADABLE;
  if (as === "loose" && raw === "null") return null;
  return as === "typed" || (as === "loose" && isInside) ? convert(raw) : raw;
}

function convert(raw: string): unknown {
  if (raw === "true" || raw === "false") return raw === "true";
  if (raw === "null") return null;
  return DECIMAL.test(raw) ? toExactNumber(raw) : raw;
}

/** Sets a value at a path; undefined creates the list at its end. False if something else is there. */
function put(root: Record<string, unknown>, path: readonly string[], value: unknown): boolean {
  let here: Record<string, unknown> | unknown[] = root;
  for (const [index, part] of path.entries()) {
    const isLast = index === path.length - 1;
    if (Array.isArray(here) !== (part === "")) return false;
    if (isLast && value === undefined) return true;
    const next: unknown = isLast ? value : path[index + 1] === "" ? [] : Object.create(null);
    if (Array.isArray(here)) {
      here.push(next);
      if (!isLast) here = next as Record<string, unknown>;
    } else if (isLast) {
      if (Object.hasOwn(here, part)) return false;
      here[part] = value;
    } else {
      const known: unknown = Object.hasOwn(here, part) ? here[part] : undefined;
      if (known !== undefined && !isRecord(known) && !Array.isArray(known)) return false;
      here[part] = known ?? next;
      here = here[part] as Record<string, unknown>;
    }
  }
  return true;
}

/** Formats fields for a query: a list as commas between its items. Null if one is an object. */
export function toQuery(fields: Readonly<Record<string, unknown>>): URLSearchParams | null {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    const items = Array.isArray(value) ? (value as readonly unknown[]) : [value];
    if (items.some((item) => typeof item === "object" && item !== null)) return null;
    query.append(name, items.map(String).join(","));
  }
  return query;
}
