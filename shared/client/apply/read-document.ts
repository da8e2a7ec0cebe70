import {
  keyOf,
  LISTS,
  SECRET_FIELDS,
  secretsOf,
  valueAt,
  withValueAt,
  type Row,
  type RowList,
  type SecretField,
} from "#shared/client/apply/document.ts";
import { checkWebhooks } from "#shared/client/apply/webhooks/check.ts";
import { MASK, maskedUrl, WEBHOOK_SECRETS } from "#shared/client/apply/webhooks/rows.ts";
import { MOST_PROBLEMS, parseYaml, type FileProblem, type ParsedYaml, type Path } from "#shared/json/yaml.ts";
import { isRecord } from "#shared/text/is-record.ts";

/** Where secrets of a document come from. */
export interface SecretSources {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Returns the content of a file with what the file is called in the plan, or why it cannot be read. */
  readonly readFile: (file: string) => ReadSecret;
}

type ReadSecret =
  | { readonly ok: true; readonly text: string; readonly name: string }
  | { readonly ok: false; readonly why: string };

/** A variable or a file that a document reads. */
export interface UsedSource {
  readonly kind: "variable" | "file";
  readonly name: string;
  /** The secrets that have its value. */
  readonly uses: readonly { readonly list: RowList; readonly title: string; readonly field: string }[];
}

/** A document as an import takes it, but for its owner. */
export interface ReadDocument {
  /** With the values of its secrets. */
  readonly document: Row;
  readonly owner: string | null;
  /** Values that are never shown, the longest first: one can contain another. */
  readonly secrets: readonly string[];
  readonly sources: readonly UsedSource[];
  readonly placeOf: ParsedYaml["placeOf"];
}

/** The version of documents. */
export const VERSION = 2;
/** Beginning of keys that are the user's, such as those of anchors. */
const OF_USERS = "x-";
/** Owners: with `managed:` before it, one is a tag of at most 50 characters. */
const OWNER = /^[a-z0-9:_./-]{1,42}$/;
/** Shorter values are in many words: hiding them would hide what is wrong. */
const SHORTEST_SECRET = 4;
/** Maximum number of characters that are read from variables and files: rows can name one many times. */
const MOST_READ = 8 * 1024 * 1024;

/** Reads a document in YAML or JSON and resolves its secrets, or returns its problems. */
export function readDocument(
  text: string,
  sources: SecretSources,
):
  | { readonly ok: true; readonly read: ReadDocument }
  | { readonly ok: false; readonly problems: readonly FileProblem[] } {
  const yaml = parseYaml(text);
  if (!yaml.ok) return yaml;
  const { value, placeOf } = yaml.parsed;
  if (!isRecord(value)) {
    return { ok: false, problems: [{ place: null, message: "must be an object with version and monitors" }] };
  }
  const problems: FileProblem[] = [];
  const refuse = (path: Path, message: string) => {
    if (problems.length < MOST_PROBLEMS) problems.push({ place: placeOf(path), message });
  };
  for (const { path, message } of findNoJson(value, [])) refuse(path, message);
  const { owner = null, version } = value;
  // Rows of version 1 are always new monitors: a document that is applied twice would make them twice.
  if (version !== VERSION) refuse(["version"], `version must be ${VERSION}`);
  if (owner !== null && (typeof owner !== "string" || !OWNER.test(owner))) {
    refuse(["owner"], "owner must be 1 to 42 of the characters a-z 0-9 : _ . / -");
  }
  checkWebhooks(value["webhooks"], refuse);
  const used = new Map<string, UsedSource & { readonly uses: UsedSource["uses"][number][] }>();
  let read = 0;
  const resolved = SECRETS_IN.map(([list, fields]) => {
    const { [list]: rows } = value;
    const resolve = (row: unknown, index: number): unknown => {
      if (!isRecord(row)) return row;
      const refuseIn = (path: Path, message: string) => refuse([list, index, ...path], message);
      const use: Use = (kind, { name, text: { length } }, field) => {
        read += length;
        if (read > MOST_READ) return false;
        const key = `${kind} ${name}`;
        const source = used.get(key) ?? { kind, name, uses: [] };
        source.uses.push({ list, title: keyOf(list, row), field });
        used.set(key, source);
        return true;
      };
      return resolveSecrets(row, fields, { sources, use }, refuseIn);
    };
    return [list, Array.isArray(rows) ? rows.map(resolve) : rows] as const;
  });
  if (problems.length > 0) return { ok: false, problems };
  const own = Object.entries(value).filter(([name]) => !name.startsWith(OF_USERS));
  const document = {
    ...Object.fromEntries(own),
    ...Object.fromEntries(resolved.filter(([, rows]) => rows !== undefined)),
  };
  const secrets = resolved.flatMap(([list, rows]) =>
    Array.isArray(rows)
      ? rows.flatMap((row: unknown, index) =>
          isRecord(row) ? hiddenIn(list, row, (value[list] as readonly Row[])[index] ?? {}) : [],
        )
      : [],
  );
  const hidden = new Set(secrets.filter((one) => one.length >= SHORTEST_SECRET));
  return {
    ok: true,
    read: {
      document,
      owner: typeof owner === "string" ? owner : null,
      sources: [...used.values()],
      secrets: [...hidden].toSorted((one, other) => other.length - one.length),
      placeOf,
    },
  };
}

