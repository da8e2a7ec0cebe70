// Sends pings over kept-alive HTTP/1.1 connections from many addresses of 127/8, because the service limits each. A
// separate process without an HTTP library, so that the server and not the generator is the limit. Two modes:
//
//   steady   one request in flight on each connection; a connection is replaced before its address reaches the limit
//   burst    opens all connections, then writes all requests within one second, and waits for the answers
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "" },
    tokens: { type: "string", default: "" },
    mode: { type: "string", default: "steady" },
    connections: { type: "string", default: "50" },
    seconds: { type: "string", default: "10" },
    requests: { type: "string", default: "30000" },
    /** First address, so that two runs within a minute have different ones. */
    from: { type: "string", default: "0" },
    /** steady: ends after this number of requests too; 0: none. */
    most: { type: "string", default: "0" },
  },
});
const PER_ADDRESS = 30;
const port = Number(values.port);
const tokens = readFileSync(values.tokens, "utf8").split("\n");
const statuses = new Map<string, number>();
const latencies: number[] = [];
let nextAddress = Number(values.from);
let sent = 0;

/** Returns another address of 127/8 with each call. */
function takeAddress(): string {
  const index = nextAddress;
  nextAddress += 1;
  return `127.${1 + Math.floor(index / 62_500)}.${1 + (Math.floor(index / 250) % 250)}.${1 + (index % 250)}`;
}

function nextRequest(): Buffer {
  const token = tokens[sent % tokens.length] ?? "";
  sent += 1;
  return Buffer.from(`GET /api/heartbeat/${token} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`);
}

/** Opens a connection. Calls `onAnswer` with the status of each answer. */
function open(onAnswer: (status: string, socket: Socket) => void): Promise<Socket> {
  return new Promise((resolve) => {
    let text = "";
    const socket = connect({ port, host: "127.0.0.1", localAddress: takeAddress(), noDelay: true }, () => {
      resolve(socket);
    });
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      for (;;) {
        const end = text.indexOf("\r\n\r\n");
        const length = Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1] ?? 0);
        if (end < 0 || text.length < end + 4 + length) return;
        const status = text.slice(9, 12);
        text = text.slice(end + 4 + length);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        onAnswer(status, socket);
      }
    });
    socket.on("error", (error) => {
      statuses.set(error.message, (statuses.get(error.message) ?? 0) + 1);
      resolve(socket);
    });
  });
}

async function runSteady(): Promise<number> {
  const startedAt = performance.now();
  const until = startedAt + Number(values.seconds) * 1_000;
  const most = Number(values.most) === 0 ? Infinity : Number(values.most);
  const isOver = (): boolean => performance.now() > until || sent >= most;
  const drive = async (): Promise<void> => {
    while (!isOver()) {
      await new Promise<void>((resolve) => {
        let left = PER_ADDRESS;
        let sentAt = 0;
        const send = (socket: Socket): void => {
          left -= 1;
          sentAt = performance.now();
          socket.write(nextRequest());
        };
        void open((_status, socket) => {
          latencies.push(performance.now() - sentAt);
          if (left > 0 && !isOver()) return send(socket);
          socket.destroy();
          resolve();
        }).then(send);
      });
    }
  };
  await Promise.all(Array.from({ length: Number(values.connections) }, drive));
  return (performance.now() - startedAt) / 1_000;
}

async function runBurst(): Promise<number> {
  const wanted = Number(values.requests);
  const sentAt: number[] = [];
  let finish = (): void => {};
  const done = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const sockets: Socket[] = [];
  const queues = new Map<Socket, number[]>();
  for (let index = 0; index < Number(values.connections); index += 1) {
    const socket = await open((_status, one) => {
      latencies.push(performance.now() - (queues.get(one)?.shift() ?? 0));
      if (latencies.length === wanted) finish();
    });
    queues.set(socket, []);
    sockets.push(socket);
  }
  const startedAt = performance.now();
  const rounds = Math.ceil(wanted / sockets.length);
  for (let round = 0; round < rounds; round += 1) {
    for (const socket of sockets) {
      if (sent >= wanted) break;
      queues.get(socket)?.push(performance.now());
      socket.write(nextRequest());
    }
    sentAt.push(performance.now() - startedAt);
    await sleep(Math.max(0, ((round + 1) / rounds) * 900 - (performance.now() - startedAt)));
  }
  process.stderr.write(`all written after ${Math.round(sentAt.at(-1) ?? 0)} ms\n`);
  await Promise.race([done, sleep(60_000)]);
  for (const socket of sockets) socket.destroy();
  return (performance.now() - startedAt) / 1_000;
}

const seconds = values.mode === "burst" ? await runBurst() : await runSteady();
const sorted = latencies.toSorted((a, b) => a - b);
const at = (share: number): number | null =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? null;
const report = {
  seconds,
  answered: sorted.length,
  rate: sorted.length / seconds,
  p50: at(0.5),
  p99: at(0.99),
  most: at(1),
  statuses: Object.fromEntries(statuses),
};
process.stdout.write(JSON.stringify(report));
