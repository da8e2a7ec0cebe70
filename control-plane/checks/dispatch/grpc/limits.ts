/**
 * Limits of connections to the agents' port. Times are in milliseconds. A stranger is a connection without a valid
 * client certificate.
 */
export interface ConnectionLimits {
  /** Maximum number of strangers, including connections in the TLS handshake. */
  readonly strangers: number;
  /** Maximum number of strangers from one client address (an IPv6 /64). */
  readonly strangersPerAddress: number;
  /**
   * Maximum number of connections with a valid client certificate. Counted separately, so strangers take no slot of
   * them.
   */
  readonly agents: number;
  /** Maximum number of connections with certificates of one agent. */
  readonly connectionsPerAgent: number;
  /** Time from the TCP connection to the end of the TLS handshake. */
  readonly handshakeMs: number;
  /** Time from the start of a call to its first complete message. */
  readonly firstMessageMs: number;
  /** Time from the handshake, or from the end of the last attached stream, until the connection is closed. */
  readonly unattachedMs: number;
  /** Time from a refusal until the connection is closed, so that the reason can arrive. */
  readonly refusedMs: number;
  /** Maximum number of octets that a stranger can send over one connection, TLS included. */
  readonly strangerBytes: number;
  /** Maximum number of HTTP/2 streams that a stranger can begin over one connection, whether or not they are calls. */
  readonly strangerStreams: number;
  /** Maximum number of strangers' handshakes in a second from one client address (an IPv6 /64). */
  readonly strangerHandshakes: number;
  /** CIDR ranges of addresses without a maximum of handshakes: many clients can be behind them. */
  readonly unlimited: readonly string[];
}

/** All limits except the totals, which follow from the process's descriptors (control-plane/checks/descriptors.ts). */
export const CONNECTION_LIMITS: Omit<ConnectionLimits, "strangers" | "agents"> = {
  // An enrolling agent opens two connections, each for a moment. An attached agent is not a stranger, so any number of
  // agents can share one address.
  strangersPerAddress: 64,
  // One attached stream, one renewal, and a few reconnects while an old connection is not yet known to be dead.
  connectionsPerAgent: 16,
  // Three round trips over the slowest path of agents, with time for one lost packet.
  handshakeMs: 5_000,
  firstMessageMs: 10_000,
  // The first message can take 10 s, and the query to the database at most 2 s.
  unattachedMs: 15_000,
  refusedMs: 1_000,
  // Enrolment takes about 4 KB. This is one message of the maximum size with its frames, records and handshake.
  strangerBytes: 192 * 1024,
  // An enrolling agent makes one call. Without this limit, a stranger could open and reset 1,000 streams, after which
  // node:http2 ends the session by itself (its streamResetBurst).
  strangerStreams: 16,
  // A handshake costs more than the streams that follow it, and a stranger whose connection was ended opens another.
  strangerHandshakes: 20,
  unlimited: ["127.0.0.0/8", "::1/128"],
};

/**
 * Maximum size of a stranger's message in octets: a hello with full lists has 103 KB. An agent whose certificate has
 * expired sends its hello as a stranger, and is answered with the reason.
 */
export const STRANGER_MESSAGE_BYTES = 128 * 1024;
/** Maximum number of open streams of a stranger: Enroll, and one more if the client repeats it. */
export const STRANGER_STREAMS = 2;
