import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { DOCUMENTS } from "#test/laws/documents.ts";
import { readSourceFiles, ROOT } from "#test/laws/source-files.ts";

/** Phrases that a reader has to read twice, each with what to write in its place. */
const PHRASES: readonly (readonly [phrase: RegExp, instead: string])[] = [
  [/\b(?:is|are|was|were|be|been) told\b/i, "is reported, receives, is distinguished from"],
  [/\bstands? (?:for|in|there|on|at|beside)\b/i, "represents, is in, is listed with"],
  [/\bcomes? to\b|\bcame (?:of|to)\b/i, "reaches, results in, was caused by"],
  [/\bnobody's\b/i, "belongs to no one"],
  [/\bso long as\b/i, "while, until"],
  [/\bwhoever\b/i, "the sender, the client, the owner"],
  [/\bwhat (?:is|was) (?:asked|said|told)\b/i, "the question, the message"],
  [/\bcan be had\b/i, "is available"],
];
const SELF = "test/laws/language.test.ts";
const WORDS = /^\s*(?:\*|\/\/|\/\*)|["'`]/;

/** Lists the lines of prose, that is comments and strings, that contain one of the phrases. */
function findPhrases(path: string, text: string): string[] {
  return text.split("\n").flatMap((line, index) => {
    const phrase =
      WORDS.test(line) || path.endsWith(".md") ? PHRASES.find(([pattern]) => pattern.test(line)) : undefined;
    return phrase === undefined ? [] : [`${path}:${index + 1}: ${line.trim()} (write: ${phrase[1]})`];
  });
}

describe("comments, messages and test titles", () => {
  it("use plain words", () => {
    const files = [
      ...readSourceFiles().filter(({ path }) => path !== SELF),
      ...DOCUMENTS.map((path) => ({ path, text: readFileSync(join(ROOT, path), "utf8") })),
    ];
    expect(files.flatMap(({ path, text }) => findPhrases(path, text))).toEqual([]);
  });

  it("are searched in comments, strings, titles and documents", () => {
    expect(findPhrases("a.ts", "/** What a client is told. */")).toHaveLength(1);
    expect(findPhrases("a.ts", 'const text = "The value stands for all.";')).toHaveLength(1);
    expect(findPhrases("README.md", "Nobody's key works.")).toHaveLength(1);
    expect(findPhrases("a.ts", "const told = comes + to;")).toEqual([]);
  });
});
