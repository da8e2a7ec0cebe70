import { InvalidArgumentError, Option, type Command } from "commander";
import type { TypedField } from "#shared/client/api-fields.ts";
import { field } from "#shared/client/call.ts";
import {
  ACCOUNT_GROUP,
  addConnectionFlags,
  ask,
  failWith,
  readConnection,
  type ClientFlags,
  type Connection,
} from "#shared/client/connection.ts";
import type { CommandContext } from "#shared/client/context.ts";
import {
  FAIL_ON,
  INTERRUPTED,
  type FailOn,
  BAD,
  exitCodeOf,
  exitCodeOfLocations,
  exitCodeOfVerdict,
  GOOD,
} from "#shared/client/exit-codes.ts";
import { addBatchCreation } from "#shared/client/nouns/batch.ts";
import { addManyFlags, editMany, meansMany } from "#shared/client/nouns/edit-many.ts";
import { NOUNS, type Noun } from "#shared/client/nouns/nouns.ts";
import { pathOf, readBody, readOne, readRows } from "#shared/client/nouns/requests.ts";
import { printOne, printRows, printWarnings } from "#shared/client/nouns/output.ts";
import { WATCH_SECONDS, watchList } from "#shared/client/nouns/watch.ts";

const LISTED = { usual: 25, most: 10_000 } as const;

/** What the action of a command gets. */
interface Call {
  readonly connection: Connection;
  readonly flags: ClientFlags;
  /** The words before the flags. */
  readonly words: readonly string[];
}

/** Adds `deploy/vantage monitors list|show|create|edit|delete` and the like for each resource of the API. */
export function addNouns(program: Command, context: CommandContext): void {
  for (const noun of NOUNS) {
    const command = program
      .command(noun.name)
      .helpGroup(ACCOUNT_GROUP)
      .description(`${verbsOf(noun)} your ${noun.columns === null ? `${noun.one}es` : pluralOf(noun)}`);
    const add = { noun, command, context };
    if (noun.columns !== null) addList({ ...add, columns: noun.columns });
    addShow(add);
    if (noun.name === "batch") addBatchCreation(command, context);
    if (noun.create) addWrite({ ...add, verb: "create" });
    if (noun.tries === true) addTrial(add);
    if (noun.edit) addWrite({ ...add, verb: "edit" });
    if (noun.remove !== null) addRemoval({ ...add, verb: noun.remove });
  }
}

function verbsOf({ columns, name, create, tries, edit, remove }: Noun): string {
  const verbs = [
    ...(columns === null ? [] : ["list"]),
    "show",
    ...(create || name === "batch" ? ["create"] : []),
    ...(tries === true ? ["try"] : []),
    ...(edit ? ["edit"] : []),
    ...(remove === null ? [] : [remove]),
  ];
  return `${verbs.slice(0, -1).join(", ")} and ${verbs.at(-1)}`;
}

function pluralOf({ one }: Noun): string {
  return one === "delivery" ? "deliveries of webhooks" : `${one}s`;
}

interface Adding {
  readonly noun: Noun;
  readonly command: Command;
  readonly context: CommandContext;
}

/** Adds the flags of every command, and an action that has a connection. */
function act({ command, context }: Adding, name: string, action: (call: Call) => Promise<void>): void {
  addConnectionFlags(command).action(async (...given: unknown[]) => {
    // commander passes the arguments, then the flags, then the command itself.
    const flags = given.at(-2) as ClientFlags;
    const words = given
      .slice(0, -2)
      .flat()
      .filter((word) => typeof word === "string");
    const connection = readConnection(context, flags);
    if (connection.ok) await action({ connection, flags, words });
    else failWith(context, name, connection);
  });
}

function addJson(command: Command): Command {
  return command.option("--json", "print JSON (default: on a terminal text, else JSON)");
}

