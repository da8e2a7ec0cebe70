import { expect, it } from "vitest";
import { createUnjudged } from "#control-plane/watching/heartbeats/pings/unjudged.ts";

it("monitors whose states do not follow are taken once, and again if there is more to follow", () => {
  const unjudged = createUnjudged();
  for (const monitorId of [1, 2, 1, 3]) unjudged.add({ monitorId, accountId: 9 });
  expect(unjudged.take(2)).toEqual([1, 2]);
  // A ping since.
  unjudged.add({ monitorId: 1, accountId: 9 });
  unjudged.finish([2]);
  expect(unjudged.take(9)).toEqual([3, 1, 2]);
  expect([unjudged.hasWaiting(), unjudged.isEmpty()]).toEqual([false, false]);
  unjudged.finish([]);
  expect(unjudged.isEmpty()).toBe(true);
});

it("an account is settled when none of its monitors is left, and waits for no other account's", async () => {
  const unjudged = createUnjudged();
  unjudged.add({ monitorId: 1, accountId: 9 });
  unjudged.add({ monitorId: 2, accountId: 9 });
  unjudged.add({ monitorId: 3, accountId: 8 });
  expect(unjudged.whenSettled(7)).toBe(null);
  let isSettled = false;
  const settled = unjudged.whenSettled(9)?.then(() => (isSettled = true));
  unjudged.take(1);
  unjudged.finish([1]);
  unjudged.take(1);
  unjudged.finish([]);
  await Promise.resolve();
  expect(isSettled).toBe(false);
  expect(unjudged.take(2)).toEqual([3, 1]);
  expect(unjudged.whenSettled(8)).not.toBe(null);
  unjudged.finish([]);
  await settled;
  expect(isSettled).toBe(true);
  expect(unjudged.whenSettled(9)).toBe(null);
});
