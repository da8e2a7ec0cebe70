import { styleText } from "node:util";
import type { CommandContext } from "#shared/client/context.ts";
import type { PlainOptions } from "#shared/presentation/plain.ts";

/** Columns of an output whose width is unknown. */
const USUAL_WIDTH = 80;

const STYLES = { bad: "red", warning: "yellow", good: "green", neutral: "cyan", title: "bold", faint: "dim" } as const;

/**
 * Returns the width and styles of standard output. COLUMNS gives the width where it is no terminal. NO_COLOR
 * (https://no-color.org) turns styles off, FORCE_COLOR turns them on or, with 0, off; FORCE_COLOR counts first, as in
 * Node.js.
 */
export function readTerminal({ environment, output }: Pick<CommandContext, "environment" | "output">): PlainOptions {
  const given = /^[1-9][0-9]{0,3}$/.exec(environment["COLUMNS"] ?? "");
  // Some terminals report 0 columns.
  const width = output.columns || Number(given?.[0] ?? USUAL_WIDTH);
  if (!hasColors(environment, output.isTerminal)) return { width };
  return { width, paint: (text, tone) => styleText(STYLES[tone], text, { validateStream: false }) };
}

function hasColors(environment: CommandContext["environment"], isTerminal: boolean): boolean {
  const forced = environment["FORCE_COLOR"];
  if (forced !== undefined) return forced !== "0" && forced !== "false";
  const isUnwanted = (environment["NO_COLOR"] ?? "") !== "" || environment["TERM"] === "dumb";
  return isTerminal && !isUnwanted;
}
