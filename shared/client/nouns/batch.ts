import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import { field } from "#shared/client/call.ts";
import {
  addConnectionFlags,
  ask,
  failWith,
  readConnection,
  type Asked,
  type ClientFlags,
  type Connection,
} from "#shared/client/connection.ts";
import type { CommandContext } from "#shared/client/context.ts";
import { BAD, exitCodeOf, GOOD } from "#shared/client/exit-codes.ts";
import { isJson, printOne, tableOf } from "#shared/client/nouns/output.ts";

const NAME = "batch create";
const PATH = "/api/v4/batch";
/** Time between two reads of the progress, milliseconds: a plan counts each. */
const POLL_MS = 2_000;
const PER_PAGE = 100;

/** Adds `deploy/vantage batch create FILE`, which submits a list of targets and waits for their results. */
export function addBatchCreation(batch: Command, context: CommandContext): void {
  const create = batch
    .command("create")
    .argument("<file>", "file with a target on each line, or with the JSON body of the API (-: standard input)")
    .description(
      "check many targets with one tool and print their results (status 1: a target failed, or one was not checked)",
    )
    .option("--type <tool>", 'tool that checks them (default: "check")')
    .option("--no-wait", "print the batch without its results, and do not wait for them")
    .option("--json", "print JSON (default: on a terminal a table, else JSON)");
  addConnectionFlags(create).action(async (file: string, flags: ClientFlags) => {
    const connection = readConnection(context, flags);
    if (!connection.ok) return failWith(context, NAME, connection);
    const body = await readTargets(context, file, flags["type"]);
    if (!body.ok) return failWith(context, NAME, body);
    const submitted = await ask(connection, PATH, { method: "POST", json: body.value });
    if (!submitted.ok) return failWith(context, NAME, submitted);
    for (const one of listIn(submitted.data, "invalid_reasons")) {
      context.complain(
        `vantage ${NAME}: not accepted: ${String(field(one, "message"))} (${String(field(one, "url"))})`,
      );
    }
    if (flags["wait"] === false) return printOne(context, flags, submitted.data);
    const ended = await waitForEnd(context, connection, submitted.data);
    if (!ended.ok) return failWith(context, NAME, ended);
    printResults(context, flags, ended.data);
  });
}

type Body = { readonly ok: true; readonly value: object } | { readonly ok: false; readonly line: string };

/** Reads the body: a JSON object as it is, else one target per line; empty lines and those with # in front are left out. */
async function readTargets(context: CommandContext, file: string, type: unknown): Promise<Body> {
  let text: string;
  try {
    const bytes = file === "-" ? await context.input.read() : readFileSync(resolve(context.directory, file));
    text = bytes.toString("utf8").trim();
  } catch {
    return { ok: false, line: `${file} cannot be read` };
  }
  const typed = typeof type === "string" ? { type } : {};
  if (!text.startsWith("{")) {
    const lines = text.split("\n").map((line) => line.trim());
    return { ok: true, value: { urls: lines.filter((line) => line !== "" && !line.startsWith("#")), ...typed } };
  }
  try {
    return { ok: true, value: { ...(JSON.parse(text) as object), ...typed } };
  } catch (error) {
    return { ok: false, line: `${file} is not JSON: ${(error as Error).message}` };
  }
}

/** Waits until a batch has ended, with its progress on standard error; the batch with all results. */
async function waitForEnd(context: CommandContext, connection: Connection, batch: unknown): Promise<Asked> {
  const id = String(field(batch, "job_id"));
  const read = (page: number) => {
    const query = new URLSearchParams({ job_id: id, page: String(page), per_page: String(PER_PAGE) });
    return ask(connection, `${PATH}?${query.toString()}`);
  };
  let told = "";
  for (;;) {
    const answer = await read(1);
    if (!answer.ok) return { ...answer, line: `${answer.line} (the batch goes on: batch show ${id})` };
    const { data } = answer;
    const [total, completed, failed] = ["total", "completed", "failed"].map((name) => String(field(data, name)));
    const line = `vantage ${NAME}: ${id}: ${completed} of ${total} done, ${failed} failed`;
    if (line !== told) context.complain(line);
    told = line;
    if (field(data, "finished_at") !== null) return readAllResults(answer, read);
    await sleep(POLL_MS);
  }
}

async function readAllResults(
  first: Asked & { readonly ok: true },
  read: (page: number) => Promise<Asked>,
): Promise<Asked> {
  const results = [...listIn(first.data, "results")];
  const pages = Number(field(field(first.meta, "pagination"), "pages") ?? 1);
  for (let page = 2; page <= pages; page++) {
    const answer = await read(page);
    if (!answer.ok) return answer;
    results.push(...listIn(answer.data, "results"));
  }
  return { ...first, data: { ...(first.data as object), results } };
}

/**
 * Prints the results. If none says anything about its target, because the probes or the service failed, there is nothing to
 * print, and the status is theirs.
 */
function printResults(context: CommandContext, flags: ClientFlags, batch: unknown): void {
  const results = listIn(batch, "results");
  const codes = results.map(exitOf);
  const worst = Math.max(GOOD, ...codes);
  if (codes.length > 0 && codes.every((code) => code > BAD)) {
    const error = field(results[0], "error");
    const line = `no target was checked: ${String(field(error, "code"))}: ${String(field(error, "message"))}`;
    return failWith(context, NAME, { line, exit: worst });
  }
  const rows = results.map((result) => ({
    url: field(result, "url"),
    status: field(result, "status"),
    duration_ms: field(result, "duration_ms"),
    error: field(field(result, "error"), "message") ?? "",
  }));
  if (isJson(context, flags)) context.say(JSON.stringify(batch, null, 2));
  else context.say(tableOf(rows, ["url", "status", "duration_ms", "error"]));
  if (worst > GOOD) context.exit(BAD);
}

/** Returns the exit status of one result. */
function exitOf(result: unknown): number {
  if (field(result, "status") === "ok") return GOOD;
  const error = field(result, "error");
  return error === undefined ? BAD : exitCodeOf(0, { error });
}

function listIn(data: unknown, name: string): readonly unknown[] {
  const list = field(data, name);
  return Array.isArray(list) ? (list as readonly unknown[]) : [];
}
