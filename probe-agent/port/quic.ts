import type { Outcome } from "#shared/contracts/outcome.ts";

/** Result of a probe of one UDP port. */
export interface QuicProbe {
  /** true: a QUIC server answered; false: the port is closed (ICMP port unreachable); "unknown": no answer arrived. */
  readonly reachable: true | false | "unknown";
  /**
   * Versions that the server offers, as `0x` and eight lower-case hex digits, in the server's order, without reserved
   * ones.
   */
  readonly versions: readonly string[];
  /** Time from the datagram that was answered to the answer, in milliseconds; null without an answer. */
  readonly rttMs: number | null;
}

/** QUIC, limited to version negotiation. */
export interface QuicPort {
  /**
   * Asks a UDP port for its versions and repeats the question if nothing arrives, for `timeoutMs` at most. Fails with
   * stage connect, source probe and reason local_error (no socket, no route) or cancelled. Refused if the egress rules
   * forbid the address.
   */
  probe(ip: string, port: number, timeoutMs: number): Promise<Outcome<QuicProbe>>;
}
