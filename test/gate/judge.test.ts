import { describe, expect, it } from "vitest";
import { judgeSkipped, judgeRun, judgeSecondLook, mayLookAgain, MOST_FLAKY, type Run } from "#test/gate/judge.ts";
import type { FileReport } from "#test/gate/report.ts";

const FAILURE = { test: "a page answers", message: "expected 500 to be 200" };
const failed: FileReport = { path: "test/a.test.ts", passed: 2, skipped: 0, failures: [FAILURE] };
const passed: FileReport = { ...failed, passed: 3, failures: [] };
const run = (files: readonly FileReport[], exitCode: number | null = 0, strays: readonly string[] = []): Run => ({
  exitCode,
  report: { files, strays },
});

describe("a run of a stage", () => {
  it("needs no second look if all passed", () => {
    expect(judgeRun(run([passed]))).toEqual({ closes: [], again: [] });
  });

  it("gets a second look at each file that failed", () => {
    expect(judgeRun(run([passed, failed], 1))).toEqual({ closes: [], again: [failed] });
  });

  it.each<[string, Run, string]>([
    ["ends with an error though no test failed", run([passed], 1), "no test failed"],
    ["did not end", { exitCode: null, report: null }, "did not end in its time"],
    ["wrote no report", { exitCode: 0, report: null }, "without a report"],
    ["has an error that nothing caught", run([passed], 1, ["Error: read ECONNRESET"]), "ECONNRESET"],
    ["has one beside a failure", run([failed], 1, ["Error: read ECONNRESET"]), "ECONNRESET"],
    ["has a failed law", run([{ ...failed, path: "test/laws/rooms.test.ts" }], 1), "no second look"],
    [
      "has more failed files than may be flaky",
      run(
        Array.from({ length: MOST_FLAKY + 1 }, (_, index) => ({ ...failed, path: `test/${index}.test.ts` })),
        1,
      ),
      "too many",
    ],
  ])("closes the gate at once where it %s", (_what, first, why) => {
    const { closes, again } = judgeRun(first);
    expect(closes.join("\n")).toContain(why);
    expect(again).toEqual([]);
  });
});

it("a skipped test closes the gate, and so does a stage without tests", () => {
  expect(judgeSkipped({ files: [passed], strays: [] })).toEqual([]);
  expect(judgeSkipped({ files: [{ ...passed, skipped: 1 }], strays: [] })).toEqual(["1 tests were skipped"]);
  expect(judgeSkipped({ files: [], strays: [] })).toEqual(["no test passed"]);
});

describe("a second look", () => {
  it("makes a file flaky that passes three times, and remembers its first failure", () => {
    const row = { stage: "test", path: failed.path, ...FAILURE };
    expect(judgeSecondLook("test", failed, [run([passed]), run([passed]), run([passed])])).toEqual(row);
  });

  it.each<[string, readonly Run[]]>([
    ["fails once in three runs", [run([passed]), run([failed], 1)]],
    ["fails in the last run", [run([passed]), run([passed]), run([failed], 1)]],
    ["runs out of time", [run([passed]), run([passed])]],
    ["hangs", [run([passed]), { exitCode: null, report: null }]],
    ["loses its worker", [run([passed]), { exitCode: 1, report: null }]],
    ["ends with an error though no test failed", [run([passed]), run([passed], 1)]],
    ["skips what failed", [run([passed]), run([{ ...passed, passed: 2, skipped: 1 }])]],
    ["has lost what failed", [run([passed]), run([{ ...passed, passed: 2 }])]],
  ])("closes the gate where the file %s", (_what, runs) => {
    expect(judgeSecondLook("test", failed, runs)).toEqual(expect.stringContaining(failed.path));
  });

  it.each([
    "test/laws/rooms.test.ts",
    "test/faults/monitors.test.ts",
    "test/lab/egress-guard.test.ts",
    "test/browser/reach.test.ts",
    "test/control-plane/core/secrets/master-key.test.ts",
    "test/control-plane/monitors/routes/secrets.test.ts",
    "test/e2e/batch-killed.test.ts",
    "test/e2e/racing-replicas.test.ts",
    "test/control-plane/notify/deliveries/crashes.test.ts",
    "test/control-plane/http/idempotency/answers.test.ts",
    "test/fleet/monitors/check.test.ts",
  ])("is not given to %s", (path) => {
    expect(mayLookAgain(path)).toBe(false);
  });

  it("is given to other files", () => {
    expect(mayLookAgain("test/e2e/monitors.test.ts")).toBe(true);
    expect(mayLookAgain("test/control-plane/public/status-pages/trace.test.ts")).toBe(true);
  });
});
