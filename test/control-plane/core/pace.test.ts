import { expect, it } from "vitest";
import { createPace } from "#control-plane/core/pace.ts";
import { createManualClock } from "#test/support/clock.ts";

it("a piece of a computation is due after 4 ms, and other work runs before the next one", async () => {
  const clock = createManualClock(new Date());
  const pace = createPace(clock);
  clock.advance(3);
  expect(pace.isDue()).toBe(false);
  clock.advance(1);
  expect(pace.isDue()).toBe(true);
  let hasRun = false;
  setImmediate(() => {
    hasRun = true;
  });
  await pace.rest();
  expect(hasRun).toBe(true);
  expect(pace.isDue()).toBe(false);
});
