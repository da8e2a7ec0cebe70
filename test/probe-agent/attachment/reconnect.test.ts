import { expect, it } from "vitest";
import { huntDelayMs, reconnectDelayMs } from "#probe-agent/attachment/redials.ts";

const lowest = { bytes: (count: number) => new Uint8Array(count) };
const highest = { bytes: (count: number) => new Uint8Array(count).fill(255) };

it("waits between 0.5 and 15 seconds, doubling, half of it random", () => {
  const spans = [1, 2, 3, 4, 5, 6, 50].map((failures) => [
    Math.round(reconnectDelayMs(failures, lowest)),
    Math.round(reconnectDelayMs(failures, highest)),
  ]);
  expect(spans).toEqual([
    [500, 1_000],
    [1_000, 2_000],
    [2_000, 4_000],
    [4_000, 8_000],
    [7_500, 15_000],
    [7_500, 15_000],
    [7_500, 15_000],
  ]);
});

it("hunts for a missing replica every one to two seconds, and every 30 s after 50 tries", () => {
  expect([1, 50, 51].map((tries) => huntDelayMs(tries, lowest))).toEqual([1_000, 1_000, 30_000]);
  expect(huntDelayMs(1, highest)).toBeLessThan(2_000);
});
