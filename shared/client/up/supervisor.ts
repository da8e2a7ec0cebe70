// The program of `up` that waits: it starts PostgreSQL, the control plane and an agent, and restarts them. The command
// becomes it (shared/client/commands/up.ts). Everything that it imports stays in memory, so that helper.ts does the rest.
import { inspect } from "node:util";
import { NO_SERVICE } from "#shared/client/exit-codes.ts";
import { onNpmGone } from "#shared/client/npm-parent.ts";
import { whenAborted } from "#shared/client/up/aborted.ts";
import { embeddedDatabase, type Database } from "#shared/client/up/database.ts";
import { lockDirectory } from "#shared/client/up/directory-lock.ts";
import { openHelper, type Helper } from "#shared/client/up/helper.ts";
import { PLAN_VARIABLE, type Plan } from "#shared/client/up/plan.ts";
import { checkListener } from "#shared/client/up/ports.ts";
import { problem, type Problem } from "#shared/client/up/problem.ts";
import { openProcessTable } from "#shared/client/up/process-table.ts";
import { startProcesses, type Ground, type Undo } from "#shared/client/up/start-processes.ts";
import { showHiddenInLines } from "#shared/text/hidden-characters.ts";

const text = process.env[PLAN_VARIABLE];
// The command only compiles this file.
if (text !== undefined) {
  delete process.env[PLAN_VARIABLE];
  // A reader may close the output early; a log may be full.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  const stop = new AbortController();
  // Under npm, Ctrl-C arrives twice; a second abort has no effect.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => stop.abort());
  onNpmGone(process.env, () => stop.abort());
  const plan = JSON.parse(text) as Plan;
  process.exitCode = await supervise(plan, stop.signal).catch((error: unknown) => {
    complain(inspect(error));
    return NO_SERVICE;
  });
}

function say(line: string): void {
  process.stdout.write(`${showHiddenInLines(line)}\n`);
}

function complain(line: string): void {
  process.stderr.write(`${showHiddenInLines(line)}\n`);
}

/**
 * Runs everything until `stop`, then stops it in the order agent, control plane, PostgreSQL. Returns the exit status: 1
 * after a problem, which was printed.
 */
async function supervise(plan: Plan, stop: AbortSignal): Promise<0 | 1> {
  const undo: Undo = [];
  try {
    const up = await bringUp(plan, stop, undo);
    if (!up.ok) {
      complain(`vantage: ${up.line}`);
      return 1;
    }
    await whenAborted(stop);
    return 0;
  } finally {
    for (const step of undo.toReversed()) await step();
  }
}

async function bringUp(plan: Plan, stop: AbortSignal, undo: Undo): Promise<{ ok: true } | Problem> {
  const { dataDirectory, listeners, isDatabaseGiven } = plan;
  const release = await lockDirectory(dataDirectory);
  if (release === null)
    return problem(
      `Vantage is already running on ${dataDirectory}: stop it first, or set VANTAGE_DATA_DIR to another directory`,
    );
  undo.push(release);
  const helper = openHelper(process.env);
  undo.push(() => Promise.resolve(helper.end()));
  const processes = openProcessTable(dataDirectory);
  if ((await processes.endLeftovers()) > 0) say("Stopped processes that an earlier run had left.");
  for (const [name, address] of listeners) {
    const free = await checkListener(name, address);
    if (!free.ok) return free;
  }
  say(
    isDatabaseGiven
      ? "Starting the control plane and an agent ..."
      : "Starting PostgreSQL, the control plane and an agent ...",
  );
  const opened = isDatabaseGiven ? await externalDatabase(helper) : await embeddedDatabase(dataDirectory, helper, say);
  if (!opened.ok) return opened;
  const { database } = opened;
  undo.push(() => database.stop());
  if (stop.aborted) return { ok: true };
  const ground: Ground = { plan, environment: process.env, processes, database, helper, say, stop };
  return startProcesses(ground, undo);
}

/** Checks the operator's own server; does not start or stop it. */
async function externalDatabase(helper: Helper): Promise<{ ok: true; database: Database } | Problem> {
  const checked = await helper.ask("checkDatabase", null);
  return checked.ok ? { ok: true, database: { url: null, notes: [], stop: () => Promise.resolve() } } : checked;
}
