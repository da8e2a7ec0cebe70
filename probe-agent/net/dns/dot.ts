import { dialEncrypted, type EncryptedServer } from "#probe-agent/net/dns/encrypted.ts";
import type { Exchange, ExchangeRequest } from "#probe-agent/net/dns/exchange.ts";
import { exchangeStream } from "#probe-agent/net/dns/tcp.ts";

/** Sends one query over its own TLS connection (RFC 7858). rttMs is the time from connecting to the complete answer. */
export function exchangeDot(
  server: EncryptedServer,
  request: ExchangeRequest,
  roots?: readonly string[],
): Promise<Exchange> {
  if (request.signal.aborted) return Promise.resolve({ kind: "silence" });
  return exchangeStream(dialEncrypted(server, ["dot"], roots), request);
}
