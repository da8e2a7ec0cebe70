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

it.each(["SIGTERM", "SIGKILL"] as const)("an agent whose launcher gets %s ends too", async (signal) => {
  const region = signal.toLowerCase();
  const launcher = spawn(LAUNCHER, ["agent"], {
    env: {
      PATH: process.env["PATH"],
      VANTAGE_CONTROL_PLANE: `localhost:${plane.grpcPort}`,
      VANTAGE_JOIN_TOKEN: await tokenFor(plane, region, `agt-${region}`),
      VANTAGE_REGION: region,
      VANTAGE_DATA_DIR: folder,
      VANTAGE_AGENT_METRICS_ADDR: "off",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  launcher.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  // The agent writes to the launcher's stream, which closes when both have ended.
  const isClosed = once(launcher, "close", { signal: AbortSignal.timeout(CLOSED_MS) });
  await expect.poll(() => output).toContain('"attached"');
  const agent = childOf(launcher.pid ?? 0);
  launcher.kill(signal);
  try {
    await isClosed;
  } catch (error) {
    process.kill(agent, "SIGKILL");
    throw error;
  }
  expect(output).toContain("SIGTERM");
});

/** Returns the process that a process has started. */
function childOf(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  if (!/^\d+$/.test(children)) throw new Error(`the launcher has not one child but: ${children}`);
  return Number(children);
}
