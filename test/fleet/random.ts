/** Returns a number from 0 to below 1. */
export type Dice = () => number;

/** Returns the same numbers for the same seed (mulberry32), so that a failure can be repeated. */
export function createDice(seed: number): Dice {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns a whole number from 0 to below `bound`. */
export function below(dice: Dice, bound: number): number {
  return Math.floor(dice() * bound);
}

/** Returns `count` different items of a list in random order (Fisher-Yates, no further than needed). */
export function sample<T>(dice: Dice, from: readonly T[], count: number): T[] {
  const left = [...from];
  const taken: T[] = [];
  while (taken.length < count && left.length > 0) taken.push(...left.splice(below(dice, left.length), 1));
  return taken;
}
