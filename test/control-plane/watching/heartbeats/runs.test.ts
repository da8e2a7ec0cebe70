import { describe, expect, it } from "vitest";
import { decodeRuns, encodeRuns, endRun, startRun, type OpenRun } from "#control-plane/watching/heartbeats/runs.ts";

const run = (rid: string | null, startedAt: number): OpenRun => ({ rid, startedAt });

describe("starting a run", () => {
  it("begins a run with the same id again", () => {
    expect(startRun([run("a", 1), run("b", 2)], run("a", 3))).toEqual([run("b", 2), run("a", 3)]);
    expect(startRun([run(null, 1)], run(null, 3))).toEqual([run(null, 3)]);
  });

  it("keeps the 20 newest", () => {
    let runs: readonly OpenRun[] = [];
    for (let index = 0; index < 25; index += 1) runs = startRun(runs, run(`r${index}`, index));
    expect(runs).toHaveLength(20);
    expect(runs[0]).toEqual(run("r5", 5));
  });
});

describe("ending a run", () => {
  it.each<readonly [string, readonly OpenRun[], string | null, readonly OpenRun[], number | null]>([
    ["by its id", [run("a", 1), run("b", 2)], "b", [run("a", 1)], 2],
    ["without an id ends the one without an id", [run("a", 1), run(null, 2)], null, [run("a", 1)], 2],
    ["by an id that did not start ends the one without an id", [run(null, 2)], "x", [], 2],
    ["by an id that did not start leaves those of other ids", [run("a", 1)], "x", [run("a", 1)], null],
    ["without an id ends the only one", [run("a", 1)], null, [], 1],
    ["without an id ends all, and the duration is not known", [run("a", 1), run("b", 2)], null, [], null],
    ["that never started", [], null, [], null],
  ])("%s", (_, runs, rid, left, startedAt) => {
    expect(endRun(runs, rid)).toEqual({ runs: left, startedAt });
  });
});

it("runs are stored and read again", () => {
  const runs = [run(null, 1), run('a"b', 2)];
  expect(decodeRuns(encodeRuns(runs))).toEqual(runs);
  expect(decodeRuns("[]")).toEqual([]);
});
