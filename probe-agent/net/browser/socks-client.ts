import type { Socket } from "node:net";
import type { Outcome } from "#shared/contracts/outcome.ts";
import {
  greetingReply,
  readGreeting,
  readRequest,
  REPLY,
  requestReply,
  type Destination,
  type Parsed,
} from "#probe-agent/net/browser/socks.ts";

/** A client's request and the octets it sent after that. */
interface SocksRequest {
  readonly destination: Destination;
  readonly rest: Buffer;
}

/**
 * Reads the SOCKS5 handshake of a client within `patienceMs`. Returns null if the client was refused, and its
 * connection closes.
 */
export async function readSocksRequest(client: Socket, patienceMs: number): Promise<SocksRequest | null> {
  client.setTimeout(patienceMs, () => client.destroy());
  const buffer = { octets: Buffer.alloc(0) };
  const greeting = await take(client, buffer, readGreeting);
  if (greeting === null) {
    client.destroy();
    return null;
  }
  client.write(greetingReply(greeting));
  if (!greeting) {
    client.end();
    return null;
  }
  const destination = await take(client, buffer, readRequest);
  if (destination === null) {
    client.end(requestReply(REPLY.commandNotSupported));
    return null;
  }
  client.setTimeout(0);
  return { destination, rest: buffer.octets };
}

/**
 * Relays both directions until one side closes. `first` is what the client has already sent. `count` is called with
 * every chunk.
 */
export function relay(client: Socket, upstream: Socket, first: Buffer, count: (chunk: Buffer) => void): void {
  if (first.length > 0) upstream.write(first);
  count(first);
  client.on("data", count).pipe(upstream);
  upstream.on("data", count).pipe(client);
  client.once("close", () => upstream.destroy());
  upstream.once("close", () => client.destroy());
}

/** Returns the SOCKS reply for a connection that failed. */
export function replyTo(outcome: Outcome<never>): (typeof REPLY)[keyof typeof REPLY] {
  if (outcome.status === "refused") return REPLY.notAllowed;
  return outcome.status === "failed" && outcome.reason === "refused" ? REPLY.connectionRefused : REPLY.hostUnreachable;
}

/** Reads the next message of the handshake; null if the client sends something else or disconnects. */
function take<T>(client: Socket, buffer: { octets: Buffer }, read: (octets: Buffer) => Parsed<T>): Promise<T | null> {
  return new Promise((resolve) => {
    const settle = (value: T | null): void => {
      client.off("data", more).off("close", gone).pause();
      resolve(value);
    };
    const gone = (): void => settle(null);
    const parse = (): void => {
      const parsed = read(buffer.octets);
      if (parsed.kind === "more") return;
      if (parsed.kind === "bad") return settle(null);
      buffer.octets = buffer.octets.subarray(parsed.used);
      settle(parsed.value);
    };
    const more = (chunk: Buffer): void => {
      buffer.octets = Buffer.concat([buffer.octets, chunk]);
      parse();
    };
    client.on("data", more).once("close", gone).resume();
    parse();
  });
}
