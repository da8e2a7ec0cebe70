import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const BIN = fileURLToPath(new URL("programs/node_modules/.bin/", import.meta.url));

/** What a program of others ended with. */
export interface PeerRun {
  readonly status: number | null;
  /** Both outputs as they came. */
  readonly output: string;
}

/** Whether the programs are installed (npm run test:peers does it). */
export function hasPeers(): boolean {
  return existsSync(BIN);
}

/** Runs one of them to its end; it is killed after `timeoutMs`. */
export function runPeer(program: string, args: readonly string[], timeoutMs = 240_000): Promise<PeerRun> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [`${BIN}${program}`, ...args], { timeout: timeoutMs });
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => (output += String(chunk)));
    child.stderr.on("data", (chunk: Buffer) => (output += String(chunk)));
    child.once("error", reject);
    child.once("exit", (status) => resolve({ status, output }));
  });
}
