import { expect, it } from "vitest";
import { SETTINGS } from "#shared/settings/settings.ts";
import { readSourceFiles } from "#test/laws/source-files.ts";

const TABLE = /^shared\/settings\//;
const code = readSourceFiles(["control-plane", "probe-agent", "shared"])
  .filter(({ path }) => !TABLE.test(path))
  .map((file) => file.code)
  .join("\n");

/** The keys that code reads: `settings.key`, `agentSettings.key`, or `const { key } = settings`. */
const read = new Set([
  ...Array.from(code.matchAll(/\b\w*[sS]ettings\.(\w+)/g), ([, key]) => key),
  ...Array.from(code.matchAll(/\{([^{}]*)\} = (?:\w+\.)?\w*[sS]ettings\b/g), ([, keys = ""]) =>
    keys.split(",").map((key) => key.trim().split(":")[0]),
  ).flat(),
]);

it("code reads every setting", () => {
  expect(Object.keys(SETTINGS).filter((key) => !read.has(key))).toEqual([]);
});
