import { statSync } from "node:fs";
import { join } from "node:path";
import { Value } from "typebox/value";
import { describe, expect, it } from "vitest";
import { parseParams } from "#shared/schema/schema.ts";
import { CONTRACTS } from "#shared/tools/index.ts";
import { exampleOf } from "#control-plane/surfaces/api-document/components.ts";
import { ROOT } from "#test/laws/source-files.ts";

describe("examples of documents (else: node test/examples/update.ts, as root)", () => {
  it.each(CONTRACTS.map((contract) => [contract.name, contract] as const))(
    "%s has one that fits its parameters and its result",
    (name, contract) => {
      const example = exampleOf(name);
      expect(parseParams(contract.params, example?.params ?? {}, { from: "json", unknown: "refuse" }).ok).toBe(true);
      expect(Array.from(Value.Errors(contract.result, example?.data))).toEqual([]);
    },
  );

  it.each(CONTRACTS)("$name has one that is short enough to print", ({ name }) => {
    expect(statSync(join(ROOT, `shared/tools/${name}/example.json`)).size).toBeLessThanOrEqual(13_000);
  });

  it("know nothing of a tool that does not exist", () => {
    expect(exampleOf("nothing")).toBeNull();
    expect(exampleOf("../tools/check")).toBeNull();
  });
});
