import type { CommandContext } from "#shared/client/context.ts";
import { callService, explainNoAnswer, type Call } from "#shared/client/call.ts";
import { readConnection, type Connection } from "#shared/client/connection.ts";
import { INTERRUPTED, NO_SERVICE, USAGE, type FailOn } from "#shared/client/exit-codes.ts";
import {
  exitCodeOfResult,
  readToolAnswer,
  type ToolAnswer,
  type ToolResult,
  presentResult,
} from "#shared/client/tools/answer.ts";
import { startLive, type Live } from "#shared/client/tools/live.ts";
import { formatOf, readBody, type Flags } from "#shared/client/tools/options.ts";
import { nameParam } from "#shared/tools/command-params.ts";
import type { Contract } from "#shared/tools/define.ts";
import { readTerminal } from "#shared/client/terminal.ts";
import { showHidden } from "#shared/text/hidden-characters.ts";
import { writePlain, type PlainOptions } from "#shared/presentation/plain.ts";
import { present } from "#shared/tools/present.ts";
import type { Presentation } from "#shared/presentation/presentation.ts";
import { milliseconds } from "#shared/presentation/values.ts";
import { renderCsv } from "#shared/contracts/render.ts";

/** The longest deadline of a tool, milliseconds. */
const LONGEST_MS = 90_000;
/** Time for the network in addition to the tool's deadline, milliseconds. */
const PATIENCE_MS = 10_000;

/** The words of a command line, and the signal of Ctrl-C. */
interface Run {
  readonly value: string;
  /** The value, or the content of the file that it names; null if that cannot be read. */
  readonly text: string | null;
  readonly flags: Flags;
  readonly stop: AbortSignal;
}

/** Runs a tool by the API and prints its result. */
export async function runTool(
  context: CommandContext,
  contract: Contract,
  { value, text, flags, stop }: Run,
): Promise<void> {
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

/** With more locations than this, only --full shows the result of each one. */
const MOST_WHOLE = 3;
/** Lines of a result on a terminal without --full: its verdict, at the top, does not scroll away. */
const MOST_LINES = 60;

/** Prints a result for programs: JSON, or CSV with the line ends of RFC 4180. */
function printDocument(context: CommandContext, { document }: ToolResult, format: "json" | "csv"): void {
  if (format === "json") context.say(JSON.stringify(document, null, 2));
  else context.output.write(renderCsv(document).replace(/\n$/, ""));
}

/** What of a result people see. */
interface View {
  /** The result of each location, also if there are many. */
  readonly isFull: boolean;
  /** Titles of tables whose rows have been printed already. */
  readonly printed: ReadonlySet<string>;
  /** Lines of the running check stand above. */
  readonly isContinued: boolean;
}

/** Prints a result for people: all locations side by side, then each of them if there are few. */
export function printForPeople(context: CommandContext, contract: Contract, result: ToolResult, view: View): void {
  const options = readTerminal(context);
  const now = context.now();
  const write = (shown: Presentation) =>
    writePlain({ ...shown, tables: shown.tables.filter(({ title }) => !view.printed.has(title)) }, options);
  const { rows } = result;
  const blocks = [write(presentResult(contract, result, now))];
  const [only] = rows;
  if (rows.length === 1 && only !== undefined && only.place !== "" && !view.isContinued) {
    blocks.push(paintFaint(`Measured from ${only.place}`, options));
  }
  if (rows.length > 1 && (view.isFull || rows.length <= MOST_WHOLE)) {
    for (const { place, answer } of rows) {
      if (!answer.ok) continue;
      blocks.push(paintFaint(`From ${place}`, options), write(present(contract, answer.data, now)));
    }
  }
  const text = (view.isContinued ? "\n" : "") + blocks.join("\n\n");
  const lines = context.output.isTerminal && !view.isFull ? text.split("\n") : [];
  if (lines.length <= MOST_LINES) return context.output.write(text);
  const more = paintFaint(`${lines.length - MOST_LINES + 1} more lines: --full prints them`, options);
  context.output.write([...lines.slice(0, MOST_LINES - 1), more].join("\n"));
}

function paintFaint(text: string, { paint = (plain) => plain }: PlainOptions): string {
  return paint(showHidden(text), "faint");
}

/** Prints the timings of each location on a line, or why there are none. */
function printLatency(context: CommandContext, contract: Contract, { rows }: ToolResult): void {
  const room = Math.max(0, ...rows.map(({ place }) => place.length));
  for (const { place, answer } of rows) {
    const text = answer.ok ? writeTimings(present(contract, answer.data, context.now())) : answer.message;
    context.say(place === "" ? text : `${place.padEnd(room)}  ${text}`);
  }
}

/** Lists the facts and phases in milliseconds: "Average 12.3 ms, Fastest 11 ms". */
function writeTimings({ facts, series }: Presentation): string {
  const timings = [
    ...facts.flatMap(({ label, value, unit }) => (unit === "ms" ? [`${label} ${value} ms`] : [])),
    ...series.flatMap(({ unit, bars }) =>
      unit === "ms" ? bars.map(({ label, length }) => `${label} ${milliseconds(length)} ms`) : [],
    ),
  ];
  return timings.length === 0 ? "no timings" : timings.join(", ");
}
