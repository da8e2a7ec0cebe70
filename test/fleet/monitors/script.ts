import { createDice, type Dice } from "#test/fleet/random.ts";
import type { Verdict } from "#test/fleet/monitors/records.ts";

/** A check as an agent sees it: number of the monitor, version of its target, and region of the agent. */
export interface Question {
  readonly number: number;
  readonly version: number;
  readonly location: string;
}

/** Decides what agents answer. Targets go up and down by a plan that follows from the seed. */
export interface Script {
  /** Returns the verdict at a time in Unix milliseconds. */
  verdict(question: Question, at: number): Verdict;
  /** From now on every target keeps its verdict, and probes have no faults. */
  calm(at: number): void;
  /** Returns the verdict of a target since `calm`. */
  truth(target: Pick<Question, "number" | "version">): "up" | "down";
}

/** Settings of a script. `scale` is the factor of all durations; 1 fits intervals of a minute. */
export interface ScriptOptions {
  readonly seed: number;
  readonly startAt: number;
  readonly scale: number;
  /** Share of answers that name a fault of the probe. Default: PROBE_FAULTS. */
  readonly probeFaults?: number | undefined;
}

type Windows = readonly (readonly [from: number, to: number])[];

const HORIZON_MS = 3_600_000;
/** Shares of the targets that fail now and then, that fail often, and that fail at one location only. */
const UNSTABLE = 0.3;
const FLAPPING = 0.03;
const ALONE = 0.1;
/** Usual share of answers that name a fault of the probe. */
const PROBE_FAULTS = 0.005;

/** Creates the script of a run. */
export function createScript({ seed, startAt, scale, probeFaults = PROBE_FAULTS }: ScriptOptions): Script {
  const outages = new Map<string, Windows>();
  const faults = createDice(seed);
  let calmAt: number | null = null;

  const windowsOf = (key: string, plan: (dice: Dice) => Windows): Windows => {
    const known = outages.get(key) ?? plan(createDice(hash(`${seed} ${key}`)));
    outages.set(key, known);
    return known;
  };
  const isOut = ({ number, version }: Pick<Question, "number" | "version">, at: number) => {
    const windows = windowsOf(`${number} ${version}`, (dice) => {
      const kind = dice();
      if (kind < FLAPPING) return planWindows(dice, scale, { gap: [15, 40], outage: [15, 40] });
      return kind < UNSTABLE ? planWindows(dice, scale, { gap: [40, 240], outage: [20, 150] }) : [];
    });
    return covers(windows, at - startAt);
  };
  const isOutAlone = ({ number, location }: Question, at: number) => {
    const windows = windowsOf(`${number} alone`, (dice) =>
      dice() < ALONE ? planWindows(dice, scale, { gap: [60, 240], outage: [20, 200] }) : [],
    );
    return hash(`${number}`) % 3 === hash(location) % 3 && covers(windows, at - startAt);
  };

  return {
    verdict(question, at) {
      if (calmAt !== null) return isOut(question, calmAt) ? "down" : "up";
      if (faults() < probeFaults) return "unknown";
      return isOut(question, at) || isOutAlone(question, at) ? "down" : "up";
    },
    calm(at) {
      calmAt = at;
    },
    truth: (target) => (isOut(target, calmAt ?? startAt) ? "down" : "up"),
  };
}

/** Plans outages. Ranges are in seconds before scaling; windows are in milliseconds since the start. */
function planWindows(
  dice: Dice,
  scale: number,
  { gap, outage }: { readonly gap: readonly [number, number]; readonly outage: readonly [number, number] },
): Windows {
  const length = ([from, to]: readonly [number, number]) => (from + dice() * (to - from)) * 1_000 * scale;
  const windows: (readonly [number, number])[] = [];
  for (let at = dice() * length(gap); at < HORIZON_MS;) {
    const end = at + length(outage);
    windows.push([at, end]);
    at = end + length(gap);
  }
  return windows;
}

function covers(windows: Windows, at: number): boolean {
  return windows.some(([from, to]) => at >= from && at < to);
}

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const char of text) value = Math.imul(value ^ (char.codePointAt(0) ?? 0), 0x01000193);
  return value >>> 0;
}
