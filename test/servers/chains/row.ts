import type { ChainChange } from "#test/servers/chains/build.ts";

/**
 * Why our result differs from that of `openssl verify -purpose sslserver`. Each is a property of the client, not of a row:
 * - chrome, firefox, go: that client refuses the chain by a rule that OpenSSL does not enforce by default.
 * - profile: RFC 5280 forbids it and our verdict holds to that, though today's clients let it pass.
 * - key_policy: OpenSSL asks for key sizes and hashes only at a security level, which `openssl verify` does not set.
 * - last_second: OpenSSL counts notAfter's own second as past (X509_cmp_time); RFC 5280 and browsers do not.
 */
export const DIFFERENCES = {
  chrome: "Chrome (net/cert/pki) refuses it; OpenSSL's default has no such rule",
  firefox: "Firefox (mozilla::pkix) refuses it; OpenSSL's default has no such rule",
  go: "Go (crypto/x509) refuses it; OpenSSL's default has no such rule",
  profile: "RFC 5280 forbids it; no client of today is known to enforce that by default",
  last_second: "OpenSSL ends validity where notAfter's second begins, browsers where it ends",
  key_policy: "no browser accepts the key or hash; openssl verify sets no security level",
} as const;

/** A reason of the table. */
export type Difference = keyof typeof DIFFERENCES;

/** One chain, what is wrong with it, and what everybody makes of it. */
export interface Row {
  readonly name: string;
  /** The rule, and who enforces it. */
  readonly source: string;
  readonly change: ChainChange;
  /** Milliseconds from the moment of the chain's making at which it is looked at; default 0. */
  readonly atMs?: number;
  /** Words of our verdict; none: trusted. */
  readonly errors: readonly string[];
  /** Rules by which strict clients refuse it, as the ssl tool's warning counts them; none: no warning. */
  readonly strict?: readonly string[];
  /** Why OpenSSL's default verdict is another one than ours; absent where it is the same. */
  readonly differs?: Difference;
}
