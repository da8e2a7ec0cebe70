import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { boundLogs, readLastLine, openLog, rotateLog } from "#shared/client/up/log-file.ts";

const directory = mkdtempSync(join(tmpdir(), "vantage-log-"));
const file = join(directory, "a.log");
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function wordsOf(log: string): string {
  writeFileSync(file, log);
  return readLastLine(file);
}

test("the last line is a plain line, a JSON line's message, or the message of a crash", () => {
  expect(wordsOf('{"msg":"start"}\nVANTAGE_X must be y\n')).toBe("VANTAGE_X must be y");
  expect(wordsOf('{"msg":"cannot listen","err":{"message":"EADDRINUSE"}}\n')).toBe("cannot listen: EADDRINUSE");
  expect(wordsOf("file:///a.ts:1\nthrow\n^\n\nTypeError: no\n    at b\n  code: 1\n}\n\nNode.js v24.1.0\n")).toBe(
    "TypeError: no",
  );
  expect(wordsOf("")).toBe("");
  expect(wordsOf("x".repeat(1_000_000))).toHaveLength(500);
  expect(readLastLine(join(directory, "none"))).toBe("");
});

test("a new run renames the old log", () => {
  writeFileSync(file, "old");
  rotateLog(file);
  rotateLog(file);
  expect(readFileSync(`${file}.1`, "utf8")).toBe("old");
});

test("a log that gets too long is cut while its writer continues", async () => {
  const log = openLog(file);
  const stop = boundLogs([file], 10, 20);
  writeSync(log, "a".repeat(11));
  await expect.poll(() => statSync(file).size).toBe(0);
  writeSync(log, "b");
  expect(readFileSync(file, "utf8")).toBe("b");
  expect(readFileSync(`${file}.1`, "utf8")).toBe("a".repeat(11));
  stop();
});
