import { expect, it } from "vitest";
import { deleteInSteps, startUpkeep } from "#control-plane/database/upkeep.ts";

it("rounds repeat, never two at the same time, and a failed round is followed by the next", async () => {
  const failures: unknown[] = [];
  let [rounds, running, most] = [0, 0, 0];
  const third = Promise.withResolvers<null>();
  const upkeep = startUpkeep({
    everyMs: 1,
    async round() {
      rounds += 1;
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, 10));
      running -= 1;
      if (rounds === 1) throw new Error("the database is away");
      if (rounds === 3) third.resolve(null);
    },
    onError: (error) => failures.push(error),
  });
  await third.promise;
  upkeep.stop();
  expect([most, failures]).toEqual([1, [new Error("the database is away")]]);
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
