import { expect, it } from "vitest";
import { chooseWorkers, measureFreeCores } from "#test/gate/processors.ts";

it.each([
  [0, 1],
  [0.6, 1],
  [1, 2],
  [2, 3],
  [8, 4],
])("with %d free cores %d files run at a time", (freeCores, workers) => {
  expect(chooseWorkers(freeCores)).toBe(workers);
});

it("no more cores are free than there are, and no fewer than none", async () => {
  const free = await measureFreeCores(50);
  expect(free).toBeGreaterThanOrEqual(0);
  expect(chooseWorkers(free)).toBeLessThanOrEqual(4);
});
