import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { tokenFor } from "#test/support/agent-listener.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";

const LAUNCHER = resolve(import.meta.dirname, "../../deploy/vantage");
/** After this time the agent is ended by the test, in milliseconds. */
const CLOSED_MS = 60_000;

let plane: TestControlPlane;
let folder: string;

beforeAll(async () => {
  plane = await startControlPlane();
  folder = mkdtempSync(join(tmpdir(), "vantage-launched-"));
});
afterAll(async () => {
  await plane?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Under npm the launcher waits beside the agent, to see the end of npm; else it becomes the agent. */
const NPM = { npm_lifecycle_event: "npx" };

it.each([
  ["SIGTERM", "the agent", {}],
  ["SIGKILL", "the agent", {}],
  ["SIGTERM", "its parent under npm", NPM],
  ["SIGKILL", "its parent under npm", NPM],
] as const)("an agent ends if %s is sent to its launcher, which is %s", async (signal, role, more) => {
  const region = `${signal.toLowerCase()}-${more === NPM ? "npm" : "alone"}`;
  const launcher = spawn(LAUNCHER, ["agent"], {
    env: {
      PATH: process.env["PATH"],
      VANTAGE_CONTROL_PLANE: `localhost:${plane.grpcPort}`,
      VANTAGE_JOIN_TOKEN: await tokenFor(plane, region, `agt-${region}`),
      VANTAGE_REGION: region,
      VANTAGE_DATA_DIR: folder,
      VANTAGE_AGENT_METRICS_ADDR: "off",
      ...more,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  launcher.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  // The agent writes to the launcher's stream, which closes when both have ended.
  const isClosed = once(launcher, "close", { signal: AbortSignal.timeout(CLOSED_MS) });
  await expect.poll(() => output).toContain('"attached"');
  const agent = [launcher.pid ?? 0, ...childrenOf(launcher.pid ?? 0)].find(isAgent) ?? 0;
  expect(agent === launcher.pid).toBe(role === "the agent");
  launcher.kill(signal);
  try {
    await isClosed;
  } catch (error) {
    process.kill(agent, "SIGKILL");
    throw error;
  }
  // The agent drains unless it is killed itself.
  expect(output.includes("SIGTERM")).toBe(signal === "SIGTERM" || more === NPM);
});

/** Returns the processes that a process has started. */
function childrenOf(pid: number): readonly number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
}

function isAgent(pid: number): boolean {
  return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("probe-agent/main.ts");
}
