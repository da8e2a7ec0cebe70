import { dirname, resolve, isAbsolute, relative, sep } from "node:path";
import { keyOf, rowsOf, type ListName, type Row } from "#shared/client/apply/document.ts";
import { pairRows, planOf, type Plan } from "#shared/client/apply/plan.ts";
import { explainRefusal, hideSecrets, listProblems } from "#shared/client/apply/problems.ts";
import {
  locateProblem,
  readDocument,
  type ReadDocument,
  type SecretSources,
} from "#shared/client/apply/read-document.ts";
import {
  fingerprint,
  importDocument,
  readState,
  type Imported,
  type State,
  type Step,
} from "#shared/client/apply/service.ts";
import type { ShownPlan } from "#shared/client/apply/show-plan.ts";
import { planWebhooks, type WebhookPlan } from "#shared/client/apply/webhooks/plan.ts";
import { ownWebhooks } from "#shared/client/apply/webhooks/rows.ts";
import { listWebhooks, tryWebhooks, unseenSecrets } from "#shared/client/apply/webhooks/service.ts";
import { readConnection, type ClientFlags, type Connection } from "#shared/client/connection.ts";
import type { CommandContext } from "#shared/client/context.ts";
import { USAGE } from "#shared/client/exit-codes.ts";
import { readBounded, STDIN, readUpTo } from "#shared/client/input-file.ts";
import { describeError } from "#shared/contracts/error-code.ts";
import { realpathSync, statSync } from "node:fs";
import { quoted } from "#shared/text/quoted.ts";

/** Maximum size of a document, in bytes. */
const LARGEST_FILE = 8 * 1024 * 1024;

/** An apply whose plan is known. */
export interface Planned {
  readonly connection: Connection;
  readonly read: ReadDocument;
  readonly plan: Plan;
  /** null: the document has no list of webhooks. */
  readonly webhooks: WebhookPlan | null;
  readonly shown: ShownPlan;
  /** What its user should know, in sentences. */
  readonly warnings: readonly string[];
  /** The document and the account of the plan. */
  readonly fingerprint: string;
}

/** What an apply compares a document with. */
interface Account extends State {
  /** Webhooks as the service lists them; null: the document has no list of them. */
  readonly webhooks: readonly unknown[] | null;
}

/** Reads a document and the account, and finds what an apply would do. Nothing is written. */
export async function makePlan(context: CommandContext, flags: ClientFlags): Promise<Step<Planned>> {
  const file = String(flags["file"]);
  const text = await readText(context, file);
  if (!text.ok) return text;
  const readFile = openSecretFiles(context, flags);
  if (!readFile.ok) return readFile;
  const parsed = readDocument(text.value, { environment: context.environment, readFile: readFile.value });
  if (!parsed.ok) return { ok: false, line: listProblems(file, parsed.problems), exit: USAGE };
  const { read } = parsed;
  const prune = flags["prune"] === true;
  if (prune && read.owner === null) {
    return {
      ok: false,
      line: `--prune needs an owner in ${file}: it deletes only what an apply with that owner created`,
      exit: USAGE,
    };
  }
  const connection = readConnection(context, flags);
  if (!connection.ok) return { exit: USAGE, ...connection };
  const account = await readAccount(connection, read);
  if (!account.ok) return account;
  const paired = pairRows(read.document, account.value.document, { owner: read.owner, prune });
  const dryRun = await importDocument(connection, paired.document, true);
  if (!dryRun.ok) return explainRefusal(file, read, dryRun);
  if (dryRun.value.rows === null) {
    const line = `${connection.base} is of an older release, which does not say what an import changes`;
    return { ok: false, line, exit: USAGE };
  }
  const plan = planOf(paired, dryRun.value.rows);
  const webhooks = await settleWebhooks({ connection, read, file, prune }, account.value, plan);
  if (!webhooks.ok) return { ...webhooks, line: hideSecrets(read, webhooks.line) };
  return {
    ok: true,
    value: {
      connection,
      read,
      plan,
      webhooks: webhooks.value,
      shown: showBoth(plan, webhooks.value),
      warnings: warningsOf(dryRun.value, webhooks.value),
      fingerprint: fingerprintOf(read, account.value),
    },
  };
}

/** Reads what the account has of the lists of a document. */
export async function readAccount(connection: Connection, { document }: ReadDocument): Promise<Step<Account>> {
  const state = await readState(connection);
  if (!state.ok || document["webhooks"] === undefined) {
    return state.ok ? { ok: true, value: { ...state.value, webhooks: null } } : state;
  }
  if (state.value.monitors === null) {
    return { ok: false, line: `${connection.base} is of an older release, which cannot try webhooks`, exit: USAGE };
  }
  const webhooks = await listWebhooks(connection);
  return webhooks.ok ? { ok: true, value: { ...state.value, webhooks: webhooks.value } } : webhooks;
}

/** Returns a hash that says whether a document or the account has changed. */
export function fingerprintOf({ document }: ReadDocument, account: Account): string {
  return fingerprint([document, account.document, [...(account.monitors ?? [])], account.webhooks]);
}

/** Returns the ids of monitors by the names of a document: those of the account, and those that an import has made. */
export function idsByName(document: Row, { monitors }: State, ids: readonly number[]): ReadonlyMap<string, number> {
  const rows = rowsOf(document).monitors;
  return new Map([
    ...[...(monitors ?? [])].map(([id, name]) => [name, id] as const),
    ...ids.map((id, index) => [keyOf("monitors", rows[index] ?? {}), id] as const),
  ]);
}

