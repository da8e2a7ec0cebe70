import type { CommandContext } from "#shared/client/context.ts";
import { readTerminal } from "#shared/client/terminal.ts";
import { presentResult, type ToolResult } from "#shared/client/tools/answer.ts";
import { showHidden } from "#shared/text/hidden-characters.ts";
import { writePlain, type PlainOptions } from "#shared/presentation/plain.ts";
import { present } from "#shared/presentation/present.ts";
import type { Presentation } from "#shared/presentation/presentation.ts";
import { milliseconds } from "#shared/presentation/values.ts";
import { renderCsv } from "#shared/contracts/render.ts";
import type { Contract } from "#shared/tools/define.ts";

/** With more locations than this, only --full shows the result of each one. */
const MOST_WHOLE = 3;
/** Lines of a result on a terminal without --full: its verdict, at the top, does not scroll away. */
const MOST_LINES = 60;

/** Prints a result for programs: JSON, or CSV with the line ends of RFC 4180. */
export function printDocument(context: CommandContext, { document }: ToolResult, format: "json" | "csv"): void {
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
export function printLatency(context: CommandContext, contract: Contract, { rows }: ToolResult): void {
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
