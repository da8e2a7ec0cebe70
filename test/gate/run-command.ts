import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Run } from "#test/gate/judge.ts";
import type { RunReport } from "#test/gate/report.ts";

/** A command and its limit. */
export interface Command {
  readonly words: readonly [string, ...string[]];
  readonly environment?: Readonly<Record<string, string>>;
  readonly folder: string;
  readonly limitMs: number;
  /** Where its output goes: to ours, or nowhere. */
  readonly output: "inherit" | "ignore";
}

/** Time between the polite signal and the other one, milliseconds. */
const GRACE_MS = 10_000;

/**
 * Runs a command, and reads the report that its suite wrote to TEST_REPORT. A command that takes
 * longer than its limit is ended with all that it started.
 */
export async function runCommand({
  words: [program, ...words],
  environment,
  folder,
  limitMs,
  output,
}: Command): Promise<Run> {
  const place = mkdtempSync(join(tmpdir(), "vantage-gate-"));
  const path = join(place, "report.json");
  try {
    const child = spawn(program, words, {
      cwd: folder,
      env: { ...process.env, ...environment, TEST_REPORT: path },
      stdio: ["ignore", output, output],
      // A process group of its own, so that all of it can be ended.
      detached: true,
    });
    const { promise, resolve } = Promise.withResolvers<number | null>();
    // A program that cannot be started has no id and no exit.
    child.on("error", () => resolve(127));
    child.on("exit", (code) => resolve(code ?? 128));
    const signal = (name: NodeJS.Signals): void => {
      if (child.pid === undefined) return;
      try {
        process.kill(-child.pid, name);
      } catch {
        // The group has ended.
      }
    };
    let isLate = false;
    const timers = [
      setTimeout(() => {
        isLate = true;
        signal("SIGTERM");
      }, limitMs),
      setTimeout(() => {
        signal("SIGKILL");
        resolve(null);
      }, limitMs + GRACE_MS),
    ];
    const exitCode = await promise;
    for (const timer of timers) clearTimeout(timer);
    return isLate ? { exitCode: null, report: null } : { exitCode, report: readReport(path) };
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

function readReport(path: string): RunReport | null {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as RunReport;
  } catch {
    return null;
  }
}
