import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const BARE = fileURLToPath(new URL("bare-route.ts", import.meta.url));

/** A bare Fastify route in a separate process. */
export interface BareRoute {
  readonly port: number;
  stop(): void;
}

/** Starts a route that sends the bytes of a file. */
export async function startBareRoute(file: string, type?: string): Promise<BareRoute> {
  const words = [BARE, file, ...(type === undefined ? [] : [type])];
  const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "inherit"] });
  const [chunk] = (await once(child.stdout, "data")) as [Buffer];
  return { port: Number(chunk.toString()), stop: () => void child.kill() };
}
