import type { Outcome } from "#shared/contracts/outcome.ts";

/**
 * How long a TCP attempt waits for the answer to its one SYN, in milliseconds. Linux retransmits an unanswered SYN
 * after 1 s (TCP_TIMEOUT_INIT; RFC 6298 section 2) and does not report which of the two was answered.
 */
export const ONE_SYN_MS = 900;

/** TCP connection attempts. */
export interface TcpPort {
  /**
   * Sends one SYN and waits `timeoutMs`, at most ONE_SYN_MS. SYN-ACK means open, RST means closed, no answer or an ICMP
   * error means filtered. rttMs is the round trip of the answer; null if filtered, or if the answer may belong to a
   * second SYN.
   */
  probe(
    ip: string,
    port: number,
    timeoutMs: number,
  ): Promise<{ state: "open" | "closed" | "filtered"; rttMs: number | null; reason: string | null }>;
}

/** A series of ICMP echo requests; times in milliseconds, sizes in octets. */
export interface EchoRequest {
  readonly ip: string;
  readonly count: number;
  readonly intervalMs: number;
  /** ICMP payload, at least the 8-byte cookie. */
  readonly size: number;
  readonly ttl: number;
  /** Wait for the reply to the last request. */
  readonly timeoutMs: number;
  /** Forbids fragments even if the kernel remembers a path MTU. */
  readonly dontFragment?: boolean;
  /**
   * Address of this host, of the family of `ip`, to send from. Default: the kernel chooses. The caller makes sure that it
   * is one of this host: nothing else stops a forged one. Packets larger than the interface's MTU cannot be sent then.
   */
  readonly source?: string;
}

/** Result of one echo request. */
type EchoStatus = "ok" | "timeout" | "late" | "duplicate" | "unreachable" | "ttl_exceeded" | "corrupt";

/** One reply, or the report that none arrived. */
export interface EchoReply {
  readonly seq: number;
  readonly rttMs: number | null;
  readonly ttl: number | null;
  readonly status: EchoStatus;
  /** ICMP code of an error reply. */
  readonly code?: number;
  /** Sender of an error reply. */
  readonly from?: string;
}

/** A completed series. */
export interface EchoRun {
  /** Every reply in order of arrival, then the timeouts. */
  readonly replies: readonly EchoReply[];
  /** Worst delay of the ICMP process's event loop during the series: the limit of the error of each RTT. */
  readonly clockErrorMs: number;
}

/** ICMP echo through the process with raw sockets. */
export interface IcmpPort {
  /**
   * Resolves when packets can be sent at once, or never; also when the job ends. The process with raw sockets sleeps
   * while nothing uses it, and starting it must not count as time of the target.
   */
  ready(): Promise<void>;
  /** Reports which address families have a raw socket. If neither has one, offer TCP ping. */
  available(): { readonly v4: boolean; readonly v6: boolean };
  /**
   * Runs a series and calls `onReply` as replies arrive. Fails with stage request and source probe if the socket is
   * lost.
   */
  echo(request: EchoRequest, onReply: (reply: EchoReply) => void): Promise<Outcome<EchoRun>>;
}

/** One traceroute. */
export interface TraceRequest {
  readonly ip: string;
  readonly protocol: "icmp" | "udp" | "tcp";
  /** Destination port of udp (default: 33434) and tcp (default: 80). */
  readonly port?: number;
  /** Default 1. */
  readonly firstHop?: number;
  readonly maxHops: number;
  readonly queries: number;
  /** Payload octets of icmp (at least 10, default: 32) and udp (at least 0, default: 24). A SYN has none. */
  readonly size?: number;
  /** For icmp and tcp: forbids fragments even if the kernel remembers a path MTU. For udp, the kernel decides. */
  readonly dontFragment?: boolean;
  /**
   * Number of flows that the probes of a hop use in turn, 1 to 16. Default: 1, which follows one of several equal paths
   * (Paris traceroute).
   */
  readonly flows?: number;
  /** Maximum duration of the trace once it has its turn, in milliseconds. Default: the time until the deadline. */
  readonly budgetMs?: number;
}

/** Result of one probe packet. */
export interface TraceReply {
  /** null if no answer arrived. */
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

/** What the probes of a hop show about packet loss on the way there and back. */
export interface LossEvidence {
  /**
   * Number of conclusive probes: all of them if none is unclear, else those that left one second or more after the last
   * one that the hop answered.
   */
  readonly sampled: number;
  /** Number of these without an answer. */
  readonly lost: number;
  /**
   * Number of probes without an answer that the hop's rate limit on ICMP errors explains as well as packet loss does.
   */
  readonly unclear: number;
}

/** All answers at one distance. */
export interface TraceHop {
  readonly hop: number;
  /**
   * Number of probes that reached this distance and were answered, or were left without an answer for one second.
   * Includes repeated probes to a router, and probes sent beyond the end of the path that reached that end.
   */
  readonly sent: number;
  /** Round trips of all answered probes, in the order sent. */
  readonly roundTripsMs: readonly number[];
  readonly evidence: LossEvidence;
  /** One for each query; fewer if fewer probes were sent. */
  readonly replies: readonly TraceReply[];
}

/** A completed trace. */
export interface TraceRun {
  readonly reached: boolean;
  readonly hops: readonly TraceHop[];
}

/** Largest packet that passes a path without fragmentation (RFC 1191, RFC 8201). */
export interface PathMtu {
  /** IP packet size in octets; null if the target does not answer echo requests. */
  readonly bytes: number | null;
  /** Router that reported that a larger packet does not fit; null if none did. */
  readonly limitedBy: string | null;
  /** Whether larger packets are lost without an ICMP error (RFC 2923 section 2.1). */
  readonly blackHole: boolean;
  /**
   * interface: every packet that leaves the probe passes; reported: a router reported the size, which was then
   * confirmed; search: found by trying sizes.
   */
  readonly method: "interface" | "reported" | "search" | null;
}

/** Traceroute by ICMP, UDP or TCP. */
export interface TracePort {
  /**
   * Finds the path's MTU with echo requests of the address's family that must not be fragmented, within `budgetMs`
   * milliseconds.
   */
  pathMtu(ip: string, budgetMs: number): Promise<Outcome<PathMtu>>;
  /**
   * Runs a trace. All probes have the same flow unless `flows` says otherwise. Calls `onHop` when a hop is complete, in
   * order. Names and ASNs are added later.
   */
  run(request: TraceRequest, onHop: (hop: TraceHop) => void): Promise<Outcome<TraceRun>>;
}
