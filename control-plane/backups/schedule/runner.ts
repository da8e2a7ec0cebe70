import { spawn } from "node:child_process";

/** Makes one backup into a file. Aborting ends it. Returns its exit status and what it has printed. */
export type RunBackup = (
  file: string,
  signal: AbortSignal,
) => Promise<{ readonly status: number; readonly line: string }>;

/** Bytes of the output that are kept. */
const MOST_OUTPUT = 4_096;

/** Creates a function that runs `backup FILE` of a program as a child, at a low priority. */
export function createRunner(
  entry: string,
  flags: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): RunBackup {
  return (file, signal) => {
    const child = spawn(process.execPath, [...flags, entry, "backup", "--", file], {
      env: { ...environment },
      stdio: ["ignore", "ignore", "pipe"],
    });
    const stop = (): void => {
      child.kill("SIGTERM");
    };
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    let output = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      output = (output + text).slice(-MOST_OUTPUT);
    });
    return new Promise((resolve) => {
      const end = (status: number, line: string): void => {
        signal.removeEventListener("abort", stop);
        resolve({ status, line });
      };
      child.once("error", (error) => end(5, error.message));
      child.once("close", (code, killedBy) => {
        const last = output.trim().split("\n").at(-1) ?? "";
        end(code ?? 5, last.replace(/^vantage backup: /, "") || `ended with ${code ?? killedBy}`);
      });
    });
  };
}
