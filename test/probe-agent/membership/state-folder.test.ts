import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openState } from "#probe-agent/membership/state-folder.ts";
import { startUnreapedChild } from "#test/support/unreaped.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "vantage-state-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

it("refuses a folder that a running process has locked, with a line that says what to do", () => {
  const sleeper = spawn("sleep", ["60"]);
  try {
    expect(openState(folder, sleeper.pid ?? 0).ok).toBe(true);
    const second = openState(folder, process.pid);
    expect(second).toMatchObject({ ok: false });
    expect(second.ok ? "" : second.line).toMatch(/in use by process \d+: set a separate VANTAGE_STATE_DIR /);
  } finally {
    sleeper.kill();
  }
});

it("takes over a lock whose process has ended or whose pid belongs to another process", () => {
  writeFileSync(join(folder, "lock"), `${process.pid} 1`);
  expect(openState(folder, process.pid).ok).toBe(true);
});

it("takes over the lock of a killed agent whose parent does not reap it", async () => {
  const killed = await startUnreapedChild();
  try {
    expect(openState(folder, killed.pid).ok).toBe(true);
    expect(openState(folder, process.pid).ok).toBe(false);
    await killed.die();
    expect(() => process.kill(killed.pid, 0)).not.toThrow();
    expect(openState(folder, process.pid).ok).toBe(true);
  } finally {
    killed.release();
  }
});
