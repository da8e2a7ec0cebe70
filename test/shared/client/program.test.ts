import { Command } from "commander";
import { expect, it } from "vitest";
import { COMMANDS } from "#shared/client/program.ts";
import { CONTRACTS } from "#shared/tools/index.ts";
import { runVantage } from "#test/shared/client/command-line.ts";

/** The names of the commands that a module adds. */
async function namesOf({ load }: (typeof COMMANDS)[number]): Promise<readonly string[]> {
  const program = new Command();
  (await load())(program, {} as never);
  return program.commands.map((command) => command.name());
}

it("each module adds the commands that it is loaded for", async () => {
  const named = COMMANDS.filter(({ names }) => names.length > 0);
  expect(await Promise.all(named.map(namesOf))).toEqual(named.map(({ names }) => names));
});

it("those that are loaded for no name have completion and the tools, each with its own name", async () => {
  const others = await Promise.all(COMMANDS.filter(({ names }) => names.length === 0).map(namesOf));
  expect(others.flat().toSorted()).toEqual(["completion", ...CONTRACTS.map(({ name }) => name)].toSorted());
});

it.each(CONTRACTS.map(({ name }) => name))(
  "the command %s has the same help alone as beside all others",
  async (name) => {
    const alone = await runVantage([name, "--help"], {});
    const beside = await runVantage(["help", name], {});
    expect([alone.status, alone.said]).toEqual([beside.status, beside.said]);
  },
);

it("a wrong name is corrected to that of any module", async () => {
  const ran = await runVantage(["monitor"], {});
  expect([ran.status, ran.complained]).toEqual([2, expect.stringContaining("Did you mean")]);
});

it("the name of a tool in the open tier is a command, too", async () => {
  const tool = CONTRACTS.find(({ open }) => open?.name !== undefined);
  const ran = await runVantage([tool?.open?.name ?? "", "--help"], {});
  expect([ran.status, ran.said]).toEqual([0, expect.stringContaining(tool?.summary ?? "no summary")]);
});
