import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const BIN = fileURLToPath(new URL("programs/node_modules/.bin/", import.meta.url));

/** What a program of others ended with. */
export interface PeerRun {
  readonly status: number | null;
  readonly stdout: string;
  /** Standard output and standard error, interleaved. */
  readonly output: string;
}

/** Whether the programs are installed (npm run test:peers does it). */
export function hasPeers(): boolean {
  return existsSync(BIN);
}

/** What a run may be given: further variables of its environment, and how long it may take. */
export interface PeerOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
}

/** Runs one of them to its end; it is killed when its time is over. */
export function runPeer(
  program: string,
  args: readonly string[],
  { env = {}, timeoutMs = 240_000 }: PeerOptions = {},
): Promise<PeerRun> {
  return new Promise((resolve, reject) => {
    const given = { timeout: timeoutMs, env: { ...process.env, ...env } };
    const child = spawn(process.execPath, [`${BIN}${program}`, ...args], given);
    let output = "";
    let stdout = "";
    child.stdout.on("data", (chunk: Buffer) => {
      stdout += String(chunk);
      output += String(chunk);
    });
    child.stderr.on("data", (chunk: Buffer) => (output += String(chunk)));
    child.once("error", reject);
    child.once("close", (status) => resolve({ status, stdout, output }));
  });
}
