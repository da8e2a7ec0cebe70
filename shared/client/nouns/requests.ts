import { parseExact } from "#shared/json/exact.ts";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { readFields, type TypedField } from "#shared/client/api-fields.ts";
import { field } from "#shared/client/call.ts";
import { ask, type Asked, type ClientFlags, type Connection } from "#shared/client/connection.ts";
import type { CommandContext } from "#shared/client/context.ts";
import { USAGE } from "#shared/client/exit-codes.ts";
import type { Noun } from "#shared/client/nouns/nouns.ts";
import { isRecord } from "#shared/text/is-record.ts";

/** Rows of the API's largest page. */
const PAGE = 100;

/** Reads as many rows as --limit says, page by page. */
export async function readRows(connection: Connection, noun: Noun, flags: ClientFlags): Promise<Asked> {
  const limit = Number(flags["limit"]);
  const rows: unknown[] = [];
  for (let page = 1; ; page++) {
    const query = new URLSearchParams({ page: String(page), per_page: String(Math.min(limit, PAGE)) });
    for (const { name } of noun.filters) {
      const value = flags[name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())];
      if (typeof value === "string") query.set(name, value);
    }
    const answer = await ask(connection, `${noun.path}?${query.toString()}`);
    if (!answer.ok) return answer;
    const { data, meta } = answer;
    const pages = field(field(meta, "pagination"), "pages");
    if (Array.isArray(data)) rows.push(...(data as readonly unknown[]));
    // A list without pages is whole.
    if (typeof pages !== "number" || page >= pages || rows.length >= limit) {
      return { ok: true, data: rows.slice(0, limit), meta };
    }
  }
}

/** Reads one resource, also of a list that the API does not narrow by id. */
export async function readOne(connection: Connection, noun: Noun, id: string): Promise<Asked> {
  const answer = await ask(connection, pathOf(noun, id));
  if (!answer.ok || !Array.isArray(answer.data)) return answer;
  const found = (answer.data as readonly unknown[]).find((row) => String(field(row, noun.id)) === id);
  if (found !== undefined) return { ...answer, data: found };
  return { ok: false, line: `not_found: No ${noun.one} has the id ${id}.`, exit: USAGE };
}

/** Returns the path of one resource. */
export function pathOf({ path, id: name }: Noun, id: string): string {
  return `${path}?${new URLSearchParams({ [name]: id }).toString()}`;
}

type Body = { readonly ok: true; readonly value: object } | { readonly ok: false; readonly line: string };

/** Reads the fields of a write from a JSON file (-: standard input) and from --set, which is stronger. */
export async function readBody(context: CommandContext, file: unknown, typed: readonly TypedField[]): Promise<Body> {
  if (file === undefined && typed.length === 0) {
    return { ok: false, line: "no fields: give --set field=value or --file" };
  }
  const fields = readFields(typed, () => null);
  if (!fields.ok) return { ok: false, line: `--set: ${fields.line}` };
  if (typeof file !== "string") return fields;
  try {
    const bytes = file === "-" ? await context.input.read() : readFileSync(resolve(context.directory, file));
    const value: unknown = parseExact(bytes.toString("utf8"), "value");
    if (isRecord(value)) return { ok: true, value: { ...value, ...fields.value } };
    return { ok: false, line: `${file} must contain a JSON object` };
  } catch (error) {
    const isText = error instanceof SyntaxError;
    return { ok: false, line: `${file} ${isText ? `is not JSON: ${error.message}` : "cannot be read"}` };
  }
}
