import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { Value } from "typebox/value";
import { describe, expect, it } from "vitest";
import { parseParams } from "#shared/schema/schema.ts";
import { CONTRACTS } from "#shared/tools/index.ts";
import { exampleOf } from "#control-plane/surfaces/api-document/components.ts";
import { ROOT } from "#test/laws/source-files.ts";

const FOLDER = join(ROOT, "control-plane/surfaces/api-document/examples");

describe("examples of documents (else: node test/examples/update.ts, as root)", () => {
  it.each(CONTRACTS.map((contract) => [contract.name, contract] as const))(
    "%s has one that fits its parameters and its result",
    (name, contract) => {
      const example = exampleOf(name);
      expect(parseParams(contract.params, example?.params ?? {}, { from: "json", unknown: "refuse" }).ok).toBe(true);
      expect(Array.from(Value.Errors(contract.result, example?.data))).toEqual([]);
    },
  );

  it("are of tools that exist and short enough to print", () => {
    const files = readdirSync(FOLDER, { encoding: "utf8" }).filter((file) => file.endsWith(".json"));
    expect(files.toSorted()).toEqual(CONTRACTS.map(({ name }) => `${name}.json`).toSorted());
    for (const file of files) expect(statSync(join(FOLDER, file)).size, file).toBeLessThanOrEqual(13_000);
  });

  it("know nothing of a tool that does not exist", () => {
    expect(exampleOf("nothing")).toBeNull();
    expect(exampleOf("../examples/check")).toBeNull();
  });
});
