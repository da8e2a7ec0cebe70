import { once } from "node:events";
import type { Network } from "#test/lab/driver.ts";

/** A program that runs in the lab. */
export interface Daemon {
  readonly pid: number;
  /** Returns everything it has printed. */
  log(): string;
  /** Sends SIGTERM, and SIGKILL after 3 s. Resolves when it has ended. */
  stop(): Promise<void>;
  kill(signal: NodeJS.Signals): void;
  readonly exited: Promise<void>;
}

/** The program to start, and the text that shows it is ready. */
export interface DaemonOptions {
  readonly node: string;
  readonly command: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Signal if the test run dies unexpectedly. Default: KILL; TERM for programs with processes to end. */
  readonly lastSignal?: "KILL" | "TERM";
  /** Sent to its standard input, which stays open. */
  readonly input?: string;
  /** Text in its output when it is ready. */
  readonly ready: string;
  /** Default: 240 s, for a busy machine. */
  readonly patienceMs?: number;
}

const INSIST_MS = 3_000;

/** Starts a program in a node and waits until it is ready. Rejects with its output if it does not get ready. */
export async function startDaemon(network: Network, options: DaemonOptions): Promise<Daemon> {
  const { node, command, environment = {}, ready, patienceMs = 240_000 } = options;
  const child = network.spawn(node, command, environment, options.lastSignal);
  child.stdin?.on("error", () => undefined);
  if (options.input !== undefined) child.stdin?.write(options.input);
  let output = "";
  const serves = Promise.withResolvers<void>();
  const listen = (chunk: Buffer): void => {
    output += chunk.toString();
    if (output.includes(ready)) serves.resolve();
  };
  child.stdout?.on("data", listen);
  child.stderr?.on("data", listen);
  const fail = (what: string): void => serves.reject(new Error(`${command[0]} in ${node} ${what}: ${output}`));
  child.on("error", (error) => fail(error.message));
  const exited = once(child, "exit").then(() => fail("ended"));
  const timer = setTimeout(() => fail(`was not ready after ${patienceMs} ms`), patienceMs);
  const kill = (signal: NodeJS.Signals): void => void child.kill(signal);
  try {
    await serves.promise;
  } catch (error) {
    kill("SIGKILL");
    throw error;
  } finally {
    clearTimeout(timer);
  }
  return {
    pid: child.pid ?? 0,
    log: () => output,
    kill,
    exited,
    async stop() {
      kill("SIGTERM");
      const insist = setTimeout(() => kill("SIGKILL"), INSIST_MS);
      await exited;
      clearTimeout(insist);
    },
  };
}
