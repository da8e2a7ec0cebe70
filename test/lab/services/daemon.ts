import { once } from "node:events";
import type { Network } from "#test/lab/driver.ts";

/** A program that runs in the lab. */
export interface Daemon {
  readonly pid: number;
  /** Everything it has printed. */
  log(): string;
  /** Asks it to end (SIGTERM), insists after 3 s; resolves once it has. */
  stop(): Promise<void>;
  kill(signal: NodeJS.Signals): void;
  readonly exited: Promise<void>;
}

/** What to start, and the words that show it is ready. */
export interface DaemonOptions {
  readonly node: string;
  readonly command: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** What it gets where the test run dies of a sudden; default KILL, TERM for what has processes of its own to end. */
  readonly lastSignal?: "KILL" | "TERM";
  /** Sent to its standard input, which stays open. */
  readonly input?: string;
  /** Text in its output once it serves. */
  readonly ready: string;
  /** Default 10 s. */
  readonly patienceMs?: number;
}

const INSIST_MS = 3_000;

/** Starts a program inside a node and waits until it serves. Rejects with its output where it does not. */
export async function startDaemon(network: Network, options: DaemonOptions): Promise<Daemon> {
  const { node, command, environment = {}, ready, patienceMs = 10_000 } = options;
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
