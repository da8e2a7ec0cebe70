import type { Clock } from "#shared/time/clock.ts";
import { countTests, judgeSkipped, judgeRun, judgeSecondLook, LOOKS, type Flaky, type Run } from "#test/gate/judge.ts";
import type { FileReport, RunReport } from "#test/gate/report.ts";
import { runCommand } from "#test/gate/run-command.ts";
import type { Stage } from "#test/gate/stages.ts";

/** Result of a stage. */
export interface StageResult {
  readonly name: string;
  readonly minutes: number;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Why it closes the gate. */
  readonly closes: readonly string[];
  readonly flaky: readonly Flaky[];
}

/** Where a stage runs, and what it runs with. */
export interface Surroundings {
  readonly folder: string;
  readonly workers: number;
  /** Where the output of its commands goes. */
  readonly output: "inherit" | "ignore";
  readonly clock: Pick<Clock, "monotonic">;
}

const MINUTE_MS = 60_000;
/** All second looks of a stage together, milliseconds. */
const SECOND_LOOKS_MS = 5 * MINUTE_MS;

/** Runs a stage, and the files of it that failed three times more. */
export async function runStage(stage: Stage, around: Surroundings): Promise<StageResult> {
  const startedAt = around.clock.monotonic();
  const first = await runCommand({
    words: stage.words,
    environment: { ...stage.environment, TEST_WORKERS: String(around.workers) },
    folder: around.folder,
    output: around.output,
    limitMs: stage.limitMinutes * MINUTE_MS,
  });
  const end = (report: RunReport, closes: readonly string[], flaky: readonly Flaky[]): StageResult => ({
    name: stage.name,
    minutes: (around.clock.monotonic() - startedAt) / MINUTE_MS,
    ...countTests(report),
    closes,
    flaky,
  });
  const empty: RunReport = { files: [], strays: [] };
  const { config } = stage;
  if (config === undefined) {
    const { exitCode } = first;
    const why = exitCode === null ? "it did not end in its time" : `it ended with code ${exitCode}`;
    return end(empty, exitCode === 0 ? [] : [why], []);
  }
  const { closes, again } = judgeRun(first);
  const report = first.report ?? empty;
  if (closes.length > 0) return end(report, closes, []);

  const flaky: Flaky[] = [];
  /** Each file that ran again, as it was the last time. */
  const last = new Map<string, FileReport>();
  const until = around.clock.monotonic() + SECOND_LOOKS_MS;
  for (const file of again) {
    const runs = await lookAgain(file, { config, stage, around, until });
    const verdict = judgeSecondLook(stage.name, file, runs);
    if (typeof verdict === "string") return end(report, [verdict], flaky);
    flaky.push(verdict);
    last.set(file.path, runs.at(-1)?.report?.files[0] ?? file);
  }
  const settled = { ...report, files: report.files.map((file) => last.get(file.path) ?? file) };
  return end(settled, judgeSkipped(settled), flaky);
}

/** Runs a file alone, until it fails or has passed often enough or the time is used up. */
async function lookAgain(
  { path }: FileReport,
  {
    config,
    stage,
    around,
    until,
  }: { readonly config: string; readonly stage: Stage; readonly around: Surroundings; readonly until: number },
): Promise<readonly Run[]> {
  const runs: Run[] = [];
  for (let look = 1; look <= LOOKS; look += 1) {
    const limitMs = until - around.clock.monotonic();
    if (limitMs <= 0) return runs;
    if (around.output === "inherit") console.log(`\n=== Second look, ${look} of ${LOOKS}: ${path}`);
    const run = await runCommand({
      words: [process.execPath, "node_modules/vitest/vitest.mjs", "run", "--config", config, path],
      environment: { ...stage.environment, TEST_WORKERS: "1" },
      folder: around.folder,
      output: around.output,
      limitMs,
    });
    runs.push(run);
    if (run.exitCode !== 0) return runs;
  }
  return runs;
}
