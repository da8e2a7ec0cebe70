/** Address family by its number. */
export type IpVersion = 4 | 6;

/** One looked-up address. */
export interface Address {
  readonly ip: string;
  readonly version: IpVersion;
}

/** What a host name resolves to, already divided by the egress rules. */
export interface Resolved {
  /** A IPv4 or IPv6 literal has one address and took 0 ms. */
  readonly host: string;
  /** May be connected to, IPv4 first, in the order the resolver gave; never empty in an `ok` outcome. */
  readonly allowed: readonly Address[];
  /** Resolved but refused by section 12; reported, never contacted. */
  readonly blocked: readonly Address[];
  readonly elapsedMs: number;
}
