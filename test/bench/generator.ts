// A load generator for one URL over kept-alive HTTP/1.1 connections with one request in flight on each. It is a
// separate process without an HTTP library, so that the server and not the generator is the limit. With --per-address N
// each connection comes from a loopback address of its own and ends after N requests, followed by one from another
// address: for limits by client address. --first-address M skips the M addresses that earlier runs used.
import { connect, type Socket } from "node:net";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "" },
    path: { type: "string", default: "/" },
    method: { type: "string", default: "GET" },
    header: { type: "string", multiple: true, default: [] },
    body: { type: "string", default: "" },
    connections: { type: "string", default: "50" },
    seconds: { type: "string", default: "5" },
    "per-address": { type: "string", default: "0" },
    "first-address": { type: "string", default: "0" },
  },
});
const length = values.body === "" ? [] : [`content-length: ${Buffer.byteLength(values.body)}`];
const lines = [
  `${values.method} ${values.path} HTTP/1.1`,
  `host: 127.0.0.1:${values.port}`,
  ...values.header,
  ...length,
];
const request = Buffer.from([...lines, "", values.body].join("\r\n"));
const latencies: number[] = [];
const statuses = new Map<string, number>();
const perAddress = Number(values["per-address"]);
let addresses = Number(values["first-address"]);
let over = false;

/** Opens a connection and drives it, from the next loopback address if each one has a limit. */
function open(): void {
  addresses += 1;
  // 127.1.0.0/16 and the ranges after it: the addresses in front of them have other uses.
  const local = `127.${1 + (addresses >> 16)}.${(addresses >> 8) & 255}.${addresses & 255}`;
  const from = perAddress === 0 ? {} : { localAddress: local };
  const socket = connect({ port: Number(values.port), host: "127.0.0.1", noDelay: true, ...from }, () => drive(socket));
}

/** Reads responses by Content-Length. Each complete one is counted and followed by the next request. */
function drive(socket: Socket): void {
  let expected = -1;
  let received = 0;
  let sentAt = performance.now();
  let head = "";
  let sent = 1;
  socket.on("data", (chunk) => {
    if (expected < 0) {
      head += chunk.toString("latin1");
      const end = head.indexOf("\r\n\r\n");
      if (end < 0) return;
      const stated = /\r\ncontent-length: (\d+)/i.exec(head.slice(0, end));
      expected = end + 4 + Number(stated?.[1] ?? 0);
      received = head.length;
      const status = head.slice(9, 12);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    } else received += chunk.length;
    if (received < expected) return;
    latencies.push(performance.now() - sentAt);
    expected = -1;
    head = "";
    if (over) return void socket.end();
    if (sent === perAddress) {
      socket.end();
      open();
      return;
    }
    sent += 1;
    sentAt = performance.now();
    socket.write(request);
  });
  socket.on("error", (error) => {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  });
  socket.write(request);
}

for (let index = 0; index < Number(values.connections); index += 1) open();
const startedAt = performance.now();
setTimeout(
  () => {
    over = true;
    const seconds = (performance.now() - startedAt) / 1000;
    const sorted = latencies.toSorted((a, b) => a - b);
    const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? null;
    const report = {
      rate: sorted.length / seconds,
      p50: at(0.5),
      p99: at(0.99),
      statuses: Object.fromEntries(statuses),
    };
    process.stdout.write(JSON.stringify(report));
    setTimeout(() => process.exit(), 500);
  },
  Number(values.seconds) * 1000,
);
