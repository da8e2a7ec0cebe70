import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openState } from "#probe-agent/state.ts";
import { systemRandom } from "#test/support/clock.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "vantage-state-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

it("keeps the agent's name over restarts, readable by its owner alone", () => {
  const first = openState(folder, process.pid, systemRandom);
  if (!first.ok) throw new Error(first.line);
  first.state.release();
  const second = openState(folder, process.pid, systemRandom);
  expect(second).toMatchObject({ ok: true, state: { agentId: first.state.agentId } });
  expect(statSync(join(folder, "agent-id")).mode & 0o777).toBe(0o600);
});

it("refuses a folder that a living process holds, in one line that says what to do", () => {
  const sleeper = spawn("sleep", ["60"]);
  try {
    expect(openState(folder, sleeper.pid ?? 0, systemRandom).ok).toBe(true);
    const second = openState(folder, process.pid, systemRandom);
    expect(second).toMatchObject({ ok: false });
    expect(second.ok ? "" : second.line).toMatch(/in use by process \d+: .*VANTAGE_STATE_DIR$/);
  } finally {
    sleeper.kill();
  }
});

it("takes over a lock whose process is gone or whose number was given to another process", () => {
  writeFileSync(join(folder, "lock"), `${process.pid} 1`);
  expect(openState(folder, process.pid, systemRandom).ok).toBe(true);
});
