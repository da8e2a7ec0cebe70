import { createHash } from "node:crypto";
import { keyOf, rowsOf, type Row } from "#shared/client/apply/document.ts";
import { ownerTag, type RowToImport } from "#shared/client/apply/plan.ts";
import { field } from "#shared/client/call.ts";
import { ask, type Asked, type Connection } from "#shared/client/connection.ts";
import { isRecord } from "#shared/text/is-record.ts";
import { toCanonicalJson } from "#shared/json/canonical.ts";

/** A value, or why the service does not give it. */
export type Step<T> = { readonly ok: true; readonly value: T } | Extract<Asked, { readonly ok: false }>;

/** What an import has done, or would do. */
export interface Imported {
  /** Ids of the monitors of the document, row by row; none of a dry run. */
  readonly ids: readonly number[];
  /** The rows that a dry run would create or change; null: the service is of a release that does not say so. */
  readonly rows: readonly RowToImport[] | null;
  /** What the service leaves out or removes, in sentences. */
  readonly warnings: readonly string[];
}

const MONITORS = "/api/v4/monitors";
/** Time limit of a request, milliseconds: thousands of rows take some seconds. */
const TIMEOUT_MS = 120_000;
/** Rows of a page of a list: the most that the service gives. */
const PER_PAGE = 100;

/** What an account has. */
export interface State {
  /** The document of an export. */
  readonly document: Row;
  /** Names of its monitors there, by id; null: the service is of a release that does not say the ids. */
  readonly monitors: ReadonlyMap<number, string> | null;
}

/** Reads the account. */
export async function readState(connection: Connection): Promise<Step<State>> {
  const answer = await ask(connection, `${MONITORS}?action=export`, { timeoutMs: TIMEOUT_MS });
  if (!answer.ok) return answer;
  const { data: document, meta } = answer;
  if (!isRecord(document)) return { ok: false, line: `${connection.base} answered without a document`, exit: 5 };
  const names = rowsOf(document).monitors.map((row) => keyOf("monitors", row));
  const ids = field(meta, "monitor_ids");
  const monitors = Array.isArray(ids) ? new Map(numbersOf(ids).map((id, index) => [id, names[index] ?? ""])) : null;
  return { ok: true, value: { document, monitors } };
}

function numbersOf(list: unknown): readonly number[] {
  return Array.isArray(list) ? list.map(Number) : [];
}

/** Imports a document; a dry run only tries it. */
export async function importDocument(
  connection: Connection,
  document: Row,
  isDryRun: boolean,
): Promise<Step<Imported>> {
  const path = `${MONITORS}?action=import${isDryRun ? "&dry_run=1" : ""}`;
  const answer = await ask(connection, path, { method: "POST", json: document, timeoutMs: TIMEOUT_MS });
  if (!answer.ok) return answer;
  const warnings = field(answer.meta, "warnings");
  const messages = Array.isArray(warnings) ? warnings.map((one) => field(one, "message")) : [];
  return {
    ok: true,
    value: {
      ids: numbersOf(field(answer.data, "ids")),
      rows: rowsToImport(field(answer.data, "changes")),
      warnings: messages.filter((one) => typeof one === "string"),
    },
  };
}

function rowsToImport(changes: unknown): readonly RowToImport[] | null {
  if (!Array.isArray(changes)) return null;
  return changes.map((one: unknown) => {
    const fields = field(one, "fields");
    return {
      row: String(field(one, "row")),
      action: field(one, "action") === "created" ? "created" : "changed",
      fields: Array.isArray(fields) ? fields.map(String) : [],
    };
  });
}

/** Returns the ids of monitors of an owner by their names in an export. Fails if a name does not say which one it is. */
export async function findManaged(
  connection: Connection,
  owner: string,
  names: readonly string[],
): Promise<Step<readonly { readonly id: number; readonly name: string }[]>> {
  const rows: { readonly id: number; readonly name: string }[] = [];
  for (let page = 1; ; page += 1) {
    const query = `tag=${encodeURIComponent(ownerTag(owner))}&per_page=${PER_PAGE}&page=${page}`;
    // oxlint-disable-next-line no-await-in-loop -- the last page says that there are no more
    const answer = await ask(connection, `${MONITORS}?${query}`, { timeoutMs: TIMEOUT_MS });
    if (!answer.ok) return answer;
    const read = Array.isArray(answer.data) ? (answer.data as readonly Row[]) : [];
    rows.push(...read.map(({ id, name }) => ({ id: Number(id), name: String(name) })));
    if (read.length < PER_PAGE) break;
  }
  const found: { readonly id: number; readonly name: string }[] = [];
  for (const name of names) {
    const own = rows.filter((row) => row.name === name);
    const [one] = own;
    if (one === undefined || own.length > 1) {
      const line = `${own.length} monitors with the tag ${ownerTag(owner)} have the name ${name}: nothing is deleted; rename or delete it yourself`;
      return { ok: false, line, exit: 2 };
    }
    found.push(one);
  }
  return { ok: true, value: found };
}

/** Deletes a monitor. */
export function deleteMonitor(connection: Connection, id: number): Promise<Asked> {
  return ask(connection, `${MONITORS}?id=${id}`, { method: "DELETE", timeoutMs: TIMEOUT_MS });
}

/** Returns the SHA-256 of values of JSON, which says whether one has changed. */
export function fingerprint(values: readonly unknown[]): string {
  return createHash("sha256").update(toCanonicalJson(values)).digest("hex");
}
