/** A part of the gate. */
export interface Stage {
  readonly name: string;
  readonly words: readonly [string, ...string[]];
  readonly environment?: Readonly<Record<string, string>>;
  /** Twice what it takes with half of the cores. */
  readonly limitMinutes: number;
  /** Configuration of the tests that it runs, with which a file runs again; absent for a command that is right or wrong. */
  readonly config?: string;
}

const npm = (...words: string[]): readonly [string, ...string[]] => ["npm", "run", "--silent", ...words];

const CHECK: Stage = { name: "check", words: npm("check"), limitMinutes: 5 };

const TEST: Stage = {
  name: "test",
  words: ["npm", "test", "--silent"],
  environment: { TEST_FILES: "all" },
  limitMinutes: 60,
  config: "test/vitest.config.ts",
};

const PEERS: Stage = {
  name: "peers",
  words: npm("test:peers"),
  limitMinutes: 15,
  config: "test/peers/vitest.config.ts",
};

const DOCUMENTED: Stage = {
  name: "documented",
  words: npm("test:documented"),
  limitMinutes: 60,
  config: "test/peers/documented.config.ts",
};

const EXPRESSIONS: Stage = { name: "expressions", words: npm("test:expressions", "--", "--all"), limitMinutes: 90 };

const LAB: Stage = {
  name: "lab",
  words: npm("test:lab"),
  limitMinutes: 60,
  config: "test/lab/vitest.config.ts",
};

const BROWSER: Stage = {
  name: "browser",
  words: npm("test:browser"),
  limitMinutes: 30,
  config: "test/browser/vitest.config.ts",
};

const FAULTS: Stage = {
  name: "faults",
  words: npm("test:faults"),
  limitMinutes: 120,
  config: "test/faults/vitest.config.ts",
};

const PACKAGES: Stage = {
  name: "packages",
  words: npm("test:packages"),
  limitMinutes: 40,
  config: "test/packages/vitest.config.ts",
};

/** What runs on every change: .ci/run. */
export const GATE: readonly Stage[] = [
  CHECK,
  { ...TEST, environment: {}, limitMinutes: 90 },
  PEERS,
  { ...LAB, environment: { LAB: "short" }, limitMinutes: 20 },
  { ...BROWSER, environment: { BROWSER: "short" }, limitMinutes: 45 },
  { ...FAULTS, environment: { FAULTS: "short" }, limitMinutes: 40 },
];

/** Everything, for the end of a larger piece of work: npm run test:full. */
export const FULL: readonly Stage[] = [CHECK, TEST, PEERS, DOCUMENTED, EXPRESSIONS, LAB, BROWSER, FAULTS, PACKAGES];
