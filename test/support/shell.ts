import { spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";

/** Result of a command. */
export interface CommandRun {
  /** null if it was killed. */
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command that runs until it is ended. */
export interface RunningCommand {
  /** Waits until its output has the text. Rejects if the command ends without it. */
  says(text: string): Promise<void>;
  /** Sends SIGTERM and resolves with its status. */
  end(): Promise<number | null>;
}

/** Runs lines in `sh`, in one directory and environment. */
export interface Shell {
  /** Runs a line to its end, at most 60 s. */
  run(line: string, more?: Readonly<Record<string, string>>): Promise<CommandRun>;
  /** Starts one command (not a pipeline), which `NAME=value` can precede. */
  start(line: string, more?: Readonly<Record<string, string>>): RunningCommand;
  /** Kills running commands. */
  close(): void;
}

const LIMIT_MS = 60_000;

/** Opens a shell as a user has it: PATH is this process's, everything else is `environment`. */
export function openShell(cwd: string, environment: Readonly<Record<string, string>>): Shell {
  const children = new Set<ChildProcessByStdio<null, Readable, Readable>>();

  function spawnLine(line: string, more: Readonly<Record<string, string>>) {
    const env = { PATH: process.env["PATH"], ...environment, ...more };
    const child = spawn("sh", ["-c", line], { cwd, env, timeout: LIMIT_MS, stdio: ["ignore", "pipe", "pipe"] });
    children.add(child);
    const ended = once(child, "close").then(([status]) => {
      children.delete(child);
      return status as number | null;
    });
    return { child, ended };
  }

  return {
    async run(line, more = {}) {
      const { child, ended } = spawnLine(line, more);
      let [stdout, stderr] = ["", ""];
      child.stdout.on("data", (chunk) => (stdout += String(chunk)));
      child.stderr.on("data", (chunk) => (stderr += String(chunk)));
      return { status: await ended, stdout, stderr };
    },
    start(line, more = {}) {
      // The shell is replaced by the command, so that a signal reaches it.
      const { child, ended } = spawnLine(`exec env ${line}`, more);
      let output = "";
      const waiting = new Set<() => void>();
      for (const stream of [child.stdout, child.stderr]) {
        stream.on("data", (chunk) => {
          output += String(chunk);
          for (const checkOutput of waiting) checkOutput();
        });
      }
      return {
        says: (text) =>
          new Promise((resolve, reject) => {
            const checkOutput = () => output.includes(text) && resolve();
            waiting.add(checkOutput);
            void ended.then(() => reject(new Error(`it never said ${text} but:\n${output}`)));
            checkOutput();
          }),
        end() {
          child.kill("SIGTERM");
          return ended;
        },
      };
    },
    close() {
      for (const child of children) child.kill("SIGKILL");
    },
  };
}
