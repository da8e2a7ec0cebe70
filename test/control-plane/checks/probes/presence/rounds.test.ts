import { expect, it } from "vitest";
import { createRounds } from "#control-plane/checks/probes/presence/rounds.ts";
import { createManualClock } from "#test/support/clock.ts";
import { until } from "#test/support/until.ts";

it("runs again soon after a run that took an hour", async () => {
  const clock = createManualClock(new Date(0));
  let runs = 0;
  const work = () => {
    runs += 1;
    if (runs === 1) clock.advance(3_600_000);
    return Promise.resolve();
  };
  const rounds = createRounds(work, { leastMs: 1, mostMs: 20 }, clock);
  rounds.wake();
  await until(() => runs === 1, "the first run");
  rounds.wake();
  await until(() => runs === 2, "the second run");
  await rounds.stop();
  expect(runs).toBe(2);
});
