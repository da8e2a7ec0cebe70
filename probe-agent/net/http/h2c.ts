import type { Socket } from "node:net";
import { failed, type Failed } from "#shared/outcome.ts";
import { headerElements } from "#probe-agent/analysis/http/header-list.ts";
import type { Exchange, ExchangeContext } from "#probe-agent/net/http/exchange.ts";
import { exchangeHttp1 } from "#probe-agent/net/http/http1.ts";
import type { HopRequest } from "#probe-agent/net/http/request.ts";

/** The client's connection preface and an empty SETTINGS frame (RFC 9113 section 3.4). */
const PREFACE = Buffer.concat([
  Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "latin1"),
  Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
]);
/** Length of a frame's header in octets (RFC 9113 section 4.1). */
const FRAME_HEADER = 9;

/**
 * Requests HTTP/2 by Upgrade (RFC 7540 section 3.2; RFC 9113 removed it, but servers still support it). A server that
 * ignores the upgrade responds with HTTP/1.1. After a 101 it must send a SETTINGS frame; otherwise the failure is
 * protocol_error.
 */
export async function exchangeUpgrade(
  socket: Socket,
  request: HopRequest,
  context: ExchangeContext,
): Promise<Exchange | Failed> {
  const exchange = await exchangeHttp1(socket, request, context);
  if (exchange.status !== "ok" || exchange.head.code !== 101) return exchange;
  if (!headerElements(exchange.head.headers, "upgrade").includes("h2c")) {
    exchange.close();
    return broken(`${context.where}: the server switched to a protocol that the request did not offer`);
  }
  socket.write(PREFACE);
  const read = await exchange.readBody(FRAME_HEADER);
  if (read.status !== "ok") return read;
  if (!isSettings(read.body.bytes)) return broken(`${context.where}: the server agreed to HTTP/2 but did not use it`);
  const body = { ...read.body, bytes: new Uint8Array(), transferredBytes: 0, decodedBytes: 0, truncated: false };
  return { ...exchange, readBody: () => Promise.resolve({ status: "ok", body }) };
}

/** Reports whether octets start with a server's connection preface: a SETTINGS frame of stream 0 that is not an ACK. */
function isSettings(bytes: Uint8Array): boolean {
  if (bytes.length < FRAME_HEADER) return false;
  const [high = 0, middle = 0, low = 0, type, flags = 0, ...stream] = bytes;
  const length = high * 65_536 + middle * 256 + low;
  return type === 4 && (flags & 1) === 0 && length % 6 === 0 && stream.every((octet) => octet === 0);
}

function broken(message: string): Failed {
  return failed("response", "target", "protocol_error", message);
}