/** Lists whose rows have secrets, and where. */
const SECRETS_IN: readonly (readonly ["monitors" | "webhooks", readonly SecretField[]])[] = [
  ["monitors", SECRET_FIELDS],
  ["webhooks", WEBHOOK_SECRETS],
];

/**
 * Returns the values of a row that are never shown. The address of a webhook is one if others see it masked, or if it is
 * not in the document. `given`: the row as it is written.
 */
function hiddenIn(list: RowList, row: Row, given: Row): readonly string[] {
  const isWritten = list === "webhooks" && typeof given["url"] === "string";
  const isShown = isWritten && !maskedUrl({ format: "standard", ...row }).includes(MASK);
  const fields = list === "webhooks" ? WEBHOOK_SECRETS : SECRET_FIELDS;
  const secrets = secretsOf(row, fields).filter(({ name }) => !(isShown && name === "url"));
  return secrets.map(({ value }) => String(value));
}

/** Replaces the references in the secrets of a row: `{env: NAME}` and `{file: path}`. */
function resolveSecrets(
  row: Row,
  fields: readonly SecretField[],
  { sources, use }: { readonly sources: SecretSources; readonly use: Use },
  refuse: (path: readonly string[], message: string) => void,
): Row {
  let resolved = row;
  for (const { path, isMap } of fields) {
    const value = valueAt(row, path);
    const names = isMap ? Object.keys(isRecord(value) ? value : {}) : [null];
    for (const name of names) {
      const at = name === null ? path : [...path, name];
      const given = valueAt(row, at);
      if (!isRecord(given)) continue;
      const read = readReference(given, sources);
      if (!read.ok) {
        refuse(at, `${at.join(".")} ${read.why}`);
        continue;
      }
      if (use("env" in given ? "variable" : "file", read, at.join(".")))
        resolved = withValueAt(resolved, at, read.text);
      else refuse(at, `${at.join(".")} makes the values of variables and files larger than 8 MB together`);
    }
  }
  return resolved;
}

/** Notes what a secret is read from; false: it would be too much. */
type Use = (kind: UsedSource["kind"], read: Extract<ReadSecret, { readonly ok: true }>, field: string) => boolean;

function readReference(given: Row, { environment, readFile }: SecretSources): ReadSecret {
  const [[kind, source] = ["", ""], ...others] = Object.entries(given);
  const isReference = (kind === "env" || kind === "file") && typeof source === "string" && others.length === 0;
  if (!isReference) return { ok: false, why: "must be a text, {env: NAME} or {file: path}" };
  if (kind === "env") {
    // An environment inherits from objects.
    const text = (Object.hasOwn(environment, source) ? environment[source] : null) ?? "";
    return text === ""
      ? { ok: false, why: `needs the environment variable ${source}, which is not set` }
      : { ok: true, text, name: source };
  }
  const read = readFile(source);
  // Editors end a file with a line end, which is no part of a secret.
  return read.ok ? { ...read, text: read.text.replace(/\r?\n$/, "") } : read;
}

/** Finds values that JSON does not have. */
function* findNoJson(value: unknown, path: Path): Generator<{ readonly path: Path; readonly message: string }> {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* findNoJson(item, [...path, index]);
  } else if (isRecord(value)) {
    for (const [name, item] of Object.entries(value)) yield* findNoJson(item, [...path, name]);
  } else if (typeof value === "number" && !Number.isFinite(value)) {
    yield { path, message: `${path.join(".")} must be a finite number` };
  } else if (typeof value === "string" && !value.isWellFormed()) {
    yield { path, message: `${path.join(".")} must be Unicode text without lone surrogates` };
  }
}

/** A problem that the service has found: `row` such as `monitors.3`, and a dotted path in it; null: the whole row. */
interface RowProblem {
  readonly row: string | null;
  readonly field: string | null;
  readonly message: string;
}

/** Returns a problem of the service as one of the file: its place, its row by name, its field. */
export function locateProblem({ document, placeOf }: ReadDocument, { row, field, message }: RowProblem): FileProblem {
  const [list = "", index = ""] = row === null ? [] : row.split(".");
  const rows = document[list];
  const given: unknown = Array.isArray(rows) ? rows[Number(index)] : undefined;
  const start: Path = row === null ? [] : [list, Number(index)];
  const known = ([...LISTS, "webhooks"] satisfies readonly RowList[]).find((name) => name === list);
  const key = known !== undefined && isRecord(given) ? keyOf(known, given) : "";
  const called = row === null ? "" : `${row}${key === "" || list === "maintenance" ? "" : ` (${key})`}: `;
  return {
    place: placeOf([...start, ...(field === null ? [] : findPath(given ?? document, field.split(".")))]),
    message: `${called}${field === null ? "" : `${field} `}${message}`,
  };
}

/** Splits a dotted path into names of members; a name, such as that of a header field, can have dots itself. */
function findPath(value: unknown, words: readonly string[]): Path {
  if (words.length === 0) return [];
  for (let length = words.length; length > 1 && isRecord(value); length -= 1) {
    const name = words.slice(0, length).join(".");
    if (Object.hasOwn(value, name)) return [name, ...findPath(value[name], words.slice(length))];
  }
  const [name = "", ...rest] = words;
  if (Array.isArray(value)) return [Number(name), ...findPath(value[Number(name)], rest)];
  if (isRecord(value) && Object.hasOwn(value, name)) return [name, ...findPath(value[name], rest)];
  return [name];
}
