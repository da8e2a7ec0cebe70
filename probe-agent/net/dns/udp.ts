import { createSocket } from "node:dgram";
import { isIPv6 } from "node:net";
import { awaitExchange, errorReason, type Exchange, type ExchangeRequest } from "#probe-agent/net/dns/exchange.ts";
import type { ServerAddress } from "#probe-agent/net/dns/server-address.ts";

/**
 * Sends one query over UDP from its own socket, so that the system picks a new random source port. The socket is
 * connected, so it receives ICMP errors and no datagrams from other addresses. rttMs is the time from send to receipt.
 */
export function exchangeUdp(server: ServerAddress, request: ExchangeRequest): Promise<Exchange> {
  const { signal, clock } = request;
  if (signal.aborted) return Promise.resolve({ kind: "silence" });
  const socket = createSocket(isIPv6(server.ip) ? "udp6" : "udp4");
  let open = true;
  let sentAt = clock.monotonic();
  const { result, finish } = awaitExchange(request, () => {
    open = false;
    socket.close();
  });
  const fail = (error?: Error | null): void => {
    if (error) finish({ kind: "unreachable", reason: errorReason(error) });
  };
  // The listener stays after the exchange, because a closing socket can still report an error.
  socket.on("error", fail);
  socket.on("message", (bytes) => {
    const rttMs = clock.monotonic() - sentAt;
    if (open && request.accept(bytes)) finish({ kind: "reply", bytes, rttMs, connectMs: 0 });
  });
  socket.connect(server.port, server.ip, (error?: Error) => {
    if (error) return fail(error);
    if (!open) return undefined;
    sentAt = clock.monotonic();
    return socket.send(request.query, fail);
  });
  return result;
}