function addList(adding: Adding & { readonly columns: readonly string[] }): void {
  const { noun, context, columns } = adding;
  const command = adding.command.command("list").description(`list your ${pluralOf(noun)}`);
  for (const { name, meaning, choices } of noun.filters) {
    const option = new Option(`--${name.replaceAll("_", "-")} <value>`, meaning);
    command.addOption(choices === null ? option : option.choices(choices));
  }
  command
    .option("--limit <n>", `at most this many, 1 to ${LISTED.most}`, numberIn(1, LISTED.most), LISTED.usual)
    .option("--watch", "read again and again until Ctrl-C; in a pipe, print each new or changed row as a line of JSON")
    .option(
      "--every <seconds>",
      `seconds between two reads with --watch, ${WATCH_SECONDS.least} to ${WATCH_SECONDS.most}`,
      numberIn(WATCH_SECONDS.least, WATCH_SECONDS.most),
      WATCH_SECONDS.usual,
    );
  act({ ...adding, command: addJson(command) }, `${noun.name} list`, async ({ connection, flags }) => {
    const read = () => readRows(connection, noun, flags);
    if (flags["watch"] === true) {
      return watchList(context, { noun, columns, flags, seconds: Number(flags["every"]), read });
    }
    const answer = await read();
    if (!answer.ok) return failWith(context, `${noun.name} list`, answer);
    printRows(context, flags, answer.data as readonly unknown[], columns);
  });
}

function addShow(adding: Adding): void {
  const { noun, context } = adding;
  const command = adding.command.command("show").argument("<id>", `id of the ${noun.one}`);
  addJson(command).description(`show one ${noun.one} with everything that is known of it`);
  act({ ...adding, command }, `${noun.name} show`, async ({ connection, flags, words: [id = ""] }) => {
    const answer = await readOne(connection, noun, id);
    if (answer.ok) printOne(context, flags, answer.data);
    else failWith(context, `${noun.name} show`, answer);
  });
}

function addWrite(adding: Adding & { readonly verb: "create" | "edit" }): void {
  const { noun, context, verb } = adding;
  const name = `${noun.name} ${verb}`;
  const command = adding.command.command(verb);
  const isMany = verb === "edit" && noun.many;
  if (isMany) {
    command.argument("[ids...]", `id of the ${noun.one}, or of several`);
    addManyFlags(command, noun);
  } else if (verb === "edit") command.argument("<id>", `id of the ${noun.one}`);
  const changed = isMany ? `one or more ${pluralOf(noun)}` : `a ${noun.one}`;
  const what = `${verb === "create" ? `create a ${noun.one}` : `change fields of ${changed}`}; the API document lists the fields`;
  const fields = addFields(addJson(command).description(what));
  act({ ...adding, command }, name, async ({ connection, flags, words }) => {
    const [id = ""] = words;
    const body = await readBody(context, flags["file"], fields);
    if (!body.ok) return failWith(context, name, body);
    if (isMany && meansMany(words, flags)) {
      return editMany(context, { connection, noun, flags, ids: words, set: body.value });
    }
    const path = verb === "edit" ? pathOf(noun, id) : noun.path;
    const answer = await ask(connection, path, { method: verb === "edit" ? "PUT" : "POST", json: body.value });
    if (!answer.ok) return failWith(context, name, answer);
    printWarnings(context, name, answer.meta);
    printOne(context, flags, answer.data);
  });
}

/** Adds the flags of fields; returns those that are given, once the command line is read. */
function addFields(command: Command): readonly TypedField[] {
  const fields: TypedField[] = [];
  command
    .option("-f, --file <file>", "JSON file with the fields (-: standard input)")
    .addOption(
      new Option(
        "--set <field=value>",
        "one field, can be repeated, stronger than --file; null is no value; field[]=value adds to a list, field[member]=value sets a member",
      ).argParser((text) => fields.push({ text, as: "loose" })),
    );
  return fields;
}

/** Adds the command that runs one once, as it would be created or changed, with the flags of `create`. */
function addTrial(adding: Adding): void {
  const { noun, context } = adding;
  const name = `${noun.name} try`;
  const command = addJson(adding.command.command("try").argument("[id]", `id of a ${noun.one}`)).description(
    `run a ${noun.one} once as it would be created, or the one with an id as edit would change it, and write nothing; ends with 1 if it is down`,
  );
  const fields = addFields(command);
  command.addOption(
    new Option("--fail-on <verdict>", "what ends with status 1: down, also degraded (warning), or nothing")
      .choices(FAIL_ON)
      .default("critical" satisfies FailOn),
  );
  act({ ...adding, command }, name, async ({ connection, flags, words: [id] }) => {
    const isAsItIs = id !== undefined && flags["file"] === undefined && fields.length === 0;
    const body = isAsItIs ? { ok: true as const, value: {} } : await readBody(context, flags["file"], fields);
    if (!body.ok) return failWith(context, name, body);
    const path = id === undefined ? `${noun.path}?action=try` : `${pathOf(noun, id)}&action=try`;
    const call = { method: "POST", json: body.value, timeoutMs: TRIAL_MS } as const;
    const answer = await ask(connection, path, call);
    if (!answer.ok) return failWith(context, name, answer);
    printWarnings(context, name, answer.meta);
    const trial = readTrial(answer.data, flags["failOn"] as FailOn);
    if (!trial.ok) return failWith(context, name, trial);
    printOne(context, flags, answer.data);
    context.exit(trial.exit);
  });
}

