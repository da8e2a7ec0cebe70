import { expect, it } from "vitest";
import { readTerminal } from "#shared/client/terminal.ts";

const output = (columns: number | null) => ({ isTerminal: columns !== null, columns, write: () => {} });
const isStyled = (environment: Readonly<Record<string, string>>, columns: number | null) =>
  readTerminal({ environment, output: output(columns) }).paint?.("x", "bad") === "\u001b[31mx\u001b[39m";

it.each([
  [{}, 120, 120],
  [{}, null, 80],
  [{}, 0, 80],
  [{ COLUMNS: "40" }, null, 40],
  [{ COLUMNS: "40" }, 120, 120],
  [{ COLUMNS: "0" }, null, 80],
  [{ COLUMNS: "wide" }, null, 80],
])("with %j and a terminal of %j columns the width is %i", (environment, columns, width) => {
  expect(readTerminal({ environment, output: output(columns) }).width).toBe(width);
});

it.each([
  [{}, 80, true],
  [{}, null, false],
  [{ NO_COLOR: "1" }, 80, false],
  [{ NO_COLOR: "" }, 80, true],
  [{ TERM: "dumb" }, 80, false],
  [{ FORCE_COLOR: "1" }, null, true],
  [{ FORCE_COLOR: "" }, null, true],
  [{ FORCE_COLOR: "0" }, 80, false],
  [{ FORCE_COLOR: "false" }, 80, false],
  [{ FORCE_COLOR: "1", NO_COLOR: "1" }, 80, true],
] as const)("with %j and a terminal of %j columns text has styles: %j", (environment, columns, styled) => {
  expect(isStyled(environment, columns)).toBe(styled);
});
