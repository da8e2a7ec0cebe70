import { describe, expect, it } from "vitest";
import { echoPatienceMs, isPlausibleMtu, sizeBetween } from "#probe-agent/net/icmp/path-mtu.ts";

describe("sizeBetween", () => {
  it.each([
    ["the middle one of the known MTUs", { small: 84, largestPassed: 84, smallestFailed: 1_500 }, 1_420],
    [
      "the middle where no known MTU lies in between",
      { small: 84, largestPassed: 1_300, smallestFailed: 1_400 },
      1_350,
    ],
    ["the middle if even the small packet failed", { small: 84, largestPassed: 0, smallestFailed: 84 }, 42],
  ])("returns %s", (_name, bounds, size) => {
    expect(sizeBetween(bounds)).toBe(size);
  });

  it("returns null for an empty interval", () => {
    expect(sizeBetween({ small: 84, largestPassed: 1_399, smallestFailed: 1_400 })).toBeNull();
  });
});

describe("isPlausibleMtu", () => {
  const bounds = { largestPassed: 104, smallestFailed: 1_500 };
  it.each([
    [4, 68, false],
    [4, 105, true],
    [4, 1_499, true],
    [4, 1_500, false],
    [6, 1_279, false],
    [6, 1_280, true],
  ] as const)("IPv%d: %d is %s", (version, mtu, plausible) => {
    expect(isPlausibleMtu(version, mtu, bounds)).toBe(plausible);
  });

  it("rejects values below the smallest MTU of a link", () => {
    expect(isPlausibleMtu(4, 67, { largestPassed: 0, smallestFailed: 1_500 })).toBe(false);
    expect(isPlausibleMtu(4, 68, { largestPassed: 0, smallestFailed: 1_500 })).toBe(true);
  });
});

it("waits three round trips for an echo, within limits, and a second if none is known", () => {
  expect([null, 1, 100, 5_000].map(echoPatienceMs)).toEqual([1_000, 150, 300, 600]);
});
