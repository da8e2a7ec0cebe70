import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { CONTRACTS } from "#shared/tools/index.ts";
import { FORMAT_NAMES } from "#control-plane/notify/webhooks/formats/formats.ts";
import { EVENT_TYPES } from "#control-plane/notify/webhooks/resource.ts";
import { withToolTable } from "../../deploy/tool-lists.ts";
import { BLOCKS } from "#test/laws/readme-not-run.ts";
import { ROOT } from "#test/laws/source-files.ts";
import { readInstructions } from "#test/support/readme.ts";

it("the guide's table of tools is what the registry makes (else: npm run tools)", () => {
  const guide = readFileSync(join(ROOT, "deploy/guide.md"), "utf8");
  expect(guide).toContain("<!-- tools:");
  expect(withToolTable(guide, CONTRACTS)).toBe(guide);
});

it("the guide names every format of webhooks and every type of event", () => {
  const guide = readFileSync(join(ROOT, "deploy/guide.md"), "utf8");
  const names = [...FORMAT_NAMES, ...EVENT_TYPES].filter((name) => name !== "standard" && name !== "test");
  expect(names.filter((name) => !guide.includes(`\`${name}\``))).toEqual([]);
});

it("documents name only scripts that package.json has, and the tests of their blocks are there", () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { scripts: object };
  const commands = readInstructions().commands.join("\n");
  for (const [, name = ""] of commands.matchAll(/^npm (?!ci$)(?:run )?([\w:]+)/gm))
    expect(scripts, name).toHaveProperty([name]);
  expect(Object.values(BLOCKS).filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
});

it("the licence that package.json names is in the repository, whole and unchanged", () => {
  const { license } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { license: string };
  expect(license).toBe("Apache-2.0");
  // The digest of the text that the Apache Software Foundation publishes.
  const digest = createHash("sha256")
    .update(readFileSync(join(ROOT, "LICENSE")))
    .digest("hex");
  expect(digest).toBe("cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30");
});
