import { expect, it } from "vitest";
import { backoffDelayMs } from "#shared/time/backoff.ts";

const lowest = { bytes: (count: number) => new Uint8Array(count) };
const highest = { bytes: (count: number) => new Uint8Array(count).fill(255) };

it("doubles from the first wait to the longest, and half of each wait is random", () => {
  const spans = [1, 2, 3, 4, 5, 2_000].map((failures) => [
    Math.round(backoffDelayMs({ firstMs: 1_000, longestMs: 5_000 }, failures, lowest)),
    Math.round(backoffDelayMs({ firstMs: 1_000, longestMs: 5_000 }, failures, highest)),
  ]);
  expect(spans).toEqual([
    [500, 1_000],
    [1_000, 2_000],
    [2_000, 4_000],
    [2_500, 5_000],
    [2_500, 5_000],
    [2_500, 5_000],
  ]);
});
