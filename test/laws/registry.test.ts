import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CONTRACTS, presentersByTool } from "#shared/tools/index.ts";
import { contractList, implementationList, implementationPath } from "../../deploy/tool-lists.ts";
import { TOOL_NAMES } from "#shared/tools/names.ts";
import { implementations } from "#probe-agent/tools/index.ts";
import type { Schema } from "#test/laws/schema-fields.ts";
import { ROOT } from "#test/laws/source-files.ts";

describe("the registry", () => {
  it("has a folder for each tool, with its contract, its presenter and its example, and no other folder", () => {
    const folders = readdirSync(join(ROOT, "shared/tools"), { withFileTypes: true }).filter((entry) =>
      entry.isDirectory(),
    );
    expect(folders.map(({ name }) => name).toSorted()).toEqual(TOOL_NAMES.toSorted());
    for (const { name } of folders) {
      const files = readdirSync(join(ROOT, "shared/tools", name));
      expect(files, name).toEqual(expect.arrayContaining(["contract.ts", "example.json", "presenter.ts"]));
    }
  });

  it("has an implementation file and a test for each tool, both of its name", () => {
    for (const name of TOOL_NAMES) {
      const path = implementationPath(name);
      expect(existsSync(join(ROOT, path)), path).toBe(true);
      expect(existsSync(join(ROOT, `test/${path.replace(/\.ts$/, ".test.ts")}`)), path).toBe(true);
    }
  });

  it.each([
    ["shared/tools/index.ts", contractList(TOOL_NAMES)],
    ["probe-agent/tools/index.ts", implementationList(TOOL_NAMES)],
  ])("%s is what the list of names makes (else: npm run tools)", (path, list) => {
    expect(readFileSync(join(ROOT, path), "utf8")).toBe(list);
  });

  it("ties each implementation and each presenter to the catalogue's own contract, under its own name", () => {
    expect(CONTRACTS.map(({ name }) => name)).toEqual(TOOL_NAMES);
    expect([...implementations.keys()]).toEqual(TOOL_NAMES);
    for (const contract of CONTRACTS) {
      expect(implementations.get(contract.name)?.contract).toBe(contract);
      expect(presentersByTool.get(contract.name)?.contract).toBe(contract);
    }
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
