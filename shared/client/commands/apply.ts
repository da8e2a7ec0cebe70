import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Command } from "commander";
import type { Row } from "#shared/client/apply/document.ts";
import { isEmpty, planChanges, type Plan } from "#shared/client/apply/plan.ts";
import { locateProblem, readDocument, VERSION, type ReadDocument } from "#shared/client/apply/read-document.ts";
import {
  deleteMonitor,
  findManaged,
  fingerprint,
  importDocument,
  readState,
  type Imported,
  type Step,
} from "#shared/client/apply/service.ts";
import { settlePlan } from "#shared/client/apply/settle-plan.ts";
import { countPlan, showPlan } from "#shared/client/apply/show-plan.ts";
import type { FileProblem } from "#shared/client/apply/yaml.ts";
import { field } from "#shared/client/call.ts";
import {
  addConnectionFlags,
  failWith,
  readConnection,
  type ClientFlags,
  type Connection,
} from "#shared/client/connection.ts";
import type { CommandContext } from "#shared/client/context.ts";
import { INTERRUPTED, USAGE } from "#shared/client/exit-codes.ts";
import { describeError } from "#shared/error-code.ts";

/** Heading of the commands for documents. */
export const GROUP = "Monitoring as code (need an API key):";

/** Standard input or output as a file. */
export const STDIN = "-";

/** A failed step. */
type Failed = Extract<Step<unknown>, { readonly ok: false }>;

/** An apply whose plan is known. */
interface Planned {
  readonly connection: Connection;
  readonly read: ReadDocument;
  readonly plan: Plan;
  /** What the import would do. */
  readonly dryRun: Imported;
  /** The document and the account of the plan. */
  readonly fingerprint: string;
}

/** Adds `deploy/vantage apply`. */
export function addApply(program: Command, context: CommandContext): void {
  const applying = program
    .command("apply")
    .helpGroup(GROUP)
    .description("make your account have what a file has: show what changes, ask, and do it at once or not at all")
    .requiredOption("-f, --file <file>", "document of an export, in YAML or JSON; - is standard input")
    .option("--dry-run", "only show what would change")
    .option("--yes", "do not ask")
    .option(
      "--prune",
      "delete monitors that an apply with the owner of the document created, and that it does not have",
    );
  addConnectionFlags(applying).action(async (flags: ClientFlags) => {
    const isDryRun = flags["dryRun"] === true;
    if (!isDryRun && flags["yes"] !== true && (!context.input.isTerminal || flags["file"] === STDIN)) {
      return failWith(context, "apply", {
        line: "there is no terminal to ask on: pass --yes, or --dry-run to see what would change",
      });
    }
    const planned = await makePlan(context, flags);
    if (!planned.ok) return failWith(context, "apply", planned);
    const { plan, dryRun, read } = planned.value;
    const warnings = dryRun.warnings.map((one) => hideSecrets(read, `Warning: ${one}`));
    if (isEmpty(plan)) return context.say(["No change.", ...warnings].join("\n"));
    const shown = hideSecrets(read, [showPlan(plan), ...warnings].join("\n"));
    if (isDryRun) return context.say(`${shown}\n\nPlan: ${countPlan(plan)}.`);
    if (flags["yes"] !== true) {
      for (const line of `${shown}\n\nPlan: ${countPlan(plan)}.`.split("\n")) context.complain(line);
      const answer = await context.input.ask("Apply it? [y/N] ");
      if (answer === null || !/^y(?:es)?$/i.test(answer)) {
        return failWith(context, "apply", { line: "nothing is changed", exit: INTERRUPTED });
      }
    }
    const done = await carryOut(planned.value);
    if (!done.ok) return failWith(context, "apply", done);
    context.say(flags["yes"] === true ? `${shown}\n\n${done.value}` : done.value);
  });
}

