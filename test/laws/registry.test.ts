import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CONTRACTS } from "#shared/tools/index.ts";
import { contractList, implementationList } from "../../deploy/tool-lists.ts";
import { TOOL_NAMES } from "#shared/tools/names.ts";
import { implementations } from "#probe-agent/tools/index.ts";
import type { Schema } from "#test/laws/schema-fields.ts";
import { ROOT } from "#test/laws/source-files.ts";

describe("the registry", () => {
  it("has a contract file, an implementation file and a test for each tool, all of its name", () => {
    const names = CONTRACTS.map((contract) => contract.name);
    const helpers =
      /^(command-params|define|fields|index|names|observations|parse-params|registrations|shapes|table|timing|trace-result|vantages)\.ts$/;
    const files = readdirSync(join(ROOT, "shared/tools")).filter((name) => name.endsWith(".ts") && !helpers.test(name));
    expect(files.map((name) => name.replace(".ts", "")).toSorted()).toEqual(names.toSorted());
    expect([...implementations.keys()].toSorted()).toEqual(names.toSorted());
    for (const name of names) {
      expect(existsSync(join(ROOT, `probe-agent/tools/${name}.ts`)), name).toBe(true);
      expect(existsSync(join(ROOT, `test/probe-agent/tools/${name}.test.ts`)), name).toBe(true);
    }
  });

  it.each([
    ["shared/tools/index.ts", contractList(TOOL_NAMES)],
    ["probe-agent/tools/index.ts", implementationList(TOOL_NAMES)],
  ])("%s is what the list of names makes (else: npm run tools)", (path, list) => {
    expect(readFileSync(join(ROOT, path), "utf8")).toBe(list);
  });

  it("ties each implementation to the catalogue's own contract", () => {
    for (const contract of CONTRACTS) expect(implementations.get(contract.name)?.contract).toBe(contract);
  });
});

describe.each(CONTRACTS.map((contract) => [contract.name, contract] as const))(
  "the contract of %s",
  (_name, contract) => {
    it("names an existing target parameter and a deadline of 90 seconds at most", () => {
      const fields: readonly (string | undefined)[] = [...Object.keys(contract.params.properties), undefined];
      expect(fields).toContain(contract.target?.param);
      const defaults = Object.fromEntries(
        Object.entries(contract.params.properties as Readonly<Record<string, Schema>>).map(
          ([field, { default: value }]) => [field, value],
        ),
      );
      expect(contract.deadlineMs(defaults as never)).toBeGreaterThan(0);
      expect(contract.deadlineMs(defaults as never)).toBeLessThanOrEqual(90_000);
    });
  },
);
