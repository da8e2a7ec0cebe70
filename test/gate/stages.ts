import type { Counts } from "#test/gate/judge.ts";

/** A part of the gate. */
export interface Stage {
  readonly name: string;
  readonly words: readonly [string, ...string[]];
  readonly environment?: Readonly<Record<string, string>>;
  /** Twice what it takes with half of the cores. */
  readonly limitMinutes: number;
  /** The suite of tests that it runs; absent for a command that is right or wrong as a whole. */
  readonly suite?: Suite;
}

/** A suite of tests: what runs one of its files again, and how many tests it has. */
export interface Suite {
  readonly config: string;
  readonly counts: Counts;
}

const npm = (...words: string[]): readonly [string, ...string[]] => ["npm", "run", "--silent", ...words];

const CHECK: Stage = { name: "check", words: npm("check"), limitMinutes: 5 };

const TEST: Stage & { readonly suite: Suite } = {
  name: "test",
  words: ["npm", "test", "--silent"],
  environment: { TEST_FILES: "all" },
  limitMinutes: 60,
  suite: { config: "test/vitest.config.ts", counts: { tests: 17_130, skipped: 0 } },
};

const PEERS: Stage = {
  name: "peers",
  words: npm("test:peers"),
  limitMinutes: 15,
  suite: { config: "test/peers/vitest.config.ts", counts: { tests: 10, skipped: 0 } },
};

const DOCUMENTED: Stage = {
  name: "documented",
  words: npm("test:documented"),
  limitMinutes: 60,
  suite: { config: "test/peers/documented.config.ts", counts: { tests: 900, skipped: 0 } },
};

const EXPRESSIONS: Stage = { name: "expressions", words: npm("test:expressions", "--", "--all"), limitMinutes: 90 };

const LAB: Stage & { readonly suite: Suite } = {
  name: "lab",
  words: npm("test:lab"),
  limitMinutes: 60,
  suite: { config: "test/lab/vitest.config.ts", counts: { tests: 776, skipped: 0 } },
};

const BROWSER: Stage & { readonly suite: Suite } = {
  name: "browser",
  words: npm("test:browser"),
  limitMinutes: 30,
  suite: { config: "test/browser/vitest.config.ts", counts: { tests: 160, skipped: 0 } },
};

const FAULTS: Stage & { readonly suite: Suite } = {
  name: "faults",
  words: npm("test:faults"),
  limitMinutes: 120,
  suite: { config: "test/faults/vitest.config.ts", counts: { tests: 8, skipped: 0 } },
};

/** Returns the part of a stage that these settings choose: fewer tests, in less time. */
function partOf(
  stage: Stage & { readonly suite: Suite },
  part: {
    readonly environment: Readonly<Record<string, string>>;
    readonly limitMinutes: number;
    readonly tests: number;
  },
): Stage {
  const { environment, limitMinutes, tests } = part;
  return { ...stage, environment, limitMinutes, suite: { ...stage.suite, counts: { ...stage.suite.counts, tests } } };
}

/** What runs on every change: .ci/run. */
export const GATE: readonly Stage[] = [
  CHECK,
  partOf(TEST, { environment: {}, limitMinutes: 90, tests: 17_050 }),
  PEERS,
  partOf(LAB, { environment: { LAB: "short" }, limitMinutes: 20, tests: 112 }),
  partOf(BROWSER, { environment: { BROWSER: "short" }, limitMinutes: 45, tests: 160 }),
  partOf(FAULTS, { environment: { FAULTS: "short" }, limitMinutes: 40, tests: 8 }),
];

/** Everything, for the end of a larger piece of work: npm run test:full. */
export const FULL: readonly Stage[] = [CHECK, TEST, PEERS, DOCUMENTED, EXPRESSIONS, LAB, BROWSER, FAULTS];
