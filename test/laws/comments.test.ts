import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readSourceFiles, ROOT } from "#test/laws/source-files.ts";

const files = readSourceFiles().filter(({ path }) => path !== "test/laws/comments.test.ts");

describe("a reader of the repository alone", () => {
  it("is sent to no document that is not in it", () => {
    const missing = files.flatMap(({ path, text }) =>
      Array.from(text.matchAll(/(?<![\w/.-])\w[\w/-]*\.md\b/g), ([name]) => name)
        .filter((name) => !existsSync(join(ROOT, name)))
        .map((name) => `${path}: ${name}`),
    );
    expect(missing).toEqual([]);
  });

  it("meets no numbered decision without its reason", () => {
    const numbered = files.flatMap(({ path, text }) =>
      Array.from(text.matchAll(/\bdecisions? \d+/gi), ([found]) => `${path}: ${found}`),
    );
    expect(numbered).toEqual([]);
  });
});
