import type { Outcome } from "#shared/outcome.ts";

/** What a probe of one UDP port showed. */
export interface QuicProbe {
  /** true: a QUIC server answered; false: the port is closed (ICMP port unreachable); "unknown": silence. */
  readonly reachable: true | false | "unknown";
  /** Versions the server offers, as `0x` and eight lower-case hex digits, in its order; reserved ones left out. */
  readonly versions: readonly string[];
  /** From the datagram that was answered to the answer, ms; null without one. */
  readonly rttMs: number | null;
}

/** QUIC, as far as its version negotiation. */
export interface QuicPort {
  /**
   * Asks a UDP port for its versions, again where nothing comes, for `timeoutMs` at most. failed: stage connect, source
   * probe, reason local_error (no socket, no route) or cancelled. refused: the egress rules forbid the address.
   */
  probe(ip: string, port: number, timeoutMs: number): Promise<Outcome<QuicProbe>>;
}
