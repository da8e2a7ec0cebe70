import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { Worker } from "node:worker_threads";

/** A port that looks filtered: its listener never accepts, and with the queue full the kernel drops every SYN. */
export interface DeafServer {
  readonly port: number;
  /** Begins to accept: the queue empties, and the next SYN is answered. */
  hear(): void;
  close(): Promise<void>;
}

const LISTENER = `
  const { createServer } = require("node:net");
  const { parentPort, workerData } = require("node:worker_threads");
  const server = createServer();
  server.on("error", (error) => parentPort.postMessage(error.code));
  server.listen({ host: workerData.host, port: workerData.port, backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    Atomics.wait(new Int32Array(workerData.gate), 0, 0, 60000);
  });
`;
/** Linux accepts one connection more than the backlog has. */
const QUEUE = 2;

/** Starts one; throws an error with the code (EACCES, EADDRINUSE) where the port cannot be had. */
export async function startDeafServer(host = "127.0.0.1", port = 0): Promise<DeafServer> {
  const gate = new SharedArrayBuffer(4);
  const worker = new Worker(LISTENER, { eval: true, workerData: { host, port, gate } });
  const [started] = (await once(worker, "message")) as [number | string];
  if (typeof started === "string") {
    await worker.terminate();
    throw new Error(started);
  }
  const queued = await fillQueue(host, started);
  return {
    port: started,
    hear() {
      Atomics.store(new Int32Array(gate), 0, 1);
      Atomics.notify(new Int32Array(gate), 0);
    },
    async close() {
      for (const socket of queued) socket.destroy();
      await worker.terminate();
    },
  };
}

/** Fills the queue of a listener with a backlog of 1 that does not run. Resolves when the kernel drops further SYNs. */
export async function fillQueue(host: string, port: number): Promise<readonly Socket[]> {
  const queued = Array.from({ length: QUEUE }, () => connect(port, host).on("error", () => {}));
  await Promise.all(queued.map((socket) => once(socket, "connect")));
  return queued;
}
