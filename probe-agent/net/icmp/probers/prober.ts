import type { AnswerLedger } from "#probe-agent/net/icmp/answer-ledger.ts";
import { isFrom, type Arrival } from "#probe-agent/net/icmp/demux.ts";
import type { RunTools } from "#probe-agent/net/icmp/echo.ts";
import type { IncomingError } from "#probe-agent/net/icmp/packet.ts";
import type { SendOptions, Sent } from "#probe-agent/net/icmp/packet-sender.ts";
import type { PacketSocket } from "#probe-agent/net/icmp/socket.ts";
import type { Passage } from "#probe-agent/net/icmp/trace/probe.ts";
import type { IpVersion } from "#probe-agent/port/address.ts";
import type { TraceReply, TraceRequest } from "#probe-agent/port/packets.ts";

/** Answer to one probe. Type and code are null for a TCP segment. */
interface Answer extends Pick<TraceReply, "icmpType" | "icmpCode" | "mpls"> {
  readonly from: string;
  readonly at: number;
  readonly passage: Passage;
  /** TTL that was left when an ICMP error quoted the probe. Null for an answer that quotes nothing. */
  readonly ttlLeft: number | null;
}

/** Receives the events of a prober. `failed` is the last one. */
export interface ProberEvents {
  sent(probe: number, ttl: number, at: number): void;
  answered(probe: number, answer: Answer): void;
  failed(reason: string, message: string): void;
}

/**
 * Sends the probes of one protocol. Routers that balance load over equal paths send all probes of a flow the same way.
 */
export interface Prober {
  /**
   * Sends a probe. `probe` counts from 1 up to MOST_PROBES. `flow` counts from 0 and is below the request's number of
   * flows.
   */
  send(probe: number, ttl: number, flow: number): void;
  close(): void;
}

/** Maximum number of probes of one trace: 30 hops with 5 queries and 4 more tries each, and those past the target. */
export const MOST_PROBES = 1_000;

/** A segment of a shared raw TCP socket. */
export type SegmentListener = (packet: Buffer, arrival: Arrival) => void;

/** Dependencies that probers share with echo runs, and the sockets of their family. */
export interface ProberTools extends RunTools {
  readonly ledger: AnswerLedger;
  readonly version: IpVersion;
  readonly icmp: PacketSocket;
  /** Opens the family's raw TCP socket for the first trace that needs it. It is closed with the last one. */
  openTcp(listener: SegmentListener): Promise<{ readonly socket: PacketSocket; readonly release: () => void }>;
}

/**
 * Reads an ICMP error as an answer. The target's own refusal means that it was reached. A router's refusal means that
 * the path ends there.
 */
export function answerOfError(target: string, error: IncomingError, arrival: Arrival): Answer {
  const fromTarget = isFrom(target, arrival);
  const passage = error.meaning === "ttl_exceeded" ? "passing" : fromTarget ? "reached" : "unreachable";
  const { type, code, mpls, quoted } = error;
  return {
    ...arrival,
    passage,
    ttlLeft: quoted.ttl,
    icmpType: type,
    icmpCode: code,
    ...(mpls.length === 0 ? {} : { mpls }),
  };
}

/** Returns the options for sending a probe. */
export function probeOptions({ dontFragment = false }: TraceRequest, ttl: number): SendOptions {
  return { ttl, dontFragment };
}

/** Returns a callback that reports whether a probe left. */
export function reportSent(events: ProberEvents, probe: number, ttl: number): (result: Sent) => void {
  return (result) => {
    if ("reason" in result) events.failed(result.reason, result.message);
    else events.sent(probe, ttl, result.at);
  };
}
