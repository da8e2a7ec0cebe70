import type { Command } from "commander";
import { showValue } from "#shared/client/apply/show-plan.ts";
import { field } from "#shared/client/call.ts";
import { ask, failWith, type Asked, type ClientFlags, type Connection } from "#shared/client/connection.ts";
import type { CommandContext } from "#shared/client/context.ts";
import { INTERRUPTED } from "#shared/client/exit-codes.ts";
import type { Noun } from "#shared/client/nouns/nouns.ts";
import { isJson, printWarnings } from "#shared/client/nouns/output.ts";
import { readRows } from "#shared/client/nouns/requests.ts";
import { cell } from "#shared/client/table.ts";

/** Most resources that the service changes at once. */
const MOST = 1_000;
/** Time limit of a request, milliseconds: a thousand of them take some seconds. */
const TIMEOUT_MS = 120_000;
/** What the service shows in place of values that are secret or long. */
const CHANGED = "changed";

/** Adds the flags of `edit` for resources of which the API changes many at once. */
export function addManyFlags(command: Command, noun: Noun): void {
  command
    .option("--tag <tag>", `change every ${noun.one} with this tag`)
    .option("--dry-run", "only show what would change")
    .option("--yes", "do not ask before several are changed (without a terminal it must be given)");
}

/** Reports whether these words and flags mean several, and not one by its id. */
export function meansMany(ids: readonly string[], flags: ClientFlags): boolean {
  return ids.length !== 1 || flags["tag"] !== undefined || flags["dryRun"] === true;
}

/** What is to be changed. */
interface ManyEdited {
  readonly connection: Connection;
  readonly noun: Noun;
  readonly flags: ClientFlags;
  readonly ids: readonly string[];
  /** Fields that each gets. */
  readonly set: object;
}

/** Changes several resources in the same way: shows what changes, asks, and does it at once or not at all. */
export async function editMany(context: CommandContext, edited: ManyEdited): Promise<void> {
  const { connection, noun, flags, set } = edited;
  const name = `${noun.name} edit`;
  const [isDryRun, isSure] = [flags["dryRun"] === true, flags["yes"] === true];
  if (!isDryRun && !isSure && (!context.input.isTerminal || flags["file"] === "-")) {
    return failWith(context, name, { line: "there is no terminal to ask on: give --yes, or --dry-run" });
  }
  const found = await findIds(edited);
  if (!found.ok) return failWith(context, name, found);
  const change = (dry_run: boolean): Promise<Asked> => {
    const json = { ids: found.ids, set, dry_run };
    return ask(connection, `${noun.path}?action=bulk`, { method: "PUT", json, timeoutMs: TIMEOUT_MS });
  };
  const first = await change(!isSure || isDryRun);
  if (!first.ok) return failAll(context, name, first);
  if (isSure || isDryRun || field(first.data, "changed") === 0) return print(context, edited, first);
  for (const line of linesOf(noun, first.data)) context.complain(line);
  printWarnings(context, name, first.meta);
  const typed = await context.input.ask("Change them? [y/N] ");
  if (typed === null || !/^y(?:es)?$/i.test(typed)) {
    return failWith(context, name, { line: "nothing is changed", ...(typed === null ? { exit: INTERRUPTED } : {}) });
  }
  const done = await change(false);
  if (done.ok) print(context, edited, done);
  else failAll(context, name, done);
}

type FoundIds = { readonly ok: true; readonly ids: readonly number[] } | { readonly ok: false; readonly line: string };

/** Returns the ids that are given, or those of all with the tag. */
async function findIds({ connection, noun, flags, ids }: ManyEdited): Promise<FoundIds> {
  const { tag } = flags;
  if (typeof tag !== "string") {
    if (ids.length === 0) return { ok: false, line: `no ${noun.one}: give ids, or --tag` };
    const wrong = ids.find((id) => !/^\d{1,15}$/.test(id));
    return wrong === undefined
      ? { ok: true, ids: ids.map(Number) }
      : { ok: false, line: `an id is a whole number, not ${wrong}` };
  }
  if (ids.length > 0) return { ok: false, line: "give ids or --tag, not both" };
  const answer = await readRows(connection, noun, { tag, limit: MOST + 1 });
  if (!answer.ok) return answer;
  const rows = answer.data as readonly unknown[];
  if (rows.length === 0) return { ok: false, line: `no ${noun.one} has the tag ${tag}` };
  if (rows.length > MOST)
    return { ok: false, line: `more than ${MOST} have the tag ${tag}, the most that change at once` };
  return { ok: true, ids: rows.map((row) => Number(field(row, noun.id))) };
}

function print(
  context: CommandContext,
  { noun, flags }: ManyEdited,
  { data, meta }: Asked & { readonly ok: true },
): void {
  printWarnings(context, `${noun.name} edit`, meta);
  context.say(isJson(context, flags) ? JSON.stringify(data, null, 2) : linesOf(noun, data).join("\n"));
}

/** Formats what changes, a line for each resource that does and one for each field of it, and how many there are. */
function linesOf({ one }: Noun, data: unknown): readonly string[] {
  const changed = listIn(data, "monitors").flatMap((row) => {
    const fields = listIn(row, "changed");
    return fields.length === 0
      ? []
      : [`${one} ${cell(field(row, "id"))} ${cell(field(row, "name"))}`, ...fields.map(lineOf)];
  });
  const [count, kept] = [Number(field(data, "changed")), Number(field(data, "unchanged"))];
  const verb = field(data, "dry_run") === true ? "to change" : "changed";
  return [...changed, `${count} ${verb}, ${kept} unchanged`];
}

function lineOf(change: unknown): string {
  const name = cell(field(change, "field"));
  const [before, after] = [field(change, "before"), field(change, "after")];
  if (before === CHANGED && after === CHANGED) return `    ${name}: changed`;
  return `    ${name}: ${showValue(before)} -> ${showValue(after)}`;
}

/** Prints every problem of a refusal, each on a line, if there are several. */
function failAll(context: CommandContext, name: string, failed: Asked & { readonly ok: false }): void {
  const problems = listIn(failed.error, "problems");
  for (const problem of problems.length > 1 ? problems : []) {
    const id = field(problem, "id");
    const where = [id === undefined ? cell(field(problem, "row")) : cell(id), field(problem, "field")];
    const place = where.filter((part) => typeof part === "string").join(": ");
    context.complain(`vantage ${name}: ${place}: ${cell(field(problem, "message"))}`);
  }
  failWith(context, name, failed);
}

function listIn(data: unknown, name: string): readonly unknown[] {
  const list = field(data, name);
  return Array.isArray(list) ? (list as readonly unknown[]) : [];
}
