import { fork, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { FromChild } from "#probe-agent/net/icmp/messages.ts";

/** Receives events of the ICMP process. */
interface ChildEvents {
  message(message: FromChild): void;
  /** One line for the agent's log. */
  log(line: string): void;
  /** Called once when the process ended or could not start. `how` is a signal, an exit code or "not started". */
  ended(how: string): void;
}

/** File that the ICMP process runs. */
export const ENTRY = fileURLToPath(new URL("main.ts", import.meta.url));
const STOP_WAIT_MS = 2_000;
const MOST_LOG_CHARACTERS = 500;

/** Starts the ICMP process and reports its messages, its error output and its end. */
export function startChild(entry: string, events: ChildEvents): ChildProcess {
  const child = fork(entry, [], { execArgv: [], stdio: ["ignore", "ignore", "pipe", "ipc"] });
  child.stderr
    ?.setEncoding("utf8")
    .on("data", (text: string) => events.log(`icmp: ${text.trim().slice(0, MOST_LOG_CHARACTERS)}`));
  child.on("message", (message: FromChild) => events.message(message));
  // An IPC write can fail while the process dies; "exit" follows. A process that did not start has no exit.
  child.on("error", (error) => {
    events.log(`icmp: ${error.message}`);
    if (child.pid === undefined) events.ended("not started");
  });
  child.on("exit", (code, signal) => events.ended(signal ?? `exit code ${code}`));
  return child;
}

/** Ends the ICMP process: closes its channel, and kills it if it still runs after 2 s. Resolves after it has exited. */
export async function stopChild(child: ChildProcess): Promise<void> {
  const exited = new Promise((resolve) => child.once("exit", resolve));
  const force = setTimeout(() => child.kill("SIGKILL"), STOP_WAIT_MS);
  if (child.connected) child.disconnect();
  await exited;
  clearTimeout(force);
}
