import { spawn, type ChildProcess } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { COMPILED_CODE } from "#test/support/compiled-code.ts";
import { freePort } from "#test/support/free-port.ts";
import { until } from "#test/support/until.ts";

/** A data directory with a supervisor process and stand-in programs. */
export interface Supervisor {
  readonly process: ChildProcess;
  /** Returns everything it has printed. */
  output(): string;
  /** Waits until the output has the text. Rejects with the output if it does not come. */
  says(text: string): Promise<void>;
  /** Resolves with its exit status (null if it was killed). */
  readonly ended: Promise<number | null>;
}

/** The data directory and two ports of one test. */
export interface Place {
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly base: string;
  /** Starts the supervisor. `command` runs instead of the supervisor with stand-ins. */
  start(more?: Readonly<Record<string, string>>, command?: readonly string[]): Supervisor;
  /** Returns lines that the stand-ins wrote: "agent start", "control-plane stop" ... */
  notes(): string[];
  /** Returns the environment of a stand-in, and its pid. */
  given(program: "agent" | "control-plane"): Record<string, string>;
  /** Ends all processes of the directory, and removes it. */
  clean(): Promise<void>;
}

const PROGRAM = fileURLToPath(new URL("programs/up.ts", import.meta.url));

/** Returns the processes of the embedded server of this directory. */
export function serversIn(directory: string): number[] {
  const data = join(directory, "postgres", "data");
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => {
      try {
        return pid > 0 && readlinkSync(`/proc/${pid}/cwd`) === data;
      } catch {
        return false;
      }
    });
}

/** Creates a data directory and ports. */
export async function makePlace(): Promise<Place> {
  const parent = mkdtempSync(join(tmpdir(), "vantage-up-"));
  chmodSync(parent, 0o755);
  const directory = join(parent, "data");
  const environment = {
    ...COMPILED_CODE,
    VANTAGE_DATA_DIR: directory,
    VANTAGE_HTTP_ADDR: `127.0.0.1:${await freePort()}`,
    VANTAGE_GRPC_ADDR: `127.0.0.1:${await freePort()}`,
  };
  const running: Supervisor[] = [];
  return {
    directory,
    environment,
    base: `http://${environment.VANTAGE_HTTP_ADDR}`,
    start(more = {}, command = [process.execPath, PROGRAM]) {
      const supervisor = startSupervisor({ ...environment, ...more }, command);
      running.push(supervisor);
      return supervisor;
    },
    notes: () =>
      existsSync(join(directory, "notes")) ? readFileSync(join(directory, "notes"), "utf8").trim().split("\n") : [],
    given: (program) => JSON.parse(readFileSync(join(directory, `${program}.env`), "utf8")) as Record<string, string>,
    async clean() {
      for (const supervisor of running) supervisor.process.kill("SIGTERM");
      await Promise.all(running.map((supervisor) => supervisor.ended));
      for (const pid of serversIn(directory)) process.kill(pid, "SIGQUIT");
      await until(() => serversIn(directory).length === 0, "servers gone");
      rmSync(parent, { recursive: true, force: true });
    },
  };
}

function startSupervisor(environment: Readonly<Record<string, string>>, command: readonly string[]): Supervisor {
  const [program = "", ...words] = command;
  const child = spawn(program, words, { env: { PATH: process.env["PATH"], ...environment } });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += String(chunk)));
  return {
    process: child,
    output: () => output,
    says: (text) =>
      until(() => output.includes(text), text).then(
        () => undefined,
        () => {
          throw new Error(`it never said ${JSON.stringify(text)} but:\n${output}`);
        },
      ),
    ended: new Promise((resolve) => {
      child.once("close", (code) => resolve(code));
    }),
  };
}
