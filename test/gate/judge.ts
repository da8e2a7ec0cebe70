import type { FileReport, RunReport } from "#test/gate/report.ts";

/** One run of a stage. */
export interface Run {
  /** The exit code of its command; null if it was ended because it took too long. */
  readonly exitCode: number | null;
  /** Null if it wrote none. */
  readonly report: RunReport | null;
}

/** One test file that failed and then passed three times alone. */
export interface Flaky {
  readonly stage: string;
  readonly path: string;
  readonly test: string;
  readonly message: string;
}

/** What is to be done about a run: why it closes the gate, and which files get a second look. */
interface Judgement {
  readonly closes: readonly string[];
  readonly again: readonly FileReport[];
}

/** How often a file that failed runs again, alone. */
export const LOOKS = 3;
/** More flaky files than this, over all stages, close the gate. */
export const MOST_FLAKY = 5;

/**
 * Files without a second look. Laws have no luck. A test of faults, of what may be reached, of secrets, of histories or
 * of what happens exactly once looks for races, and a race of the product passes the second time too.
 */
const NO_SECOND_LOOK = [
  /^test\/(?:laws|faults|fleet|gate)\//,
  /\/audit/,
  /[/-](?:crash(?:es)?|egress|exactly|idempotency|killed|locks|race|racing|reach|replicas|secrets?|transaction)(?=[./-])/,
];

/** Whether a file that failed gets a second look. */
export function mayLookAgain(path: string): boolean {
  return !NO_SECOND_LOOK.some((kind) => kind.test(path));
}

/** Counts the tests of a run. */
export function countTests(report: RunReport): {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
} {
  const sum = (of: (file: FileReport) => number): number => report.files.reduce((total, file) => total + of(file), 0);
  return {
    passed: sum(({ passed }) => passed),
    failed: sum(({ failures }) => failures.length),
    skipped: sum(({ skipped }) => skipped),
  };
}

/** Returns why a run closes the gate because of tests that did not run, after its second looks. */
export function judgeSkipped(report: RunReport): readonly string[] {
  const { passed, skipped } = countTests(report);
  return [...(passed === 0 ? ["no test passed"] : []), ...(skipped > 0 ? [`${skipped} tests were skipped`] : [])];
}

/** Judges the first run of a stage. */
export function judgeRun({ exitCode, report }: Run): Judgement {
  const closing = (why: string): Judgement => ({ closes: [why], again: [] });
  if (exitCode === null) return closing("it did not end in its time");
  if (report === null) return closing(`it ended with code ${exitCode} and without a report`);
  const failing = report.files.filter(({ failures }) => failures.length > 0);
  const again = failing.filter(({ path }) => mayLookAgain(path));
  const closes = [
    ...report.strays.map((stray) => `outside a test: ${stray}`),
    ...failing.filter((file) => !again.includes(file)).map((file) => `no second look at ${describe(file)}`),
    ...(failing.length > MOST_FLAKY ? [`${failing.length} files failed: too many for a second look`] : []),
    ...(exitCode !== 0 && failing.length === 0 && report.strays.length === 0
      ? [`it ended with code ${exitCode}, though no test failed`]
      : []),
  ];
  return { closes, again: closes.length > 0 ? [] : again };
}

/** Judges the runs of one file alone; a string says why it closes the gate. */
export function judgeSecondLook(stage: string, first: FileReport, runs: readonly Run[]): Flaky | string {
  for (const [index, { exitCode, report }] of runs.entries()) {
    const file = report?.files.find(({ path }) => path === first.path);
    const where = `alone, in run ${index + 1} of ${LOOKS}`;
    if (exitCode === null) return `${describe(first)}; ${where}, it did not end in its time`;
    if (file === undefined) return `${describe(first)}; ${where}, it ended with code ${exitCode} and without a report`;
    if (file.failures.length > 0) return `${describe(file)}, ${where} too`;
    if (exitCode !== 0) return `${describe(first)}; ${where}, it ended with code ${exitCode}`;
    // A file that skips what failed has not passed.
    if (file.passed <= first.passed || file.skipped > first.skipped) {
      return `${describe(first)}; ${where}, ${file.passed} tests passed and ${file.skipped} were skipped`;
    }
  }
  if (runs.length < LOOKS) return `${describe(first)}; the time for second looks was used up`;
  const [failure] = first.failures;
  return { stage, path: first.path, test: failure?.test ?? "", message: failure?.message ?? "" };
}

function describe({ path, failures: [failure] }: FileReport): string {
  return `${path} > ${failure?.test}: ${failure?.message}`;
}
