import type { Observation, StateSettings } from "#control-plane/outages/state/state.ts";
import { FAULT, START } from "#test/control-plane/outages/state/story.ts";
import { seeded } from "#test/support/seeded.ts";

/** One step of a history: an observation arrives, or only time passes. Times are Unix milliseconds. */
export interface Step {
  readonly now: number;
  readonly observation: Observation | null;
}

/** The checks of a monitor. */
export interface History {
  readonly settings: StateSettings;
  readonly steps: readonly Step[];
}

/** Numbers that are the same in every run. */
export interface Dice {
  /** An integer of 0 to n - 1. */
  below(n: number): number;
  /** True in so many of 1,000 cases. */
  perMille(share: number): boolean;
  pick<T>(items: readonly T[]): T;
}

/** Creates the numbers of a seed. */
export function createDice(seed: number): Dice {
  const octet = seeded(seed * 7_919 + 1);
  const below = (n: number): number => ((octet() << 16) | (octet() << 8) | octet()) % n;
  return { below, perMille: (share) => below(1_000) < share, pick: (items) => items[below(items.length)]! };
}

const NAMES = ["eu", "us", "ap", "sa", "af"];

/** Creates settings with one to five locations. */
function createSettings(dice: Dice): StateSettings {
  const locations = NAMES.slice(0, 1 + dice.below(NAMES.length));
  return {
    locations,
    withoutAgent: [],
    quorum: dice.perMille(600) ? "majority" : 1 + dice.below(locations.length),
    retries: dice.below(4),
    recovery: 1 + dice.below(3),
    intervalMs: dice.pick([60_000, 300_000]),
    timeoutMs: dice.pick([1_000, 15_000]),
    degradedMs: dice.perMille(500) ? 500 : null,
    repeatMs: dice.perMille(500) ? dice.pick([60_000, 400_000]) : null,
    isPassive: dice.perMille(200),
  };
}

/** Time between two steps in milliseconds: mostly rechecks and planned checks; sometimes silence or a step back. */
function createPause(dice: Dice, hasClockSteps: boolean): number {
  const chance = dice.below(1_000);
  if (hasClockSteps && chance < 20) return dice.pick([-3_600_000, 3_600_000, -5_000, -1]);
  if (chance < 40) return 600_000 + dice.below(600_000);
  if (chance < 340) return dice.below(4) * 500;
  if (chance < 400) return 0;
  return dice.below(40_000);
}

/** Time since the beginning of a check in milliseconds: negative if the clock was set back during the check. */
function createAge(dice: Dice, hasClockSteps: boolean): number {
  if (hasClockSteps && dice.perMille(10)) return -3_600_000;
  return dice.perMille(100) ? dice.below(20_000) : dice.below(300);
}

/**
 * Creates a history. The target is up or down for some time, at some locations also sole, or only at the first
 * try; probes fall silent; some checks take long, so that their observations arrive late.
 */
export function createHistory(dice: Dice, length: number, hasClockSteps: boolean): History {
  const settings = createSettings(dice);
  const steps: Step[] = [];
  let now = START;
  let isTargetDown = dice.perMille(300);
  let wrong = new Set<string>();
  let silent = new Set<string>();
  // Locations whose planned checks fail, and those of them that are to be re-checked.
  let unsteady = new Set<string>();
  const retried = new Set<string>();
  for (let step = 0; step < length; step++) {
    now += createPause(dice, hasClockSteps);
    if (dice.perMille(60)) isTargetDown = !isTargetDown;
    if (dice.perMille(60)) wrong = new Set(settings.locations.filter(() => dice.perMille(250)));
    if (dice.perMille(60)) silent = new Set(settings.locations.filter(() => dice.perMille(250)));
    if (dice.perMille(60)) unsteady = new Set(settings.locations.filter(() => dice.perMille(250)));
    const location = dice.perMille(10) ? "elsewhere" : dice.pick(settings.locations);
    const isRecheck = dice.perMille(retried.has(location) ? 900 : 250);
    const isFirst = unsteady.has(location) && !isRecheck;
    if (isFirst) retried.add(location);
    else retried.delete(location);
    const isDown = isTargetDown !== wrong.has(location) || isFirst;
    const verdict = silent.has(location) || dice.perMille(30) ? "unknown" : isDown ? "down" : "up";
    const observation: Observation = {
      location,
      verdict,
      beganAt: now - createAge(dice, hasClockSteps),
      responseMs: verdict === "up" && dice.perMille(950) ? dice.pick([100, 500, 501, 900, 900]) : null,
      fault:
        verdict === "up"
          ? null
          : { ...FAULT, source: verdict === "down" ? "target" : "probe", message: `check ${step}` },
      isRecheck,
    };
    steps.push({ now, observation: dice.perMille(50) ? null : observation });
  }
  return { settings, steps };
}
