import type { Failed } from "#shared/outcome.ts";

/** Address family by its number. */
export type IpVersion = 4 | 6;

/** One looked-up address. */
export interface Address {
  readonly ip: string;
  readonly version: IpVersion;
}

/** One try to connect to an address. */
export interface ConnectAttempt {
  readonly address: Address;
  /** Null where the connection stood. */
  readonly failure: Failed | null;
  /** Until it stood or failed, milliseconds. */
  readonly ms: number;
}

/** What a host name resolves to, already divided by the egress rules. */
export interface Resolved {
  /** A IPv4 or IPv6 literal has one address and took 0 ms. */
  readonly host: string;
  /** May be connected to, IPv4 first, in the order the resolver gave; never empty in an `ok` outcome. */
  readonly allowed: readonly Address[];
  /** Resolved but refused by section 12; reported, never contacted. */
  readonly blocked: readonly Address[];
  /** Families whose look-up failed beside one that did not: whether the name has such addresses is not known. */
  readonly unanswered?: readonly IpVersion[];
  readonly elapsedMs: number;
}
