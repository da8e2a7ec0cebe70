import { describe, expect, it } from "vitest";
import { presentExample } from "#test/shared/tools/examples.ts";
import { writePlain } from "#shared/presentation/plain.ts";
import { CONTRACTS } from "#shared/tools/index.ts";

describe("the recorded example of a tool", () => {
  it.each(CONTRACTS)("of $name reads as in its file", async (contract) => {
    const text = writePlain(presentExample(contract), { width: 80 });
    await expect(`${text}\n`).toMatchFileSnapshot(`${contract.name}/example.txt`);
  });

  it.each(CONTRACTS)("of $name has a headline of one line and no value without text", (contract) => {
    const { headline, facts, tables } = presentExample(contract);
    expect(headline).toMatch(/^\S.{8,299}$/u);
    expect(facts.filter(({ value }) => value === "" || /undefined|NaN|\[object/.test(value))).toEqual([]);
    const cells = tables.flatMap(({ rows }) => rows.flatMap((row) => row.cells));
    expect(cells.filter((cell) => /^(?:undefined|NaN)$|\[object/.test(cell))).toEqual([]);
  });

  it.each(CONTRACTS)("of $name fits 40 columns, but for words that cannot be broken", (contract) => {
    const lines = writePlain(presentExample(contract), { width: 40 }).split("\n");
    const long = lines.filter((line) => Array.from(line).length > 40);
    expect(long.filter((line) => !/\S{12,}/.test(line))).toEqual([]);
  });
});
