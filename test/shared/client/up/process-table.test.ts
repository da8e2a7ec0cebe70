import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openProcessTable } from "#shared/client/up/process-table.ts";
import { startUnreapedChild } from "#test/support/unreaped.ts";

let directory: string;
let file: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "vantage-table-"));
  file = join(directory, "processes.json");
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function sleeper() {
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
  const ended = new Promise<NodeJS.Signals | null>((resolve) => {
    child.once("exit", (_code, signal) => resolve(signal));
  });
  return { pid: child.pid ?? 0, ended, child };
}

test("the next run ends the processes that the last one listed, but no other process with the same pid", async () => {
  const left = sleeper();
  const stranger = sleeper();
  const table = openProcessTable(directory);
  table.add(left.pid);
  const [row] = JSON.parse(readFileSync(file, "utf8")) as { pid: number; startedAt: string }[];
  writeFileSync(file, JSON.stringify([row, { pid: stranger.pid, startedAt: "1" }, { pid: 1 }, "nonsense"]));

  expect(await openProcessTable(directory).endLeftovers()).toBe(1);
  expect(await left.ended).toBe("SIGTERM");
  expect(stranger.child.exitCode).toBeNull();
  expect(stranger.child.signalCode).toBeNull();
  expect(existsSync(file)).toBe(false);
  stranger.child.kill("SIGKILL");
  await stranger.ended;
});

test("a process that has ended and was not reaped does not count as left over", async () => {
  const killed = await startUnreapedChild();
  try {
    openProcessTable(directory).add(killed.pid);
    await killed.die();
    expect(await openProcessTable(directory).endLeftovers()).toBe(0);
  } finally {
    killed.release();
  }
});
