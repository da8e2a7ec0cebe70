import type { Outcome } from "#shared/outcome.ts";

/**
 * How long a TCP try waits for the answer to its one SYN, milliseconds. Linux sends an unanswered SYN again after 1 s
 * (TCP_TIMEOUT_INIT; RFC 6298 section 2) and does not tell which of the two was answered.
 */
export const ONE_SYN_MS = 900;

/** TCP connection attempts. */
export interface TcpPort {
  /**
   * One SYN: waits `timeoutMs`, at most ONE_SYN_MS. SYN-ACK = open, RST = closed, nothing or ICMP error = filtered. rttMs
   * is the round trip of the answer; null when filtered, and where the answer may be that to a second SYN.
   */
  probe(
    ip: string,
    port: number,
    timeoutMs: number,
  ): Promise<{ state: "open" | "closed" | "filtered"; rttMs: number | null; reason: string | null }>;
}

/** A series of ICMP echo requests; milliseconds and octets. */
export interface EchoRequest {
  readonly ip: string;
  readonly count: number;
  readonly intervalMs: number;
  /** ICMP payload bytes, at least the 8-byte cookie. */
  readonly size: number;
  readonly ttl: number;
  /** Wait for the last reply. */
  readonly timeoutMs: number;
}

/** What became of one echo request. */
type EchoStatus = "ok" | "timeout" | "late" | "duplicate" | "unreachable" | "ttl_exceeded" | "corrupt";

/** One reply, or the word that none came. */
export interface EchoReply {
  readonly seq: number;
  readonly rttMs: number | null;
  readonly ttl: number | null;
  readonly status: EchoStatus;
  /** ICMP code of an error reply. */
  readonly code?: number;
  /** Who sent an error reply. */
  readonly from?: string;
}

/** A finished series. */
export interface EchoRun {
  /** Every reply in order of arrival, then the timeouts. */
  readonly replies: readonly EchoReply[];
  /** Worst lag of the ICMP process's loop while this ran: bound on the error of each RTT. */
  readonly clockErrorMs: number;
}

/** ICMP echo through the raw-socket process. */
export interface IcmpPort {
  /** Which families have a raw socket; both false: offer TCP ping. */
  available(): { readonly v4: boolean; readonly v6: boolean };
  /** `onReply` is called as replies come. failed: stage request, source probe, when the socket is lost. */
  echo(request: EchoRequest, onReply: (reply: EchoReply) => void): Promise<Outcome<EchoRun>>;
}

/** One traceroute. */
export interface TraceRequest {
  readonly ip: string;
  readonly protocol: "icmp" | "udp" | "tcp";
  /** Destination port of udp (default 33434) and tcp (default 80). */
  readonly port?: number;
  /** Default 1. */
  readonly firstHop?: number;
  readonly maxHops: number;
  readonly queries: number;
  /** Payload octets of icmp (at least 10, default 32) and udp (at least 0, default 24); a SYN has none. */
  readonly size?: number;
  /** icmp and tcp: forbids fragments whatever the kernel remembers of the path; udp leaves it to the kernel. */
  readonly dontFragment?: boolean;
  /** Flows the probes of a hop take in turn, 1 to 16; default 1: one of several equal paths (Paris). */
  readonly flows?: number;
  /** Milliseconds the trace may take at most, once it has its turn; default what the deadline leaves. */
  readonly budgetMs?: number;
}

/** The answer to one probe packet. */
export interface TraceReply {
  /** Null: silence. */
  readonly ip: string | null;
  readonly rttMs: number | null;
  readonly icmpType: number | null;
  readonly icmpCode: number | null;
  readonly mpls?: readonly {
    readonly label: number;
    readonly exp: number;
    readonly s: boolean;
    readonly ttl: number;
  }[];
}

/** What the probes of a hop say about loss on the way there and back. */
export interface LossEvidence {
  /**
   * Probes that tell: all of them where no other is unclear, else those that left a second or more after the last one
   * the hop had answered.
   */
  readonly sampled: number;
  /** Of these, the unanswered ones. */
  readonly lost: number;
  /** Unanswered ones that the hop's own limit on answers explains as well as loss does. */
  readonly unclear: number;
}

/** All answers at one distance. */
export interface TraceHop {
  readonly hop: number;
  /**
   * Probes that came this far and were answered or, for a second, not: those a router was asked again with included, and
   * those sent farther than the path's end, which met that end.
   */
  readonly sent: number;
  /** Round trips of all that were answered, in the order sent. */
  readonly roundTripsMs: readonly number[];
  readonly evidence: LossEvidence;
  /** One per query; fewer where fewer probes were sent. */
  readonly replies: readonly TraceReply[];
}

/** A finished trace. */
export interface TraceRun {
  readonly reached: boolean;
  readonly hops: readonly TraceHop[];
}

/** The largest packet that passes a path unfragmented (RFC 1191, RFC 8201). */
export interface PathMtu {
  /** IP packet octets; null where the target answers no echo. */
  readonly bytes: number | null;
  /** The router that said a larger one does not fit; null where none did. */
  readonly limitedBy: string | null;
  /** Larger packets vanish without a word (RFC 2923 section 2.1). */
  readonly blackHole: boolean;
  /** interface: all that leaves the probe passes; reported: by a router's word, confirmed; search: by trying. */
  readonly method: "interface" | "reported" | "search" | null;
}

/** Traceroute by ICMP, UDP or TCP. */
export interface TracePort {
  /** The path's MTU by echoes of the address's family that nobody may fragment; within `budgetMs` milliseconds. */
  pathMtu(ip: string, budgetMs: number): Promise<Outcome<PathMtu>>;
  /** Constant flow within a trace unless `flows` says else; `onHop` is called when a hop is complete, in order. Names and ASNs come after. */
  run(request: TraceRequest, onHop: (hop: TraceHop) => void): Promise<Outcome<TraceRun>>;
}
