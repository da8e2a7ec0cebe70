import type { ClientFlags } from "#shared/client/connection.ts";
import { field } from "#shared/client/call.ts";
import type { CommandContext } from "#shared/client/context.ts";
import { table } from "#shared/client/table.ts";
import { flatten } from "#shared/contracts/render.ts";
import { cutLine, withoutControls } from "#shared/text/plain-line.ts";

/** Longest cell of a table; --json shows values whole. */
const LONGEST_CELL = 60;

/** Reports whether a command prints JSON: where it is asked for, and where no person reads it. */
export function isJson(context: CommandContext, flags: ClientFlags): boolean {
  return flags["json"] === true || !context.output.isTerminal;
}

/** Prints rows: a table on a terminal, else JSON. */
export function printRows(
  context: CommandContext,
  flags: ClientFlags,
  rows: readonly unknown[],
  columns: readonly string[],
): void {
  context.say(isJson(context, flags) ? JSON.stringify(rows, null, 2) : tableOf(rows, columns));
}

/** Formats rows as a table with short cells. */
export function tableOf(rows: readonly unknown[], columns: readonly string[]): string {
  const short = (value: unknown) => (typeof value === "string" ? cutLine(value, LONGEST_CELL) : value);
  const cut = rows.map((row) => Object.fromEntries(columns.map((name) => [name, short(field(row, name))])));
  return table(cut, columns);
}

/** Prints one resource: `name: value` lines on a terminal, else JSON. */
export function printOne(context: CommandContext, flags: ClientFlags, data: unknown): void {
  const lines = () => flatten(data).map(([path, value]) => `${path}: ${withoutControls(value)}`);
  context.say(isJson(context, flags) ? JSON.stringify(data, null, 2) : lines().join("\n"));
}

/** Prints the warnings of an answer, each on a line of standard error. */
export function printWarnings(context: CommandContext, name: string, meta: unknown): void {
  const warnings = field(meta, "warnings");
  for (const warning of Array.isArray(warnings) ? (warnings as readonly unknown[]) : []) {
    const words = [field(warning, "parameter"), field(warning, "message")].filter((one) => typeof one === "string");
    context.complain(`vantage ${name}: note: ${words.join(": ")}`);
  }
}
