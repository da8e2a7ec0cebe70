import { Worker } from "node:worker_threads";
import { fillQueue } from "#test/servers/deaf.ts";

/** A port that neither accepts nor refuses. */
export interface SilentPort {
  readonly port: number;
  close(): Promise<void>;
}

/** A listener that stops running once it listens; the kernel accepts what the backlog holds and nothing more. */
const LISTENER = `
  const { parentPort } = require("node:worker_threads");
  const { createServer } = require("node:net");
  const server = createServer();
  server.listen({ host: HOST, port: PORT, backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });
`;

/** Connection attempts to it get no answer, as behind a firewall that drops: its accept queue is full. */
export async function startSilentPort(host = "127.0.0.1", wanted = 0): Promise<SilentPort> {
  const code = LISTENER.replace("HOST", JSON.stringify(host)).replace("PORT", String(wanted));
  const worker = new Worker(code, { eval: true });
  const port = await new Promise<number>((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", reject);
  });
  const fillers = await fillQueue(host, port);
  return {
    port,
    close: async () => {
      for (const filler of fillers) filler.destroy();
      await worker.terminate();
    },
  };
}
