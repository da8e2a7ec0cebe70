import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runStage, type StageResult } from "#test/gate/run-stage.ts";
import { ROOT } from "#test/laws/source-files.ts";
import { systemClock } from "#test/support/clock.ts";

// A small suite of real test files, each with one fault, in a folder of its own.

let folder: string;

/** Fails in these of its runs, which it counts in a file. */
const failing = (name: string, runs: readonly number[], where = "it('works', () => {") => `
  import { appendFileSync, readFileSync } from "node:fs";
  ${where}
    appendFileSync("${name}.runs", ".");
    if (${JSON.stringify(runs)}.includes(readFileSync("${name}.runs", "utf8").length)) throw new Error("planted");
  });
`;

const FILES: Readonly<Record<string, string>> = {
  good: "it('works', () => {});",
  once: failing("once", [1]),
  twice: failing("twice", [1, 3]),
  always: failing("always", [1, 2, 3, 4]),
  hook: `${failing("hook", [1], "beforeAll(() => {")}\nit('works', () => {});`,
  unloaded: "import './nowhere.js'; it('works', () => {});",
  uncaught: "it('works', () => { void Promise.reject(new Error('nobody waits')); });",
  // From outside, because vitest replaces process.exit and process.kill in its workers.
  killed:
    "import { execFileSync } from 'node:child_process'; it('works', () => { execFileSync('kill', ['-9', String(process.pid)]); });",
  aborted: failing("aborted", [1]).replace('throw new Error("planted")', "process.abort()"),
  hanging: "it('works', () => new Promise(() => {}), 0);",
  skipping: "it('works', () => {}); it.skip('does not', () => {});",
};

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "vantage-gate-suite-"));
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, `${name}.test.js`), text);
  const reporters = JSON.stringify(join(ROOT, "test/gate/report.ts"));
  writeFileSync(
    join(folder, "vitest.config.mjs"),
    [
      `import { gateReporters } from ${reporters};`,
      'export default { test: { ...gateReporters(), globals: true, include: ["*.test.js"], pool: "forks" } };',
    ].join("\n"),
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a stage of these files. */
function run(files: readonly string[], limitMinutes = 5): Promise<StageResult> {
  const paths = files.map((name) => `${name}.test.js`);
  const vitest = [process.execPath, "node_modules/vitest/vitest.mjs", "run", "--config", "vitest.config.mjs"] as const;
  const words = [...vitest, ...paths] as const;
  const stage = { name: "planted", words, limitMinutes, config: "vitest.config.mjs" };
  return runStage(stage, { folder, workers: 2, output: "ignore", clock: systemClock });
}

const runsOf = (name: string): number => readFileSync(join(folder, `${name}.runs`), "utf8").length;

describe("a stage", () => {
  it("is green where all tests pass", async () => {
    expect(await run(["good"])).toMatchObject({ closes: [], flaky: [], passed: 1, failed: 0 });
  });

  it("stays open for what passes three times alone, and says so", async () => {
    const { closes, flaky, passed, failed } = await run(["good", "once", "hook"]);
    expect(closes).toEqual([]);
    expect(flaky.toSorted((a, b) => a.path.localeCompare(b.path))).toEqual([
      { stage: "planted", path: "hook.test.js", test: "a hook of the file", message: "planted" },
      { stage: "planted", path: "once.test.js", test: "works", message: "planted" },
    ]);
    expect([passed, failed]).toEqual([3, 0]);
    expect(runsOf("once")).toBe(4);
  });

  it("takes a process that Node aborts as a failure of the file that it ran", async () => {
    const { closes, flaky } = await run(["good", "aborted"]);
    expect(closes).toEqual([]);
    expect(flaky).toMatchObject([{ path: "aborted.test.js", test: "its process" }]);
    expect(runsOf("aborted")).toBe(4);
  });

  it("closes for what fails once in its three runs", async () => {
    const { closes, flaky } = await run(["good", "twice"]);
    expect(closes).toEqual([expect.stringContaining("twice.test.js > works: planted, alone, in run 2 of 3 too")]);
    expect(flaky).toEqual([]);
  });

  it("closes for what fails each time, after one second look", async () => {
    const { closes } = await run(["always"]);
    expect(closes).toHaveLength(1);
    expect(runsOf("always")).toBe(2);
  });

  it.each([
    ["a file that cannot be loaded", "unloaded", "nowhere.js"],
    ["an error that nothing caught", "uncaught", "nobody waits"],
    ["a worker that was killed", "killed", "outside a test"],
    ["a test that is skipped", "skipping", "skipped"],
  ])("closes for %s", async (_what, file, why) => {
    const { closes } = await run([file]);
    expect(closes.join("\n")).toContain(why);
  });

  it("closes when it hangs, and ends what it started", async () => {
    const { closes } = await run(["hanging"], 0.1);
    expect(closes).toEqual(["it did not end in its time"]);
  });

  it("closes for a command that fails, and for one that is not there", async () => {
    const around = { folder, workers: 1, output: "ignore", clock: systemClock } as const;
    const ended = await runStage({ name: "check", words: ["false"], limitMinutes: 1 }, around);
    expect(ended.closes).toEqual(["it ended with code 1"]);
    const absent = await runStage({ name: "check", words: ["./no-such-program"], limitMinutes: 1 }, around);
    expect(absent.closes).toEqual(["it ended with code 127"]);
  });
});
