import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { isatty } from "node:tty";
import type { Command } from "commander";
import { callService, explainNoAnswer, type Call } from "#shared/client/call.ts";
import { addConnectionFlags, readConnection, type Connection } from "#shared/client/connection.ts";
import type { CommandContext } from "#shared/client/context.ts";
import { INTERRUPTED, NO_SERVICE, USAGE, type FailOn } from "#shared/client/exit-codes.ts";
import { exitCodeOfResult, readToolAnswer, type ToolAnswer, type ToolResult } from "#shared/client/tools/answer.ts";
import { startLive, type Live } from "#shared/client/tools/live.ts";
import { addToolOptions, formatOf, readBody, type Flags } from "#shared/client/tools/options.ts";
import { nameParam } from "#shared/tools/command-params.ts";
import { printDocument, printForPeople, printLatency } from "#shared/client/tools/print.ts";
import { LAUNCHER } from "#shared/settings/launcher.ts";
import { CONTRACTS } from "#shared/tools/index.ts";
import type { Contract } from "#shared/tools/define.ts";

/** The longest deadline of a tool, milliseconds. */
const LONGEST_MS = 90_000;
/** Time for the network in addition to the tool's deadline, milliseconds. */
const PATIENCE_MS = 10_000;

/** Adds `deploy/vantage <tool> <target>` for every tool; the commands call the API of a running control plane. */
export function addTools(program: Command, context: CommandContext): void {
  for (const contract of CONTRACTS) addTool(program, context, contract);
}

function addTool(program: Command, context: CommandContext, contract: Contract): void {
  const { name, summary } = contract;
  const command = program
    .command(name)
    .description(summary)
    .helpGroup("Tools (need an API key):")
    .showHelpAfterError(`(${LAUNCHER} ${name} --help lists its options)`);
  // The open tier's name works here, too.
  if (contract.open?.name !== undefined) command.alias(contract.open.name);
  addToolOptions(command, contract);
  addConnectionFlags(command).action(async (value: string, flags: Flags) => {
    // Before the listener of Ctrl-C, which could not run while standard input is awaited.
    const text = readValue(value, context);
    const stop = new AbortController();
    // The second Ctrl-C finds no listener, and ends the process.
    const interrupt = () => stop.abort();
    process.once("SIGINT", interrupt);
    await runTool(context, contract, { value, text, flags, stop: stop.signal });
    process.off("SIGINT", interrupt);
  });
}

/** The words of a command line, and the signal of Ctrl-C. */
interface Run {
  readonly value: string;
  /** The value, or the content of the file that it names; null if that cannot be read. */
  readonly text: string | null;
  readonly flags: Flags;
  readonly stop: AbortSignal;
}

async function runTool(context: CommandContext, contract: Contract, { value, text, flags, stop }: Run): Promise<void> {
  const { now, complain, exit } = context;
  const end = (status: number, line: string) => {
    complain(`vantage ${contract.name}: ${line}`);
    exit(status);
  };
  if (text === null) return end(USAGE, `${value === "@-" ? "standard input" : value.slice(1)} cannot be read`);
  const read = readBody(contract, text, flags);
  if (!read.ok) return end(USAGE, read.line);
  const service = readConnection(context, flags);
  if (!service.ok) return end(service.exit ?? USAGE, service.line);
  const format = formatOf(flags, context.output.isTerminal);
  const live = format === "text" ? startLive(context, contract, "locations" in read.body) : null;
  const call = { json: read.body, signal: stop, ...(live === null ? {} : { onEvent: live.onEvent }) };
  const answer = await ask(service, contract, call);
  if (stop.aborted) {
    if (live !== null && live.rows.length > 0) {
      print(context, contract, { document: null, rows: live.rows, shareId: null }, { format, flags, live });
    }
    return end(INTERRUPTED, live?.hasPrinted() ? "interrupted: the result is not complete" : "interrupted");
  }
  if (!answer.ok) return end(answer.exit, answer.line);
  const { result } = answer;
  print(context, contract, result, { format, flags, live });
  if (result.shareId !== null) complain(`Shared: ${service.base}/s/${result.shareId}`);
  exit(exitCodeOfResult(result, contract, now(), flags["failOn"] as FailOn));
}

interface Printing {
  readonly format: ReturnType<typeof formatOf>;
  readonly flags: Flags;
  readonly live: Live | null;
}

function print(context: CommandContext, contract: Contract, result: ToolResult, printing: Printing): void {
  const { format, flags, live } = printing;
  if (format === "latency") return printLatency(context, contract, result);
  if (format === "text") {
    return printForPeople(context, contract, result, {
      isFull: flags["full"] === true,
      printed: live?.printed ?? new Set(),
      isContinued: live?.hasPrinted() ?? false,
    });
  }
  printDocument(context, result, format);
  const failure = result.rows.length === 1 ? result.rows[0]?.answer : undefined;
  if (failure?.ok === false) context.complain(`vantage ${contract.name}: ${failure.message}`);
}

async function ask(
  { base, key, own }: Connection,
  contract: Contract,
  call: Pick<Call, "json" | "signal" | "onEvent">,
): Promise<ToolAnswer> {
  try {
    const request = { ...call, method: "POST", key, own, timeoutMs: LONGEST_MS + PATIENCE_MS } as const;
    const { status, body } = await callService(`${base}/api/v4/${contract.name}`, request);
    return readToolAnswer(status, body, { base, nameParam: (field) => nameParam(contract, field) });
  } catch (error) {
    return { ok: false, exit: NO_SERVICE, line: explainNoAnswer(base, error) };
  }
}

function readValue(value: string, { directory }: CommandContext): string | null {
  if (!value.startsWith("@")) return value;
  try {
    // Node has set a terminal to answer EAGAIN while nothing is typed. Opened again, it waits.
    const input = isatty(0) ? "/dev/stdin" : 0;
    return readFileSync(value === "@-" ? input : resolve(directory, value.slice(1)), "utf8");
  } catch {
    return null;
  }
}
