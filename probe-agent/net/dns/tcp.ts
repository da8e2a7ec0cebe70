import { connect } from "node:net";
import type { Duplex } from "node:stream";
import { awaitExchange, errorReason, type Exchange, type ExchangeRequest } from "#probe-agent/net/dns/exchange.ts";
import type { ServerAddress } from "#probe-agent/net/dns/server-address.ts";

// A server that sends this many other messages will not answer.
const MAX_FOREIGN_FRAMES = 16;

/** Sends one query over its own TCP connection (RFC 7766). rttMs is the time from connecting to the complete answer. */
export function exchangeTcp(server: ServerAddress, request: ExchangeRequest): Promise<Exchange> {
  if (request.signal.aborted) return Promise.resolve({ kind: "silence" });
  return exchangeStream(connect({ host: server.ip, port: server.port, noDelay: true }), request);
}

/**
 * Sends one query over any stream that queues writes until it is open, such as a TLS socket. Destroys the stream at the
 * end.
 */
export function exchangeStream(stream: Duplex, request: ExchangeRequest): Promise<Exchange> {
  const { clock, query } = request;
  const startedAt = clock.monotonic();
  let foreign = 0;
  let connectMs = 0;
  const connected = (): void => {
    connectMs = clock.monotonic() - startedAt;
  };
  stream.once("connect", connected).once("secureConnect", connected);
  const { result, finish } = awaitExchange(request, () => stream.destroy());
  const readFrames = createFrameReader((bytes) => {
    if (stream.destroyed) return;
    if (request.accept(bytes)) finish({ kind: "reply", bytes, rttMs: clock.monotonic() - startedAt, connectMs });
    else if (++foreign > MAX_FOREIGN_FRAMES) finish({ kind: "unreachable", reason: "no_answer_among_frames" });
  });
  stream.on("error", (error: Error) => finish({ kind: "unreachable", reason: errorReason(error) }));
  stream.on("close", () => finish({ kind: "unreachable", reason: "closed" }));
  stream.on("data", readFrames);
  stream.write(Buffer.concat([Buffer.of(query.length >>> 8, query.length & 0xff), query]));
  return result;
}

/**
 * Creates a reader that splits a byte stream into messages with 16-bit lengths. Copies each octet once, regardless of
 * the chunks.
 */
export function createFrameReader(onFrame: (bytes: Uint8Array) => void): (chunk: Uint8Array) => void {
  let target = new Uint8Array(2);
  let filled = 0;
  let inLength = true;
  return (chunk) => {
    for (let position = 0; position < chunk.length;) {
      const taken = chunk.subarray(position, position + target.length - filled);
      target.set(taken, filled);
      filled += taken.length;
      position += taken.length;
      if (filled < target.length) return;
      const full = target;
      const [high = 0, low = 0] = full;
      const length = inLength ? high * 256 + low : 2;
      if (!inLength) onFrame(full);
      // An empty message is skipped, so the next two octets are a length again.
      inLength = !inLength || length === 0;
      target = new Uint8Array(inLength ? 2 : length);
      filled = 0;
    }
  };
}
