import { describe, expect, it } from "vitest";
import { LOG_LIMITS } from "#shared/protocol/wire.ts";
import { createLog, type FlushableStream } from "#shared/process/log.ts";
import { createRedact, unredacted } from "#shared/text/redact.ts";
import type { AgentMessage } from "#shared/protocol/probe.ts";
import { keepLog, sendLog } from "#probe-agent/attachment/kept-log.ts";

const passed: string[] = [];
const output: FlushableStream = { write: (line) => void passed.push(line), flush: (done) => done?.() };
const sum = (lines: readonly string[]): number => lines.reduce((total, { length }) => total + length, 0);

describe("the kept log", () => {
  it("has the newest lines, and passes all of them on unchanged", () => {
    const kept = keepLog(output, unredacted);
    for (let line = 0; line <= LOG_LIMITS.lines; line += 1) kept.write(`line ${line}\n`);
    expect(kept.lines()).toHaveLength(LOG_LIMITS.lines);
    expect([kept.lines()[0], kept.lines().at(-1)]).toEqual(["line 1", `line ${LOG_LIMITS.lines}`]);
    expect(passed.slice(0, 2)).toEqual(["line 0\n", "line 1\n"]);
  });

  it("is bounded in characters, of a line and of all", () => {
    const kept = keepLog(output, unredacted);
    for (let line = 0; line < LOG_LIMITS.lines; line += 1) kept.write(`${line} ${"é".repeat(9_000)}\n`);
    const lines = kept.lines();
    expect(Math.max(...lines.map(({ length }) => length))).toBe(LOG_LIMITS.lineCharacters);
    expect(sum(lines)).toBeLessThanOrEqual(LOG_LIMITS.characters);
    expect(sum(lines)).toBeGreaterThan(LOG_LIMITS.characters - LOG_LIMITS.lineCharacters);
    expect(lines.at(-1)).toMatch(new RegExp(`^${LOG_LIMITS.lines - 1} `));
  });

  it("contains no secret, and stays JSON", () => {
    const kept = keepLog(output, createRedact(["AIza-of-page-speed"]));
    const log = createLog({ destination: kept });
    log.warn({ token: "in-a-field", headers: { Cookie: "in-a-header" } }, "by name");
    const said = [
      `the token vjt_${"a".repeat(43)}_${"0".repeat(64)} is used up`,
      `the key vtg_${"b".repeat(36)} too`,
      "https://user:in-a-url@proxy.example:8080/path?x=1 and postgres://in-a-url@db",
      'Authorization: Bearer in-a-text and "Set-Cookie: in-a-text"',
      "GET /?key=AIza-of-page-speed",
    ];
    for (const message of said) log.error({ err: new Error(message) }, message);
    const text = kept.lines().join("\n");
    for (const secret of ["in-a", "aaaa", "bbbb", "AIza"]) expect(text).not.toContain(secret);
    const messages = kept.lines().map((line) => (JSON.parse(line) as { msg: string }).msg);
    expect(messages.slice(1, 4)).toEqual([
      "the token vjt_*** is used up",
      "the key vtg_*** too",
      "https://***@proxy.example:8080/path?x=1 and postgres://***@db",
    ]);
  });

  it("hides a secret that the end of a cut line would split", () => {
    const kept = keepLog(output, unredacted);
    kept.write(`${"x".repeat(LOG_LIMITS.lineCharacters - 12)} //user:password@host\n`);
    expect(kept.lines()[0]?.replace(/^x+/, "")).toBe(" //***@host");
  });
});

describe("sending the log", () => {
  it("is in parts, in order, with an end", async () => {
    const lines = Array.from({ length: LOG_LIMITS.lines }, (_, index) => `${index} `.padEnd(100, "x"));
    const sent: AgentMessage["body"][] = [];
    const source = { say: () => {}, sayInTurn: async ({ body }: AgentMessage) => void sent.push(body) };
    await sendLog(lines, 7, source);
    await sendLog([], 8, source);
    const parts = sent.flatMap((body) => (body?.$case === "logLines" ? [body.value] : []));
    const [empty, ...full] = parts.toReversed();
    expect(empty).toEqual({ requestId: 8, lines: [], last: true });
    expect(full.toReversed().flatMap((part) => part.lines)).toEqual(lines);
    expect(full.map(({ last, requestId }) => [last, requestId])).toEqual([
      [true, 7],
      ...full.slice(1).map(() => [false, 7]),
    ]);
    for (const part of full)
      expect(sum(part.lines)).toBeLessThan(LOG_LIMITS.partCharacters + LOG_LIMITS.lineCharacters);
  });
});
