import { describe, expect, it } from "vitest";
import { describeDuration, writeDuration } from "#shared/text/duration.ts";

describe("a duration", () => {
  it.each([
    [-5, "0 s"],
    [0, "0 s"],
    [0.6, "1 s"],
    [43, "43 s"],
    [59, "59 s"],
    [59.6, "1 min"],
    [60, "1 min"],
    [61, "1 min 1 s"],
    [243, "4 min 3 s"],
    [3_600, "1 h"],
    [3_605, "1 h"],
    [5_400, "1 h 30 min"],
    [7_201, "2 h"],
    [7_260, "2 h 1 min"],
    [7_500, "2 h 5 min"],
    [86_400 + 300, "1 d"],
    [90_061, "1 d 1 h"],
    [2 * 86_400 + 3 * 3_600 + 59, "2 d 3 h"],
    [200_000, "2 d 7 h"],
    [8_640_000, "100 d"],
  ])("of %s s is written with its two largest units as %s", (seconds, written) => {
    expect(writeDuration(seconds)).toBe(written);
  });

  it.each([
    [0, "less than a second"],
    [999, "less than a second"],
    [1_000, "1 second"],
    [179_999, "2 minutes"],
    [3_600_000, "1 hour"],
    [86_399_999, "23 hours"],
    [172_800_000, "2 days"],
  ])("of %s ms is described by its largest unit as %s", (ms, words) => {
    expect(describeDuration(ms)).toBe(words);
  });
});
