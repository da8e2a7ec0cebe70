import { expect, it } from "vitest";
import { exampleOf } from "#control-plane/surfaces/api-document/components.ts";
import type { CommandContext } from "#shared/client/context.ts";
import type { ToolResult } from "#shared/client/tools/answer.ts";
import { printForPeople } from "#shared/client/tools/run-tool.ts";
import { contractsByName } from "#shared/tools/index.ts";
import { NOW } from "#test/shared/tools/examples.ts";

/** Prints the recorded example of health on a narrow output. Returns the lines. */
function linesOf(isTerminal: boolean, isFull: boolean): readonly string[] {
  const written: string[] = [];
  const output = { isTerminal, columns: 24, write: (text: string) => void written.push(text) };
  const context = { environment: { NO_COLOR: "1" }, now: () => NOW, output } as unknown as CommandContext;
  const answer = { ok: true, data: exampleOf("health")?.data };
  const result = { document: null, rows: [{ place: "", answer }], shareId: null } as unknown as ToolResult;
  printForPeople(context, contractsByName.health, result, { isFull, printed: new Set(), isContinued: false });
  return written.join("").split("\n");
}

it("a result on a terminal has at most 60 lines, the last of which says how many there are", () => {
  const all = linesOf(false, false);
  expect(all.length).toBeGreaterThan(60);
  const shown = linesOf(true, false);
  expect(shown).toEqual([...all.slice(0, 59), `${all.length - 59} more lines: --full prints them`]);
  expect(linesOf(true, true)).toEqual(all);
});
