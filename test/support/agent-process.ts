import { spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll } from "vitest";
import { tokenFor, type AgentListener } from "#test/support/agent-listener.ts";
import { COMPILED_CODE } from "#test/support/compiled-code.ts";

const ENTRY = fileURLToPath(new URL("../../probe-agent/main.ts", import.meta.url));

/** A real agent in a separate process. */
export interface AgentProcess {
  readonly child: ChildProcess;
  /** Returns everything it has logged. */
  readonly log: () => string;
  /** Resolves once the log has this text. Rejects if the agent ends without it. */
  says(text: string): Promise<void>;
  kill(signal: NodeJS.Signals): void;
  /** Resolves with its exit status, null after a signal. */
  readonly exited: Promise<number | null>;
  /** Stops it and removes its folder. */
  stop(): Promise<void>;
}

/** Starts an agent that is allowed to reach loopback, lets it enrol and waits until it is attached. */
export async function startAgent(
  server: AgentListener,
  region: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<AgentProcess> {
  const token = await tokenFor(server, region, `agt-${randomBytes(8).toString("hex")}`);
  const agent = spawnAgent({
    VANTAGE_CONTROL_PLANE: `localhost:${server.grpcPort}`,
    VANTAGE_JOIN_TOKEN: token,
    VANTAGE_REGION: region,
    ...settings,
  });
  await agent.says('"attached"');
  return agent;
}

/** Starts an agent before the tests of a file, and stops it after them. */
export function useAgent(...given: Parameters<typeof startAgent>): void {
  let agent: AgentProcess | undefined;
  beforeAll(async () => {
    agent = await startAgent(...given);
  });
  afterAll(() => agent?.stop());
}

/** Starts an agent with these settings without waiting for it. Without VANTAGE_STATE_DIR it gets a temporary folder. */
export function spawnAgent(settings: Readonly<Record<string, string>>): AgentProcess {
  const stateDir = mkdtempSync(join(tmpdir(), "vantage-agent-"));
  const child = spawn(process.execPath, [ENTRY], {
    env: {
      PATH: process.env["PATH"],
      ...COMPILED_CODE,
      VANTAGE_STATE_DIR: stateDir,
      VANTAGE_AGENT_METRICS_ADDR: "off",
      VANTAGE_ALLOW_TARGETS: "127.0.0.0/8,::1/128",
      VANTAGE_ALLOW_NAMES: "localhost",
      ...settings,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const listeners = new Set<() => void>();
  const listen = (chunk: Buffer) => {
    output += chunk.toString();
    for (const listener of listeners) listener();
  };
  child.stdout.on("data", listen);
  child.stderr.on("data", listen);
  // Its output streams have ended too, so its last lines are in the log.
  const exited = once(child, "close").then(([code]) => code as number | null);
  return {
    child,
    log: () => output,
    says: (text) =>
      new Promise((resolve, reject) => {
        const checkOutput = () => {
          if (output.includes(text)) resolve();
        };
        listeners.add(checkOutput);
        checkOutput();
        void exited.then(() => reject(new Error(`the agent ended before it said ${text}: ${output}`)));
      }),
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
