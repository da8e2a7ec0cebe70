import { expect, it } from "vitest";
import { createDice } from "#test/fleet/random.ts";
import { areAlike, compareTimes } from "#test/support/heartbeats/timing.ts";

const dice = createDice(7);
/** Times as on a busy machine: mostly short, some long, and much longer for a while. */
const noisy = (): number[] =>
  Array.from({ length: 2_000 }, (_, n) => 1 + dice() ** 4 * 4 + (n > 900 && n < 1_200 ? 20 * dice() : 0));

it("two classes of the same times are alike, however noisy", () => {
  for (let run = 0; run < 20; run += 1) expect(areAlike(compareTimes(noisy(), noisy()))).toBe(true);
});

it("a class that takes one millisecond longer is not alike", () => {
  const other = noisy();
  expect(
    areAlike(
      compareTimes(
        other,
        other.map((ms) => ms + 1),
      ),
    ),
  ).toBe(false);
});
