import type { FastifyRequest } from "fastify";
import { FileForm } from "#control-plane/surfaces/dashboard/session-guard/files.ts";
import { RawBody } from "#control-plane/http/body.ts";
import { Refusal } from "#control-plane/http/errors.ts";

/** The fields of a form as sent. */
export interface Form {
  /** Returns the value of a field, its first one if it has several; empty if it has none. */
  text(name: string): string;
  /** Returns all values of a field. */
  list(name: string): readonly string[];
  /** Returns all values with the names of their fields. */
  entries(): readonly (readonly [name: string, value: string])[];
  /** Reports whether a field was sent: a checkbox that is not checked is not. */
  has(name: string): boolean;
  /** Returns the content of a file; null if none was chosen. */
  file(name: string): Buffer | null;
}

/** Reads the form of a request. Throws Refusal for too many fields, and for a NUL in one. Another body has no fields. */
export function readForm(request: FastifyRequest): Form {
  const { body } = request;
  if (body instanceof FileForm) {
    requireStorable(Object.fromEntries(body.fields));
    const list = (name: string): readonly string[] => body.fields.get(name) ?? [];
    return { ...readersOf([...body.fields.keys()], list), file: (name) => body.files.get(name) ?? null };
  }
  const fields = body instanceof RawBody && body.kind === "form" ? body.form() : {};
  // PostgreSQL stores no NUL; in a form it is a byte, or these three.
  if (body instanceof RawBody && (body.bytes.includes(0) || body.bytes.includes("%00")))
    throw new Refusal("missing_parameter", "The form has a NUL character. Leave it out.");
  if (fields === null) throw new Refusal("missing_parameter", "The form has more than 1,000 fields.");
  requireStorable(fields);
  const list = (name: string): readonly string[] => {
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (Array.isArray(value)) return value.map(String);
    return typeof value === "string" ? [value] : [];
  };
  return { ...readersOf(Object.keys(fields), list), file: () => null };
}

function readersOf(names: readonly string[], list: Form["list"]): Omit<Form, "file"> {
  return {
    list,
    entries: () => names.flatMap((name) => list(name).map((value) => [name, value] as const)),
    text: (name) => list(name)[0] ?? "",
    has: (name) => list(name).length > 0,
  };
}

/**
 * Maximum length of all fields of a member's form, in characters: far more than a person types. A form that is refused is
 * shown again with what was typed, and its lists are divided into their items, both of which take a multiple of the time
 * in which it was received.
 */
const MOST_TYPED = 262_144;

/** Throws Refusal if the fields of a form have too much text. */
export function requireTypable(form: Form): void {
  const length = form.entries().reduce((sum, [, value]) => sum + value.length, 0);
  if (length <= MOST_TYPED) return;
  throw new Refusal("payload_too_large", `The fields of the form have more than ${MOST_TYPED} characters, the limit.`);
}

/** Throws Refusal if a query or a form has a NUL: PostgreSQL takes none, and no field has a use for it. */
export function requireStorable(fields: Readonly<Record<string, unknown>>): void {
  const hasNul = (text: unknown): boolean => typeof text === "string" && text.includes("\0");
  const found = Object.entries(fields).some(([name, value]) => hasNul(name) || [value].flat().some(hasNul));
  if (found) throw new Refusal("missing_parameter", "A field has a NUL character (%00). Remove it.");
}

/** Returns the id in a field; null if it is none. */
export function idIn(form: Form, name: string): number | null {
  return toId(form.text(name));
}

/** Returns the id that a text is; null if it is none. */
export function toId(text: string): number | null {
  return /^[1-9]\d{0,15}$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : null;
}
