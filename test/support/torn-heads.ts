// Asks servers that cut their header blocks off, and collects what is left of each exchange at once: node --expose-gc
// test/support/torn-heads.ts. Node ends the process if a session is collected before its stream.
import { connect } from "node:net";
import { once } from "node:events";
import { exchangeOnce } from "#probe-agent/net/stream-http2.ts";
import { fieldBlock, frame, startFrameServer } from "#test/servers/h2-frames.ts";

const ROUNDS = 60;
const AT_ONCE = 8;
const BLOCK = fieldBlock({ ":status": "200", "content-type": "application/grpc", a: "x".repeat(500) });

/** The block is not ended before another frame comes, and the block is larger than its limit. */
const TORN: readonly Buffer[] = [
  Buffer.concat([frame("headers", 0, 1, BLOCK), frame("ping", 0, 0, Buffer.alloc(8))]),
  Buffer.concat([
    frame("headers", 4, 1, BLOCK),
    ...Array.from({ length: 9 }, () => frame("headers", 4, 1, fieldBlock({ b: "x".repeat(9_000) }))),
  ]),
];

const collect = (globalThis as { gc?: (options: object) => void }).gc;
if (collect === undefined) throw new Error("needs --expose-gc");
const request = { authority: "a.example", path: "/", headers: [], body: Buffer.alloc(5), maxBodyBytes: 1_000 };
for (const torn of TORN) {
  const server = await startFrameServer((socket) => setTimeout(() => socket.write(torn), 1), null);
  const ask = async (): Promise<void> => {
    const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
    await once(socket, "connect");
    await exchangeOnce(socket, "http", request, "a.example");
    socket.destroy();
  };
  for (let round = 0; round < ROUNDS; round += 1) {
    await Promise.all(Array.from({ length: AT_ONCE }, ask));
    collect({ type: round % 2 === 0 ? "major" : "minor" });
  }
  await server.close();
}
process.stdout.write("alive");
