import { isRawNumber, toExactNumber } from "#shared/json/exact.ts";
import { isRecord } from "#shared/text/is-record.ts";
import type { Form } from "#control-plane/surfaces/dashboard/session-guard/form.ts";
import { topOf, type FormField } from "#control-plane/surfaces/dashboard/monitor-form/form-fields.ts";

const MASK = "****";

/** What a form shows: the text of a field, or "on" for a checkbox that is checked. */
export type Typed = ReadonlyMap<string, string>;

/** Returns the fields as they were typed. Pure. */
export function typedIn(form: Form, fields: readonly FormField[]): Typed {
  return new Map(fields.map(({ name }) => [name, form.text(name)]));
}

/** Returns the fields as a monitor has them: `shown` is its form in the API. Pure. */
export function typedOf(shown: Readonly<Record<string, unknown>>, fields: readonly FormField[]): Typed {
  return new Map(
    fields.map((field) => {
      const value = valueAt(shown, field.name);
      // The field for several statuses shows a single one too.
      const isOne = field.input === "codes" && value === null;
      return [field.name, write(field, isOne ? valueAt(shown, "expected_code") : value)];
    }),
  );
}

/** Returns the fields of a copy: secrets, which are masked, are left out. Pure. */
export function withoutSecrets(typed: Typed): Typed {
  return new Map(
    Array.from(typed, ([name, text]) => {
      const lines = text.split("\n").filter((line) => line !== MASK && !line.endsWith(`: ${MASK}`));
      return [name, lines.join("\n")];
    }),
  );
}

/**
 * Returns the body of a creation or a change for the API's own parser, which checks it. A creation leaves out what is empty,
 * so that its default holds; a change has only what differs from `before`, and options of a kind whole. What cannot be
 * read stays text, which that parser refuses by its field. Pure.
 */
export function toBody(typed: Typed, fields: readonly FormField[], before: Typed | null): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  const isCreation = before === null;
  const differs = ({ name }: FormField) => before === null || (typed.get(name) ?? "") !== (before.get(name) ?? "");
  const changed = new Set(fields.filter(differs).map(({ name }) => topOf(name)));
  for (const field of fields) {
    if (!changed.has(topOf(field.name))) continue;
    const text = typed.get(field.name) ?? "";
    if (text.trim() === "" && field.input !== "checkbox") {
      if (isCreation) continue;
      if (field.empty !== undefined) setAt(body, field.name, field.empty);
      else if (["lines", "words", "ids"].includes(field.input)) setAt(body, field.name, []);
      else if (field.input === "pairs") setAt(body, field.name, {});
      continue;
    }
    setAt(body, field.name, read(field, text));
  }
  // A condition without a path is no condition.
  if (isRecord(body["json"]) && body["json"]["path"] === undefined) {
    if (isCreation) delete body["json"];
    else body["json"] = null;
  }
  return body;
}

function read({ input }: FormField, text: string): unknown {
  const trimmed = text.trim();
  switch (input) {
    case "checkbox":
      return text === "on";
    case "number":
      return toNumber(trimmed);
    case "lines":
      return split(trimmed, /[\r\n]+/);
    case "words":
      return split(trimmed, /[\s,]+/);
    case "ids":
    case "codes":
      return split(trimmed, /[\s,]+/).map(toNumber);
    case "pairs":
      return Object.fromEntries(split(trimmed, /[\r\n]+/).map(toPair));
    case "json-value":
      return toJsonValue(trimmed);
    case "textarea":
      // A form ends lines with CR LF; what was typed has LF.
      return text.replaceAll("\r\n", "\n");
    default:
      return trimmed;
  }
}

function split(text: string, between: RegExp): readonly string[] {
  return text
    .split(between)
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

function toNumber(text: string): number | string {
  return /^-?\d{1,15}(?:\.\d{1,6})?$/.test(text) ? Number(text) : text;
}

function toPair(line: string): [string, string] {
  const at = line.indexOf(":");
  return at === -1 ? [line, ""] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
}

/** A number with its digits, true, false or null as such, else text; in quotes, text that would be one of them. */
function toJsonValue(text: string): unknown {
  if (QUOTED.test(text)) return JSON.parse(text) as unknown;
  if (text === "true" || text === "false") return text === "true";
  return text === "null" ? null : (toExactNumber(text) ?? text);
}

/** A string of JSON. */
const QUOTED = /^"(?:[^"\\\p{Cc}]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"$/u;

function write({ input }: FormField, value: unknown): string {
  if (value === null || value === undefined) return "";
  if (input === "checkbox") return value === true ? "on" : "";
  if (input === "json-value" && typeof value === "string" && toJsonValue(value.trim()) !== value)
    return JSON.stringify(value);
  if (input === "pairs" && isRecord(value))
    return Object.entries(value)
      .map(([name, text]) => `${name}: ${String(text)}`)
      .join("\n");
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => (isRecord(item) ? textOf(item["email"]) : textOf(item)));
    return items.join(input === "lines" ? "\n" : ", ");
  }
  return textOf(value);
}

/** Writes a text, a number or a truth value; anything else as nothing. */
function textOf(value: unknown): string {
  if (isRawNumber(value)) return value.rawJSON;
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? String(value) : "";
}

function valueAt(shown: unknown, path: string): unknown {
  return path
    .split(".")
    .reduce<unknown>((inside, name) => (isRecord(inside) && Object.hasOwn(inside, name) ? inside[name] : null), shown);
}

function setAt(body: Record<string, unknown>, path: string, value: unknown): void {
  const names = path.split(".");
  const last = names.pop() ?? "";
  let inside = body;
  for (const name of names) {
    const next = inside[name];
    const object: Record<string, unknown> = isRecord(next) ? next : {};
    inside[name] = object;
    inside = object;
  }
  inside[last] = value;
}
