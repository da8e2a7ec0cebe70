import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { addressBytes } from "#probe-agent/net/icmp/address.ts";
import type { Arrival } from "#probe-agent/net/icmp/demux.ts";
import type { IncomingError } from "#probe-agent/net/icmp/packet.ts";
import {
  answerOfError,
  MOST_PROBES,
  type Prober,
  type ProberEvents,
  type ProberTools,
} from "#probe-agent/net/icmp/probers/prober.ts";
import type { TraceRequest } from "#probe-agent/port/packets.ts";

/** Port at which classic traceroute starts. Nothing is expected to listen there. */
const DEFAULT_UDP_PORT = 33_434;

const UDP_HEADER_BYTES = 8;
const DEFAULT_PAYLOAD_BYTES = 24;

/**
 * Creates a prober that sends UDP probes from one port (a flow) to one port. The number of a probe is in its length,
 * which every router quotes and none hashes: the requested size plus one octet for each probe, or less if that would
 * exceed the links' MTU. "Port unreachable" from the target means that it was reached. A target that listens there and
 * does not answer is not reached.
 */
export async function createUdpProber(
  tools: ProberTools,
  request: TraceRequest,
  events: ProberEvents,
): Promise<Prober> {
  const port = request.port ?? DEFAULT_UDP_PORT;
  const target = addressBytes(request.ip);
  const size = request.size ?? DEFAULT_PAYLOAD_BYTES;
  const step = size < MOST_PROBES ? 1 : -1;
  const onError = (error: IncomingError, arrival: Arrival): void => {
    const { quoted } = error;
    if (quoted.protocol !== "udp" || quoted.destinationPort !== port || !quoted.destination.equals(target)) return;
    events.answered((quoted.length - UDP_HEADER_BYTES - size) * step, answerOfError(request.ip, error, arrival));
  };
  const flows = await Promise.all(
    Array.from({ length: request.flows ?? 1 }, async () => {
      const socket = await bound(tools.version);
      return { socket, ...tools.demux.listenPort("udp", socket.address().port, { onError }) };
    }),
  );
  return {
    send(probe, ttl, flow) {
      const socket = flows[flow]?.socket;
      if (socket === undefined) return;
      socket.setTTL(ttl);
      socket.send(Buffer.alloc(size + probe * step), port, request.ip, (error) => {
        if (!error) return;
        events.failed(SEND_FAILURES.get((error as NodeJS.ErrnoException).code ?? "") ?? "send_failed", error.message);
      });
      // The packet has left when send() returns. Before that, a new socket spends milliseconds in the runtime.
      events.sent(probe, ttl, tools.clock());
    },
    close() {
      for (const { forget, socket } of flows) {
        forget();
        socket.close();
      }
    },
  };
}

const SEND_FAILURES: ReadonlyMap<string, string> = new Map([
  ["ENETUNREACH", "network_unreachable"],
  ["EADDRNOTAVAIL", "network_unreachable"],
  ["EHOSTUNREACH", "host_unreachable"],
  ["EPERM", "not_permitted"],
  ["EACCES", "not_permitted"],
]);

async function bound(version: 4 | 6): Promise<Socket> {
  const socket = createSocket({
    type: version === 4 ? "udp4" : "udp6",
    ipv6Only: version === 6,
    // The address is an IP address already. Resolving it immediately keeps the packet from leaving after the TTL of the
    // next one is set.
    lookup: (host, _options, callback) => callback(null, host, version),
  });
  socket.on("error", () => {});
  // Data from the target does not show which probe it answers.
  socket.on("message", () => {});
  // With an immediate lookup, the socket listens before bind() returns.
  const listening = once(socket, "listening");
  socket.bind(0);
  await listening;
  return socket;
}
