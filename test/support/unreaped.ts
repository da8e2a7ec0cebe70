import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { vi } from "vitest";

/** A process whose parent never waits for it. */
export interface UnreapedChild {
  readonly pid: number;
  /** Kills it with SIGKILL. Resolves when the kernel shows it as a zombie. */
  die(): Promise<void>;
  /** Ends the parent and, with it, the zombie. */
  release(): void;
}

/** Starts `sleep` under a parent that never reaps it: a shell that was replaced by another `sleep`. */
export async function startUnreapedChild(): Promise<UnreapedChild> {
  const parent = spawn("sh", ["-c", "sleep 60 & echo $!; exec sleep 60"], { stdio: ["ignore", "pipe", "ignore"] });
  const [line] = (await once(createInterface(parent.stdout), "line")) as [string];
  const pid = Number(line);
  // Until then the parent is the shell, which may reap its child.
  const isShell = (): boolean => readFileSync(`/proc/${parent.pid}/comm`, "utf8").trim() !== "sleep";
  await vi.waitUntil(() => !isShell(), { timeout: 10_000, interval: 5 });
  const isZombie = (): boolean => / Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8").slice(0, 40));
  return {
    pid,
    async die() {
      process.kill(pid, "SIGKILL");
      await vi.waitUntil(isZombie, { timeout: 10_000, interval: 5 });
    },
    release: () => void parent.kill("SIGKILL"),
  };
}
