import { spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { tokenFor, type AgentDoor } from "#test/support/agent-door.ts";

const ENTRY = fileURLToPath(new URL("../../probe-agent/main.ts", import.meta.url));

/** A real agent in a process of its own. */
export interface AgentProcess {
  readonly child: ChildProcess;
  /** Everything it has logged. */
  readonly log: () => string;
  kill(signal: NodeJS.Signals): void;
  /** Its exit status, null after a signal. */
  readonly exited: Promise<number | null>;
  /** Ends it and removes its folder. */
  stop(): Promise<void>;
}

/** Starts an agent that may reach loopback, lets it enrol and waits until it is attached. */
export async function startAgent(
  door: AgentDoor,
  region: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<AgentProcess> {
  const stateDir = mkdtempSync(join(tmpdir(), `vantage-agent-${region}-`));
  const token = await tokenFor(door, region, `agt-${randomBytes(8).toString("hex")}`);
  const child = spawn(process.execPath, [ENTRY], {
    env: {
      PATH: process.env["PATH"],
      VANTAGE_CONTROL_PLANE: `localhost:${door.grpcPort}`,
      VANTAGE_JOIN_TOKEN: token,
      VANTAGE_REGION: region,
      VANTAGE_STATE_DIR: stateDir,
      VANTAGE_AGENT_METRICS_ADDR: "off",
      VANTAGE_ALLOW_TARGETS: "127.0.0.0/8,::1/128",
      VANTAGE_ALLOW_NAMES: "localhost",
      ...settings,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const attached = Promise.withResolvers<void>();
  const listen = (chunk: Buffer) => {
    output += chunk.toString();
    if (output.includes('"attached"')) attached.resolve();
  };
  child.stdout.on("data", listen);
  child.stderr.on("data", listen);
  const exited = once(child, "exit").then(([code]) => code as number | null);
  void exited.then(() => attached.reject(new Error(`agent ended before it was attached: ${output}`)));
  attached.promise.catch(() => {});
  await attached.promise;
  return {
    child,
    log: () => output,
    kill: (signal) => child.kill(signal),
    exited,
    async stop() {
      child.kill("SIGTERM");
      const force = setTimeout(() => child.kill("SIGKILL"), 5_000);
      await exited;
      clearTimeout(force);
      rmSync(stateDir, { recursive: true, force: true });
    },
  };
}
