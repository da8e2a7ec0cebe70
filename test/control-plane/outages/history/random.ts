import { seeded } from "#test/support/seeded.ts";

/** Random whole numbers and choices that are the same in every run. */
export interface Dice {
  /** Returns a whole number from 0 to below `count`. */
  below(count: number): number;
  pick<T>(from: readonly [T, ...T[]]): T;
  /** Returns true once in `count` times. */
  oneIn(count: number): boolean;
}

/** Creates dice. */
export function createDice(seed: number): Dice {
  const octet = seeded(seed + 1);
  const below = (count: number) => (octet() * 2 ** 24 + octet() * 2 ** 16 + octet() * 2 ** 8 + octet()) % count;
  return {
    below,
    pick: (from) => from[below(from.length)] ?? from[0],
    oneIn: (count) => below(count) === 0,
  };
}
