/** How many connections the agents' port holds, for how long, and what a stranger may send. Times in milliseconds. */
export interface ConnectionLimits {
  /** Connections without a valid client certificate, those still in the TLS handshake included. */
  readonly strangers: number;
  /** The same for one client address (an IPv6 /64). */
  readonly strangersPerAddress: number;
  /** Connections with a valid client certificate. They are counted apart, so strangers take no place from them. */
  readonly agents: number;
  /** Connections with certificates of one agent. */
  readonly connectionsPerAgent: number;
  /** From the TCP connection to the end of the TLS handshake. */
  readonly handshakeMs: number;
  /** From the start of a call to its first whole message. */
  readonly firstMessageMs: number;
  /** From the handshake, or from the end of the last attached stream, until the connection is closed. */
  readonly unattachedMs: number;
  /** From a refusal until the connection is closed: time for the reason to arrive. */
  readonly refusedMs: number;
  /** Octets a stranger may send over one connection, TLS included. */
  readonly strangerBytes: number;
  /** Calls a stranger may begin over one connection. */
  readonly strangerCalls: number;
}

/** Everything but the totals, which follow from the process's descriptors (control-plane/descriptors.ts). */
export const CONNECTION_LIMITS: Omit<ConnectionLimits, "strangers" | "agents"> = {
  // An enrolling agent opens two connections, each for a moment. An attached agent is not a stranger, so any number of
  // agents may share one address.
  strangersPerAddress: 64,
  // One attached stream, one renewal, and a few redials while an old connection is not yet known to be dead.
  connectionsPerAgent: 16,
  // Three round trips over the slowest path agents work on, with room for one lost packet.
  handshakeMs: 5_000,
  firstMessageMs: 10_000,
  // The first message may take 10 s, and the database is asked for 2 s at most.
  unattachedMs: 15_000,
  refusedMs: 1_000,
  // Enrolment takes about 4 KB. One largest message and its frames, records and handshake.
  strangerBytes: 192 * 1024,
  // An enrolling agent makes one. Streams that are opened and reset at once would otherwise cost up to 1,000 calls, after
  // which node:http2 ends the session by itself (its streamResetBurst).
  strangerCalls: 8,
};

/**
 * Largest message of a stranger, octets: a hello with full lists is 103 KB. An agent whose certificate has expired says it
 * as a stranger, and is answered with the reason.
 */
export const STRANGER_MESSAGE_BYTES = 128 * 1024;
/** Streams a stranger may have open at once: Enroll, and one more where a client repeats it. */
export const STRANGER_STREAMS = 2;
