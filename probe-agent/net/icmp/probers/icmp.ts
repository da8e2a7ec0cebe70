import type { TraceRequest } from "#probe-agent/port/packets.ts";
import { addressBytes } from "#probe-agent/net/icmp/address.ts";
import { carriesCookie, COOKIE_BYTES, matchesCookie } from "#probe-agent/net/icmp/cookie.ts";
import { echoRequest } from "#probe-agent/net/icmp/packet.ts";
import {
  answerOfError,
  probeOptions,
  reportSent,
  type Prober,
  type ProberEvents,
  type ProberTools,
} from "#probe-agent/net/icmp/probers/prober.ts";
import { isFrom } from "#probe-agent/net/icmp/demux.ts";

// Odd, so that a hash over the checksum's low bits changes with each flow.
const FLOW_STEP = 257;
const DEFAULT_PAYLOAD_BYTES = 32;
// Cookie, and the two octets that balance the sum.
const LEAST_PAYLOAD_BYTES = COOKIE_BYTES + 2;

/**
 * Creates a prober that sends ICMP echoes with one id and one checksum, because routers that balance load hash both
 * (Augustin et al., "Avoiding traceroute anomalies with Paris traceroute", IMC 2006). Only the sequence number varies.
 * Two octets after the cookie compensate for it.
 */
export async function createIcmpProber(
  tools: ProberTools,
  request: TraceRequest,
  events: ProberEvents,
): Promise<Prober> {
  const cookie = tools.random(COOKIE_BYTES);
  const target = addressBytes(request.ip);
  const size = Math.max(request.size ?? DEFAULT_PAYLOAD_BYTES, LEAST_PAYLOAD_BYTES);
  const { id, forget } = tools.demux.listenEcho({
    onEcho(reply, arrival) {
      if (!carriesCookie(reply.payload, cookie) || !isFrom(request.ip, arrival)) return;
      events.answered(reply.seq, {
        ...arrival,
        passage: "reached",
        ttlLeft: null,
        icmpType: tools.version === 4 ? 0 : 129,
        icmpCode: 0,
      });
    },
    onError(error, arrival) {
      const { quoted } = error;
      if (quoted.protocol !== "icmp" || !quoted.destination.equals(target)) return;
      if (!matchesCookie(quoted.payload, cookie)) return;
      events.answered(quoted.seq, answerOfError(request.ip, error, arrival));
    },
  });
  return {
    send(probe, ttl, flow) {
      const packet = echoRequest(tools.version, id, probe, constantSumPayload(cookie, probe, flow, size));
      tools.icmp.send(packet, request.ip, probeOptions(request, ttl), reportSent(events, probe, ttl));
    },
    close: forget,
  };
}

/**
 * Builds a payload in which the sequence number and its complement add up to 0xffff, which is zero in one's complement
 * (RFC 1071). This gives one checksum for all probes of a flow, and another for each flow.
 */
export function constantSumPayload(cookie: Buffer, seq: number, flow: number, size: number): Buffer {
  const payload = Buffer.alloc(size);
  cookie.copy(payload);
  payload.writeUInt16BE((0xffff - seq + flow * FLOW_STEP) % 0xffff, COOKIE_BYTES);
  return payload;
}
