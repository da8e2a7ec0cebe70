import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { CONTRACTS } from "#shared/tools/index.ts";
import { withToolTable } from "#shared/tools/table.ts";
import { ROOT } from "#test/laws/source-files.ts";

it("the README's table of tools is what the registry makes (else: node deploy/update-readme.ts)", () => {
  const readme = readFileSync(join(ROOT, "README.md"), "utf8");
  expect(readme).toContain("<!-- tools:");
  expect(withToolTable(readme, CONTRACTS)).toBe(readme);
});