/** Finds what an apply would do with webhooks; null: the document has no list of them. */
async function settleWebhooks(
  {
    connection,
    read,
    file,
    prune,
  }: {
    readonly connection: Connection;
    readonly read: ReadDocument;
    readonly file: string;
    readonly prune: boolean;
  },
  account: Account,
  { document, deleted }: Plan,
): Promise<Step<WebhookPlan | null>> {
  const { webhooks: rows } = read.document;
  if (account.webhooks === null || account.monitors === null || !Array.isArray(rows)) return { ok: true, value: null };
  const ids = idsByName(document, account, []);
  const names = [...ids.keys(), ...rowsOf(document).monitors.map((row) => keyOf("monitors", row))];
  const gone = new Set(deleted);
  const plan = planWebhooks(rows as readonly Row[], {
    own: ownWebhooks(account.webhooks, account.monitors),
    monitors: new Set(names.filter((name) => !gone.has(name))),
    pruned: prune ? read.owner : null,
  });
  const tried =
    plan.problems.length > 0
      ? ({ ok: true, value: plan } as const)
      : await tryWebhooks(connection, plan, { owner: read.owner, idOf: (name) => ids.get(name) });
  if (!tried.ok) return tried;
  const [first] = tried.value.problems;
  if (first === undefined) return tried;
  const located = tried.value.problems.map(({ index, field, message }) =>
    locateProblem(read, { row: `webhooks.${index}`, field, message }),
  );
  return { ok: false, line: listProblems(file, located), exit: first.exit };
}

/** Puts the plans of all lists together. */
function showBoth({ created, changed, unchanged, deleted }: Plan, webhooks: WebhookPlan | null): ShownPlan {
  const hooks = <T extends object>(rows: readonly T[] = []) =>
    rows.map((row) => ({ ...row, list: "webhooks" as const }));
  const monitor = (title: string) => ({ list: "monitors" as ListName, title });
  return {
    created: [...created, ...hooks(webhooks?.created)],
    changed: [...changed, ...hooks(webhooks?.changed)],
    unchanged: [...unchanged, ...hooks(webhooks?.unchanged)],
    deleted: [...deleted.map(monitor), ...hooks(webhooks?.deleted)],
  };
}

function warningsOf({ warnings }: Imported, webhooks: WebhookPlan | null): readonly string[] {
  return [...warnings, ...(webhooks === null ? [] : unseenSecrets(webhooks))];
}

async function readText(context: CommandContext, file: string): Promise<Step<string>> {
  const bytes = await readBounded(context, file, LARGEST_FILE);
  if (!bytes.ok) return { ...bytes, exit: USAGE };
  try {
    return { ok: true, value: new TextDecoder("utf-8", { fatal: true }).decode(bytes.value) };
  } catch {
    return { ok: false, line: `${file} cannot be read (it is not UTF-8)`, exit: USAGE };
  }
}

function openSecretFiles({ directory }: CommandContext, flags: ClientFlags): Step<SecretSources["readFile"]> {
  const file = String(flags["file"]);
  const folder = file === STDIN ? directory : dirname(resolve(directory, file));
  const { allowFiles = [] } = flags;
  const allowed = Array.isArray(allowFiles) ? allowFiles.map((one) => resolve(directory, String(one))) : [];
  try {
    return { ok: true, value: createSecretFiles(folder, allowed) };
  } catch (error) {
    return { ok: false, line: `a folder of --allow-files cannot be read (${describeError(error)})`, exit: USAGE };
  }
}

/** Maximum size of the file of a secret, in bytes. */
const LARGEST = 1024 * 1024;

/**
 * Returns a reader of the files that a document names: those in its folder and in the folders that its user allows, wherever
 * links lead. Somebody else can have written the document, and what it reads is sent to addresses of its choice. Throws if a
 * folder is not there.
 */
export function createSecretFiles(folder: string, allowed: readonly string[]): SecretSources["readFile"] {
  const own = realpathSync(folder);
  const folders = [own, ...allowed.map((one) => realpathSync(one))];
  const read = (path: string): ReturnType<SecretSources["readFile"]> => {
    const needs = `needs the file ${path}, which`;
    try {
      const file = realpathSync(resolve(own, path));
      if (!folders.some((one) => isInside(one, file))) {
        const option = `--allow-files ${quoted(dirname(file))}`;
        return { ok: false, why: `${needs} is outside of the document's folder; allow it with ${option}` };
      }
      if (!statSync(file).isFile()) return { ok: false, why: `${needs} is no file` };
      const bytes = readUpTo(file, LARGEST + 1);
      if (bytes.length > LARGEST) return { ok: false, why: `${needs} is larger than 1 MB` };
      return { ok: true, text: bytes.toString("utf8"), name: file === resolve(own, path) ? path : `${path} (${file})` };
    } catch (error) {
      return { ok: false, why: `${needs} cannot be read (${describeError(error)})` };
    }
  };
  const known = new Map<string, ReturnType<typeof read>>();
  return (path) => {
    const found = known.get(path) ?? read(path);
    known.set(path, found);
    return found;
  };
}

function isInside(folder: string, file: string): boolean {
  const way = relative(folder, file);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