function addRemoval(adding: Adding & { readonly verb: "delete" | "cancel" }): void {
  const { noun, context, verb } = adding;
  const name = `${noun.name} ${verb}`;
  const command = adding.command.command(verb).argument("<id>", `id of the ${noun.one}`);
  addJson(command)
    .description(`${verb} a ${noun.one}`)
    .option("--yes", "do not ask (without a terminal it must be given)");
  act({ ...adding, command }, name, async ({ connection, flags, words: [id = ""] }) => {
    if (flags["yes"] !== true) {
      const refused = await confirm(context, connection, { noun, verb, id });
      if (refused !== null) return failWith(context, name, refused);
    }
    const answer = await ask(connection, pathOf(noun, id), { method: "DELETE" });
    if (answer.ok) printOne(context, flags, answer.data);
    else failWith(context, name, answer);
  });
}

/** Asks whether to go on; null if so, else why not. */
async function confirm(
  { input }: CommandContext,
  connection: Connection,
  { noun, verb, id }: { readonly noun: Noun; readonly verb: string; readonly id: string },
): Promise<{ readonly line: string; readonly exit?: number } | null> {
  if (!input.isTerminal) return { line: `there is no terminal to ask whether to ${verb} it: give --yes` };
  const found = await readOne(connection, noun, id);
  if (!found.ok) return found;
  const label = field(found.data, "name") ?? field(found.data, "title");
  const what = typeof label === "string" && label !== "" ? `${noun.one} ${id} (${label})` : `${noun.one} ${id}`;
  const typed = await input.ask(`${verb === "delete" ? "Delete" : "Cancel"} ${what}? [y/N] `);
  if (typed === null) return { line: "nothing is changed", exit: INTERRUPTED };
  return /^y(es)?$/i.test(typed) ? null : { line: "nothing is changed" };
}

/** Creates a commander parser of a whole number within bounds. */
function numberIn(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
    if (value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  };
}

/** Longest wait for the answer of a try, in milliseconds: the service ends it after 90 s. */
const TRIAL_MS = 100_000;

/** What a try says to the shell. */
type Trial =
  | { readonly ok: true; readonly exit: typeof GOOD | typeof BAD }
  /** Nothing is known: the exit status, and the line that says why. */
  | { readonly ok: false; readonly exit: number; readonly line: string };

/**
 * Reads the answer of a try as tools read theirs: by its verdict; where that is unknown, by the worst of its checks that
 * say something about the target. What has nothing to check is good.
 */
export function readTrial(data: unknown, failOn: FailOn): Trial {
  const verdict = field(data, "verdict");
  if (field(data, "checked") === false || verdict === "up") return { ok: true, exit: GOOD };
  if (verdict === "degraded") return { ok: true, exit: exitCodeOfVerdict("warning", failOn) };
  const bad = exitCodeOfVerdict("bad", failOn);
  if (verdict === "down") return { ok: true, exit: bad };
  const checks = field(data, "checks");
  const exit = exitCodeOfLocations(Array.isArray(checks) ? (checks as readonly unknown[]).map(exitOfCheck) : []);
  if (exit === GOOD || exit === BAD) return { ok: true, exit: exit === BAD ? bad : GOOD };
  const message = field(field(data, "cause"), "message");
  return { ok: false, exit, line: typeof message === "string" ? message : "nothing is known about the target" };
}

function exitOfCheck(check: unknown): ReturnType<typeof exitCodeOf> {
  const status = field(check, "status");
  if (status === "up" || status === "degraded") return GOOD;
  if (status === "down") return BAD;
  return exitCodeOf(0, { error: { code: "request_failed", source: field(field(check, "error"), "source") } });
}
