import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { createServer } from "node:net";

/** Releases a lock. */
export type Release = () => Promise<void>;

/**
 * Locks a directory for one supervisor; null if another one has it. The lock is an abstract Unix socket, which the kernel
 * removes when the process ends for any reason, so that no stale lock remains.
 */
export async function lockDirectory(path: string): Promise<Release | null> {
  const name = createHash("sha256").update(realpathSync(path)).digest("hex").slice(0, 32);
  const server = createServer((socket) => socket.destroy());
  try {
    await new Promise<void>((listening, reject) => {
      server.once("error", reject).listen({ path: `\0vantage-up-${name}` }, listening);
    });
  } catch {
    return null;
  }
  server.unref();
  return () =>
    new Promise((closed) => {
      server.close(() => closed());
    });
}
