import type { Failed } from "#shared/contracts/outcome.ts";

/** IP version. */
export type IpVersion = 4 | 6;

/** One resolved address. */
export interface Address {
  readonly ip: string;
  readonly version: IpVersion;
}

/** One attempt to connect to an address. */
export interface ConnectAttempt {
  readonly address: Address;
  /** null if the connection was established. */
  readonly failure: Failed | null;
  /** Time until the connection was established or failed, in milliseconds. */
  readonly ms: number;
}

/** Addresses of a host name, divided by the egress rules into allowed and blocked ones. */
export interface Resolved {
  /** The host as requested. An IPv4 or IPv6 literal has one address and takes 0 ms. */
  readonly host: string;
  /**
   * Addresses that the egress rules allow, IPv4 first, in the order of the resolver. Never empty in an `ok` outcome.
   */
  readonly allowed: readonly Address[];
  /** Addresses that the egress rules refuse. They are reported but never contacted. */
  readonly blocked: readonly Address[];
  /** Families whose lookup failed while the other one succeeded: it is unknown whether the name has such addresses. */
  readonly unanswered?: readonly IpVersion[];
  readonly elapsedMs: number;
}
