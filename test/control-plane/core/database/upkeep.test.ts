import { expect, it } from "vitest";
import { deleteInSteps, logFailure, startUpkeep } from "#control-plane/core/database/upkeep.ts";
import { liveTimers } from "#test/support/timers.ts";

it("rounds repeat, never two at the same time, and a failed round is followed by the next", async () => {
  const failures: unknown[] = [];
  const note = (level: string) => (_fields: object, line: string) => failures.push([level, line]);
  let [rounds, running, most] = [0, 0, 0];
  const third = Promise.withResolvers<null>();
  const upkeep = startUpkeep({
    timers: liveTimers,
    everyMs: 1,
    async round() {
      rounds += 1;
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, 10));
      running -= 1;
      if (rounds === 1) throw new Error("a bug");
      if (rounds === 3) third.resolve(null);
    },
    name: "mail: housekeeping",
    log: { debug: note("debug"), error: note("error") } as never,
  });
  await third.promise;
  upkeep.stop();
  expect([most, failures]).toEqual([1, [["error", "mail: housekeeping failed; it runs again later"]]]);
});

it.each([
  ["the database is away", "57P01", "debug"],
  ["a lock is not available in time", "55P03", "debug"],
  ["a statement is wrong", "42703", "error"],
  ["statements wait for each other", "40P01", "error"],
])("a failed round is logged by its reason: %s", (_reason, code, level) => {
  const lines: string[] = [];
  const log = { debug: () => lines.push("debug"), error: () => lines.push("error") } as never;
  logFailure(log, "mail: housekeeping", Object.assign(new Error("refused"), { code, severity: "ERROR" }));
  expect(lines).toEqual([level]);
});

it("rows are deleted in steps until a step deletes fewer than its limit", async () => {
  let left = 25;
  const steps: number[] = [];
  await deleteInSteps(10, (limit) => {
    const deleted = Math.min(limit, left);
    left -= deleted;
    steps.push(deleted);
    return Promise.resolve(deleted);
  });
  expect(steps).toEqual([10, 10, 5]);
});
