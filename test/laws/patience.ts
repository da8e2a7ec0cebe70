import type { SourceFile } from "#test/laws/source-files.ts";
import { PATIENCE } from "#test/support/patience.ts";

/** One habit that fails tests on a busy machine though the code is right. */
interface Habit {
  /** What the file does, as the end of "this file ...". */
  readonly does: string;
  readonly instead: string;
  /** Beginnings of the paths where it is looked for; absent: everywhere. */
  readonly within?: readonly string[];
  /** Finds the habit in the code of a file, without its comments and strings. */
  readonly find: (code: string) => readonly string[];
}

/** Returns every match whose number, in digits with or without "_", is below the least. */
function below(code: string, pattern: RegExp, least: number): readonly string[] {
  return [...code.matchAll(pattern)]
    .filter(([, digits = ""]) => Number(digits.replaceAll("_", "")) < least)
    .map(([found]) => found.trim());
}

const all = (code: string, pattern: RegExp): readonly string[] => code.match(pattern) ?? [];

/** Times of the lab's own links and servers, with which a test compares what the product reports. */
const TRUTHS: ReadonlySet<string> = new Set(["BUSY_AFTER_MS", "SECOND_SYN_MS", "WITHIN_MS"]);

/** The habits that no test has. */
export const HABITS: readonly Habit[] = [
  {
    does: "judges by a clock",
    instead:
      "wait for the event, hand in a clock, or compare with a deadline of the product (test/support/deadlines.ts)",
    find: (code) => all(code, /\bperformance\.now\(|\bmonotonic\(\)|\bhrtime\b|\bDate\.now\(\) *-|- *Date\.now\(\)/g),
  },
  {
    does: "limits a time that was measured",
    instead: "compare the order of events, or count them: seconds belong to test/bench",
    within: ["test/e2e/", "test/faults/", "test/lab/"],
    find: (code) => [
      ...Array.from(code.matchAll(/\.toBeLessThan(?:OrEqual)?\(([\w.]+)\)/g))
        .filter(([, bound = ""]) => /(?:_MS|_SECONDS|Ms|Seconds)$/.test(bound) && !TRUTHS.has(bound))
        .map(([found]) => found),
      ...all(code, /\bexpect\([^;\n]*\b(?:took|elapsed|elapsed_ms)\b[^;\n]*\.toBe(?:Less|Greater)Than/g),
    ],
  },
  {
    does: "judges by the use of memory or of the processor",
    instead: "count, bound a worker's heap, or use test/support/memory.ts or cpu-time.ts",
    find: (code) => all(code, /\bmemoryUsage\b|\b(?:threadC|c)puUsage\b|\bresourceUsage\b|\bmonitorEventLoopDelay\b/g),
  },
  {
    does: "has a limit of its own that is shorter than that of all tests",
    instead: "leave it out (test/support/patience.ts)",
    find: (code) => [
      ...below(code, /\b(?:testTimeout|hookTimeout):? *([\d_]+)/g, PATIENCE.testTimeout),
      ...below(code, /^ *\}, ([\d_]{4,})\);$/gm, PATIENCE.testTimeout),
      ...below(code, /^ *\},\n *([\d_]{4,}),\n *\);$/gm, PATIENCE.testTimeout),
      ...below(code, /\btimeout: *([\d_]+)/g, PATIENCE.expect.poll.timeout),
    ],
  },
  {
    does: "waits by a helper with a short limit",
    instead: "use until() of test/support/until.ts, or expect.poll",
    find: (code) => all(code, /\bvi\.wait(?:For|Until)\(/g),
  },
];

/** Benches, and programs that print how long they took; the gate; fleets; and what tests use to compare with deadlines. */
const MAY_READ_CLOCKS = /^test\/(?:bench|examples|fleet|gate|laws\/expressions|servers|support)\//;

/** Describes where the tests have a habit, one line each. */
export function findImpatience(files: readonly SourceFile[]): readonly string[] {
  return files
    .filter(({ path }) => path.startsWith("test/") && !MAY_READ_CLOCKS.test(path))
    .flatMap(({ path, code }) =>
      HABITS.filter(({ within = [""] }) => within.some((beginning) => path.startsWith(beginning))).flatMap(
        ({ does, instead, find }) => find(code).map((found) => `${path} ${does} (${found}): ${instead}`),
      ),
    );
}
