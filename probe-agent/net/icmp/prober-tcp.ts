import { createSocket } from "node:dgram";
import { addressBytes } from "#probe-agent/net/icmp/address.ts";
import { isFrom } from "#probe-agent/net/icmp/demux.ts";
import {
  answerOfError,
  MOST_PROBES,
  tellSent,
  type Prober,
  type ProberEvents,
  type ProberTools,
} from "#probe-agent/net/icmp/prober.ts";
import { parseSegment, synSegment } from "#probe-agent/net/icmp/tcp-segment.ts";
import type { TraceRequest } from "#probe-agent/net/port/packets.ts";

const DEFAULT_TCP_PORT = 80;

// Below Linux's ephemeral range, so that the kernel gives the port to no connection of ours.
const FIRST_SOURCE_PORT = 20_000;
const SOURCE_PORTS = 12_000;

/**
 * TCP SYNs from one port to one port; the sequence number, which every router quotes, is random plus the probe's number.
 * SYN-ACK or RST from the target means reached; our kernel, which knows no such connection, resets it by itself.
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
  const sourcePort = FIRST_SOURCE_PORT + (random.readUInt16BE(0) % SOURCE_PORTS);
  const base = random.readUInt32BE(2);
  const source = version === 4 ? addressBytes(await localAddress(request.ip, destinationPort)) : null;
  const { socket, release } = await tools.openTcp((packet, arrival) => {
    const segment = parseSegment(version, packet);
    if (segment === null || segment.destinationPort !== sourcePort || segment.sourcePort !== destinationPort) return;
    if (!segment.ack || !(segment.syn || segment.rst) || !isFrom(request.ip, arrival)) return;
    answer((segment.acknowledgement - base - 1) >>> 0, {
      ...arrival,
      passage: "reached",
      icmpType: null,
      icmpCode: null,
    });
  });
  const { forget } = tools.demux.listenPort("tcp", sourcePort, {
    onError(error, arrival) {
      const { quoted } = error;
      if (quoted.protocol !== "tcp" || quoted.destinationPort !== destinationPort) return;
      if (quoted.destination.equals(destination)) {
        answer((quoted.sequence - base) >>> 0, answerOfError(request.ip, error, arrival));
      }
    },
  });
  const answer = (probe: number, what: Parameters<ProberEvents["answered"]>[1]): void => {
    if (probe >= 1 && probe <= MOST_PROBES) events.answered(probe, what);
  };
  return {
    send(probe, ttl) {
      const sequence = (base + probe) >>> 0;
      const segment = synSegment({ sourcePort, destinationPort, sequence, source, destination });
      socket.send(segment, request.ip, ttl, tellSent(events, probe, ttl));
    },
    close() {
      forget();
      release();
    },
  };
}

/** The address the kernel would send from; a connected UDP socket tells without a packet. */
async function localAddress(ip: string, port: number): Promise<string> {
  const socket = createSocket("udp4");
  try {
    return await new Promise<string>((resolve, reject) => {
      socket.once("error", reject);
      socket.connect(port, ip, () => resolve(socket.address().address));
    });
  } finally {
    socket.close();
  }
}
