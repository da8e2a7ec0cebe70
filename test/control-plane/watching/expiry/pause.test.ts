import { expect, it } from "vitest";
import { pauseMs } from "#control-plane/watching/expiry/registries.ts";

const MINUTE_MS = 60_000;

it("a registry is paused for 1 minute to 6 hours, twice as long each time, and up to a fifth longer", () => {
  const minutes = [1, 2, 3, 8, 9, 10, 10_000].map((refusals) => pauseMs(refusals, 0) / MINUTE_MS);
  expect(minutes).toEqual([1, 2, 4, 128, 256, 360, 360]);
  expect(pauseMs(1, 1)).toBe(1.2 * MINUTE_MS);
});
