import type { Outcome } from "#shared/contracts/outcome.ts";
import type { IpVersion, Resolved } from "#probe-agent/port/address.ts";

/**
 * NOERROR, NXDOMAIN, SERVFAIL, REFUSED, TIMEOUT (no answer arrived), the other RCODEs by their IANA names (FORMERR,
 * NOTIMP, ...), MALFORMED (the answer cannot be parsed as a message) or INVALID_NAME (the queried name cannot be
 * encoded; nothing was sent).
 */
type DnsStatus = "NOERROR" | "NXDOMAIN" | "SERVFAIL" | "REFUSED" | "TIMEOUT" | (string & {});

/** One DNS question and how to send it. */
export interface DnsQuestion {
  /** Presentation form, with or without final dot. IDN must already be in A-label form. */
  readonly name: string;
  /** RR type mnemonic (A, AAAA, ..., HTTPS) or TYPEn. */
  readonly type: string;
  /**
   * Server to query: `address`, `v4:port` or `[v6]:port`. Default: the agent's configured resolvers in turn. The caller
   * must vet an address that a user named (see `resolve`).
   */
  readonly server?: string;
  /**
   * Default: udp, with a retry over tcp if the answer has TC set. dot and doh (default ports 853 and 443) require
   * `server`.
   */
  readonly transport?: "udp" | "tcp" | "dot" | "doh";
  /**
   * For dot and doh: name or address that the server's certificate must match. Without it, any certificate is accepted
   * (RFC 8310).
   */
  readonly serverName?: string;
  /** For doh: path of the service. Default: /dns-query. */
  readonly path?: string;
  /** EDNS DO bit: requests DNSSEC records. */
  readonly dnssecOk?: boolean;
  /** Requests the answer that a client in the network of this address would get (RFC 7871). Servers may ignore it. */
  readonly clientSubnet?: string;
  /** CD bit: tells the resolver not to validate. */
  readonly checkingDisabled?: boolean;
  /** RD bit. Default: true. */
  readonly recursionDesired?: boolean;
  /**
   * Limit for this question including all attempts, in milliseconds. Default: 3000. Never beyond the job's deadline.
   */
  readonly timeoutMs?: number;
}

/** Header bits of an answer (RFC 1035 section 4.1.1, RFC 4035 section 3). */
export interface DnsFlags {
  readonly aa: boolean;
  readonly tc: boolean;
  readonly rd: boolean;
  readonly ra: boolean;
  readonly ad: boolean;
  readonly cd: boolean;
}

/**
 * A resource record. `typed` has the parsed RDATA fields of known types under their RFC names; names in it have no
 * final dot (A: address, NS: nsdname, MX: preference, exchange, TXT: strings in latin1, text; all in
 * dns-codec/rdata/codec.ts). It is empty if the RDATA does not match its type.
 */
export interface DnsRecord {
  /** Presentation form without final dot ("." for the root). */
  readonly name: string;
  readonly type: string;
  readonly class: number;
  readonly ttl: number;
  /** RDATA in presentation (master file) form: names end in a dot, text is quoted, unknown types are `\# n hex`. */
  readonly data: string;
  /** RDATA octets as received, with names expanded (the types of RFC 3597 section 4). */
  readonly raw: Uint8Array;
  readonly typed: Readonly<Record<string, unknown>>;
}

/** An answer, or status TIMEOUT with empty sections if no server answered in time. */
export interface DnsAnswer {
  readonly status: DnsStatus;
  readonly flags: DnsFlags;
  readonly answers: readonly DnsRecord[];
  readonly authority: readonly DnsRecord[];
  readonly additional: readonly DnsRecord[];
  /** Extended DNS Errors (RFC 8914). */
  readonly ede: readonly { readonly code: number; readonly text: string }[];
  /** Name server identifier (RFC 5001) in hexadecimal, at most 255 octets; null if the server sent none. */
  readonly nsid: string | null;
  /** The server that was queried last, as `address#port`. */
  readonly server: string;
  readonly transport: "udp" | "tcp" | "dot" | "doh";
  /** null on TIMEOUT. Includes the time to connect over tcp, dot and doh. */
  readonly rttMs: number | null;
  /** The part of rttMs until the connection was established, TLS included. 0 over udp, null on TIMEOUT. */
  readonly connectMs?: number | null;
  /** On TIMEOUT: why the server could not be reached (refused, certificate, ...); null if it did not respond at all. */
  readonly unreachable?: string | null;
}

/** A DS or DNSKEY record that is trusted without proof (RFC 4033 section 2). */
export interface TrustAnchor {
  /** Presentation form, with or without final dot; "." is the root. */
  readonly zone: string;
  readonly type: "DS" | "DNSKEY";
  readonly raw: Uint8Array;
}

/** DNS queries. */
export interface DnsPort {
  query(question: DnsQuestion): Promise<DnsAnswer>;
  /**
   * Looks up all A and AAAA records of a host name (or takes the literal itself) and applies the egress rules, within the
   * job's limits. Fails with stage dns and reason nxdomain, no_address, servfail, refused, timeout or
   * invalid_name. Refused if the egress rules forbid the name or every address.
   */
  resolve(host: string, only?: IpVersion): Promise<Outcome<Resolved>>;
  /** Returns the PTR names of an address, empty if there are none; null if no server answers in time. */
  reverse(ip: string): Promise<readonly string[] | null>;
}
