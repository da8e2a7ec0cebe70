import type { Outcome } from "#shared/outcome.ts";
import type { IpVersion, Resolved } from "#probe-agent/port/address.ts";

/**
 * NOERROR, NXDOMAIN, SERVFAIL, REFUSED, TIMEOUT (no answer came), the other RCODEs by their IANA names (FORMERR, NOTIMP, ...), MALFORMED (the answer is
 * no readable message) and INVALID_NAME (the name asked for cannot be written; nothing was sent).
 */
type DnsStatus = "NOERROR" | "NXDOMAIN" | "SERVFAIL" | "REFUSED" | "TIMEOUT" | (string & {});

/** One question and how to put it. */
export interface DnsQuestion {
  /** Presentation form, with or without final dot; IDN already in A-label form. */
  readonly name: string;
  /** RR type mnemonic (A, AAAA, ..., HTTPS) or TYPEn. */
  readonly type: string;
  /**
   * Server to ask, `address`, `v4:port` or `[v6]:port`; default: the agent's configured resolvers in turn. An address a
   * user has named must have been vetted (`resolve`) by whoever hands it in.
   */
  readonly server?: string;
  /** Default udp with retry over tcp on TC; dot and doh (default ports 853 and 443) want a `server` of their own. */
  readonly transport?: "udp" | "tcp" | "dot" | "doh";
  /** dot, doh: name, or address, that the server's certificate must carry; without it anyone's will do (RFC 8310). */
  readonly serverName?: string;
  /** doh: path of the service, default /dns-query. */
  readonly path?: string;
  /** EDNS DO bit: ask for DNSSEC records. */
  readonly dnssecOk?: boolean;
  /** Ask for the answer that a client of this address' network would get (RFC 7871); servers may pay no heed. */
  readonly clientSubnet?: string;
  /** CD bit: do not let the resolver validate. */
  readonly checkingDisabled?: boolean;
  /** RD bit; default true. */
  readonly recursionDesired?: boolean;
  /** For this question over all its tries; default 3000, never beyond the job's deadline. */
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
 * A resource record; `typed` holds the parsed RDATA fields of known types under their RFC names, names in it without
 * final dot (A: address, NS: nsdname, MX: preference, exchange, TXT: strings in latin1, text; all in
 * net/dns/rdata/table.ts). It is empty where the RDATA does not fit its type.
 */
export interface DnsRecord {
  /** Presentation form without final dot ("." for the root). */
  readonly name: string;
  readonly type: string;
  readonly class: number;
  readonly ttl: number;
  /** RDATA in presentation (master file) form: names end in a dot, text is quoted, unknown types are `\# n hex`. */
  readonly data: string;
  /** RDATA octets as received; names in it are expanded (RFC 3597 section 4 types). */
  readonly raw: Uint8Array;
  readonly typed: Readonly<Record<string, unknown>>;
}

/** An answer, or status TIMEOUT with empty sections when nobody answered in time. */
export interface DnsAnswer {
  readonly status: DnsStatus;
  readonly flags: DnsFlags;
  readonly answers: readonly DnsRecord[];
  readonly authority: readonly DnsRecord[];
  readonly additional: readonly DnsRecord[];
  /** Extended DNS Errors (RFC 8914). */
  readonly ede: readonly { readonly code: number; readonly text: string }[];
  /** The server's name for itself (RFC 5001) in hexadecimal, at most 255 octets; null where it gave none. */
  readonly nsid: string | null;
  /** address#port asked last. */
  readonly server: string;
  readonly transport: "udp" | "tcp" | "dot" | "doh";
  /** Null on TIMEOUT. Over tcp, dot and doh with the time to connect. */
  readonly rttMs: number | null;
  /** The part of rttMs until the connection stood, TLS included; 0 over udp, null on TIMEOUT. */
  readonly connectMs?: number | null;
  /** On TIMEOUT: why there was no way to the server (refused, certificate, ...); null for silence. */
  readonly unreachable?: string | null;
}

/** A DS or DNSKEY record that is trusted without proof (RFC 4033 section 2). */
export interface TrustAnchor {
  /** Presentation form, with or without final dot; "." for the root. */
  readonly zone: string;
  readonly type: "DS" | "DNSKEY";
  readonly raw: Uint8Array;
}

/** Questions to the DNS. */
export interface DnsPort {
  query(question: DnsQuestion): Promise<DnsAnswer>;
  /**
   * All A and AAAA of a host name (or the literal itself), vetted by the egress rules, within 5 s or the deadline.
   * failed: stage dns, reasons nxdomain, no_address, servfail, refused, timeout, invalid_name. refused: the name, or every address.
   */
  resolve(host: string, only?: IpVersion): Promise<Outcome<Resolved>>;
  /** PTR names of an address, empty when there are none; null when nobody answers in time. */
  reverse(ip: string): Promise<readonly string[] | null>;
}
