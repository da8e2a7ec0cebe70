import { addressBytes } from "#probe-agent/net/icmp/address.ts";
import { isFrom, type Arrival } from "#probe-agent/net/icmp/demux.ts";
import { localAddress } from "#probe-agent/net/icmp/interface.ts";
import type { IncomingError } from "#probe-agent/net/icmp/packet.ts";
import {
  answerOfError,
  MOST_PROBES,
  probeOptions,
  reportSent,
  type Prober,
  type ProberEvents,
  type ProberTools,
  type SegmentListener,
} from "#probe-agent/net/icmp/probers/prober.ts";
import { findFreePorts, parseSegment, synSegment } from "#probe-agent/net/icmp/probers/tcp-segment.ts";
import type { TraceRequest } from "#probe-agent/port/packets.ts";

const DEFAULT_TCP_PORT = 80;

/**
 * Creates a prober that sends TCP SYNs from one port (a flow) to one port. The sequence number, which every router
 * quotes, is random plus the probe's number. SYN-ACK or RST from the target means that it was reached. Our kernel does
 * not know such a connection and resets it.
 */
export async function createTcpProber(
  tools: ProberTools,
  request: TraceRequest,
  events: ProberEvents,
): Promise<Prober> {
  const { version } = tools;
  const destinationPort = request.port ?? DEFAULT_TCP_PORT;
  const destination = addressBytes(request.ip);
  const random = tools.random(6);
  const flows = request.flows ?? 1;
  const firstPort = findFreePorts((port) => tools.demux.hasListener("tcp", port), random.readUInt16BE(0), flows);
  if (firstPort === null) throw new Error("all source ports of TCP probes are in use");
  const base = random.readUInt32BE(2);
  const answer = (probe: number, what: Parameters<ProberEvents["answered"]>[1]): void => {
    if (probe >= 1 && probe <= MOST_PROBES) events.answered(probe, what);
  };
  const onError = (error: IncomingError, arrival: Arrival): void => {
    const { quoted } = error;
    if (quoted.protocol !== "tcp" || quoted.destinationPort !== destinationPort) return;
    if (quoted.destination.equals(destination)) {
      answer((quoted.sequence - base) >>> 0, answerOfError(request.ip, error, arrival));
    }
  };
  const listeners = Array.from({ length: flows }, (_, flow) =>
    tools.demux.listenPort("tcp", firstPort + flow, { onError }),
  );
  const forgetPorts = (): void => listeners.forEach(({ forget }) => forget());
  const onSegment: SegmentListener = (packet, arrival) => {
    const segment = parseSegment(version, packet);
    if (segment === null || segment.sourcePort !== destinationPort) return;
    if (segment.destinationPort < firstPort || segment.destinationPort >= firstPort + flows) return;
    if (!segment.ack || !(segment.syn || segment.rst) || !isFrom(request.ip, arrival)) return;
    answer((segment.acknowledgement - base - 1) >>> 0, {
      ...arrival,
      passage: "reached",
      ttlLeft: null,
      icmpType: null,
      icmpCode: null,
    });
  };
  // The ports are reserved before the first wait, so that no other trace takes them.
  const opened = async () => ({
    source: version === 4 ? addressBytes(await localAddress(version, request.ip)) : null,
    ...(await tools.openTcp(onSegment)),
  });
  const { source, socket, release } = await opened().catch((error: unknown) => {
    forgetPorts();
    throw error;
  });
  return {
    send(probe, ttl, flow) {
      const sequence = (base + probe) >>> 0;
      const segment = synSegment({ sourcePort: firstPort + flow, destinationPort, sequence, source, destination });
      socket.send(segment, request.ip, probeOptions(request, ttl), reportSent(events, probe, ttl));
    },
    close() {
      forgetPorts();
      release();
    },
  };
}
