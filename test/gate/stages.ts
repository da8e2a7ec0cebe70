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

const PEERS: Stage = {
  name: "peers",
  words: npm("test:peers"),
  limitMinutes: 15,
  suite: { config: "test/peers/vitest.config.ts", counts: { tests: 10, skipped: 0 } },
};

const BROWSER: Stage = {
  name: "browser",
  words: npm("test:browser"),
  limitMinutes: 15,
  suite: { config: "test/browser/vitest.config.ts", counts: { tests: 90, skipped: 0 } },
};

/** What runs on every change: .ci/run. */
export const GATE: readonly Stage[] = [
  CHECK,
  {
    name: "test",
    words: ["npm", "test", "--silent"],
    limitMinutes: 30,
    suite: { config: "test/vitest.config.ts", counts: { tests: 13_400, skipped: 0 } },
  },
  PEERS,
  {
    name: "lab",
    words: npm("test:lab"),
    environment: { LAB: "short" },
    limitMinutes: 20,
    suite: { config: "test/lab/vitest.config.ts", counts: { tests: 60, skipped: 0 } },
  },
  BROWSER,
  {
    name: "faults",
    words: npm("test:faults"),
    environment: { FAULTS: "short" },
    limitMinutes: 20,
    suite: { config: "test/faults/vitest.config.ts", counts: { tests: 8, skipped: 0 } },
  },
];

/** Everything, for the end of a larger piece of work: npm run test:full. */
export const FULL: readonly Stage[] = [
  CHECK,
  {
    name: "test",
    words: ["npm", "test", "--silent"],
    environment: { TEST_FILES: "all" },
    limitMinutes: 60,
    suite: { config: "test/vitest.config.ts", counts: { tests: 13_700, skipped: 0 } },
  },
  PEERS,
  {
    name: "documented",
    words: npm("test:documented"),
    limitMinutes: 60,
    suite: { config: "test/peers/documented.config.ts", counts: { tests: 900, skipped: 0 } },
  },
  { name: "expressions", words: npm("test:expressions", "--", "--all"), limitMinutes: 90 },
  {
    name: "lab",
    words: npm("test:lab"),
    limitMinutes: 60,
    suite: { config: "test/lab/vitest.config.ts", counts: { tests: 620, skipped: 0 } },
  },
  BROWSER,
  {
    name: "faults",
    words: npm("test:faults"),
    limitMinutes: 120,
    suite: { config: "test/faults/vitest.config.ts", counts: { tests: 8, skipped: 0 } },
  },
];
