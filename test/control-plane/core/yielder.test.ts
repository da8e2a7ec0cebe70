import { expect, it } from "vitest";
import { createYielder } from "#control-plane/core/yielder.ts";
import { createManualClock } from "#test/support/clock.ts";

it("a piece of a computation is due after 4 ms, and other work runs before the next one", async () => {
  const clock = createManualClock(new Date());
  const yielder = createYielder(clock);
  clock.advance(3);
  expect(yielder.isDue()).toBe(false);
  clock.advance(1);
  expect(yielder.isDue()).toBe(true);
  let hasRun = false;
  setImmediate(() => {
    hasRun = true;
  });
  await yielder.rest();
  expect(hasRun).toBe(true);
  expect(yielder.isDue()).toBe(false);
});
