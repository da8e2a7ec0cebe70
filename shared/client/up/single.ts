import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { createServer } from "node:net";
import { problem, type Problem } from "#shared/client/up/problem.ts";

/**
 * Locks a data directory for one supervisor. The lock is an abstract Unix socket, which the kernel removes when the
 * process ends for any reason, so that no stale lock remains.
 */
export async function lockDataDirectory(path: string): Promise<{ ok: true; release(): Promise<void> } | Problem> {
  const name = createHash("sha256").update(realpathSync(path)).digest("hex").slice(0, 32);
  const server = createServer((socket) => socket.destroy());
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject).listen({ path: `\0vantage-up-${name}` }, resolve);
    });
  } catch {
    return problem(
      `Vantage is already running on ${path}: stop it first, or set VANTAGE_DATA_DIR to another directory`,
    );
  }
  server.unref();
  return {
    ok: true,
    release: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
      }),
  };
}