async function makePlan(context: CommandContext, flags: ClientFlags): Promise<Step<Planned>> {
  const file = String(flags["file"]);
  const text = await readText(context, file);
  if (!text.ok) return text;
  const directory = file === STDIN ? context.directory : dirname(resolve(context.directory, file));
  const parsed = readDocument(text.value, {
    environment: context.environment,
    readFile: (path) => readSecret(directory, path),
  });
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
  const state = await readState(connection);
  if (!state.ok) return state;
  const first = planChanges(read.document, state.value, { owner: read.owner, prune });
  const dryRun = await importDocument(connection, first.document, true);
  if (!dryRun.ok) return explainRefusal(file, read, dryRun);
  const tryRows = async (monitors: readonly Row[]): Promise<Step<number>> => {
    const tried = await importDocument(connection, { version: VERSION, monitors }, true);
    return tried.ok ? { ok: true, value: tried.value.updated } : tried;
  };
  const plan = await settlePlan(first, dryRun.value, tryRows);
  if (!plan.ok) return { ...plan, line: hideSecrets(read, plan.line) };
  return {
    ok: true,
    value: {
      connection,
      read,
      plan: plan.value,
      dryRun: dryRun.value,
      fingerprint: fingerprint(read.document, state.value),
    },
  };
}

/** Does what a plan says, if the account is still as it was. */
async function carryOut({ connection, read, plan, fingerprint: planned }: Planned): Promise<Step<string>> {
  const state = await readState(connection);
  if (!state.ok) return state;
  if (fingerprint(read.document, state.value) !== planned) {
    return {
      ok: false,
      line: "your account has changed since the plan: nothing is written; run it again",
      exit: USAGE,
    };
  }
  const { owner } = read;
  const doomed: Step<readonly { readonly id: number; readonly name: string }[]> =
    owner === null || plan.deleted.length === 0
      ? { ok: true, value: [] }
      : await findManaged(connection, owner, plan.deleted);
  if (!doomed.ok) return doomed;
  const writes = plan.created.length + plan.changed.length > 0;
  const imported = writes ? await importDocument(connection, plan.document, false) : null;
  if (imported?.ok === false) return { ...imported, line: hideSecrets(read, imported.line) };
  let deleted = 0;
  const done = () =>
    `Created ${plan.created.length}, changed ${plan.changed.length}, deleted ${deleted}, unchanged ${plan.unchanged.length}.`;
  for (const { id, name } of doomed.value) {
    // oxlint-disable-next-line no-await-in-loop -- requests count by the plan, and the first failure ends it
    const answer = await deleteMonitor(connection, id);
    if (!answer.ok)
      return { ...answer, line: `${answer.line} (at the deletion of ${name}). ${done()} Run it again for the rest.` };
    deleted += 1;
  }
  return { ok: true, value: done() };
}

async function readText({ directory, input }: CommandContext, file: string): Promise<Step<string>> {
  try {
    const bytes = file === STDIN ? await input.read() : readFileSync(resolve(directory, file));
    return { ok: true, value: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch (error) {
    const why = error instanceof TypeError ? "it is not UTF-8" : describeError(error);
    return { ok: false, line: `${file} cannot be read (${why})`, exit: USAGE };
  }
}

function readSecret(directory: string, path: string) {
  try {
    return { ok: true as const, text: readFileSync(resolve(directory, path), "utf8") };
  } catch (error) {
    return { ok: false as const, why: `needs the file ${path}, which cannot be read (${describeError(error)})` };
  }
}

/** Returns a refusal of the service as problems of the file. */
function explainRefusal(file: string, read: ReadDocument, refused: Failed): Failed {
  const problems = field(refused.error, "problems");
  const text = (of: unknown, name: string) => {
    const value = field(of, name);
    return typeof value === "string" ? value : null;
  };
  const found = Array.isArray(problems)
    ? problems.map((one) => ({ row: text(one, "row"), field: text(one, "field"), message: text(one, "message") ?? "" }))
    : [];
  // The message of a single problem begins with its field.
  const single = text(refused.error, "field");
  const located =
    found.length > 0
      ? found.map((one) => locateProblem(read, one))
      : single === null
        ? []
        : [
            {
              ...locateProblem(read, { row: null, field: single, message: "" }),
              message: text(refused.error, "message") ?? "",
            },
          ];
  return { ...refused, line: hideSecrets(read, located.length === 0 ? refused.line : listProblems(file, located)) };
}

/** Formats problems, one a line: file, line and column as editors read them. */
function listProblems(file: string, problems: readonly FileProblem[]): string {
  const lines = problems.map(({ place, message }) => {
    return `${file}:${place === null ? "" : `${place.line}:${place.column}:`} ${message}`;
  });
  return [`${problems.length === 1 ? "1 problem" : `${problems.length} problems`}; nothing is changed`, ...lines].join(
    "\n",
  );
}

function hideSecrets({ secrets }: ReadDocument, text: string): string {
  return secrets.reduce((shown, secret) => shown.replaceAll(secret, "****"), text);
}
