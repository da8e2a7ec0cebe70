import type { Outcome } from "#shared/outcome.ts";

/**
 * Everything an implementation may do to the world. Implementations fetch through it and analyse with pure
 * functions; nothing under probe-agent/tools or probe-agent/analysis opens a socket, reads a clock or a file.
 */
export interface Net {
  /** Aborts at the job's deadline and when the caller cancels; every port below obeys it by itself. */
  readonly signal: AbortSignal;
  /** Milliseconds left until the deadline, never negative. */
  remainingMs(): number;
  /** The control plane's time carried on by the monotonic clock. */
  now(): Date;
  /** Milliseconds with a fraction; for durations. */
  monotonic(): number;
  random(count: number): Uint8Array;
  /** Live progress of a running check (an echo reply, a hop, a resolver's answer), at most 16 KB. */
  emit(event: ProgressEvent): void;
  readonly http: HttpPort;
  readonly dns: DnsPort;
  readonly tls: TlsPort;
  readonly tcp: TcpPort;
  readonly icmp: IcmpPort;
  readonly trace: TracePort;
  /** Operator's base URLs of outside services. */
  readonly services: Services;
}

/** One live event: `kind` names it ("reply", "hop", ...), `data` has the shape of the result's own rows. */
export interface ProgressEvent {
  readonly kind: string;
  readonly data: unknown;
}

/** Base addresses of outside sources (settings, decisions 1). */
export interface Services {
  /** `/dns.json`, `/ipv4.json`, `/ipv6.json`, `/asn.json` are appended (RFC 9224). */
  readonly rdapBootstrapUrl: string;
  /** Team Cymru's zones: origin (IPv4), origin6, asn. */
  readonly cymruZones: { readonly origin: string; readonly origin6: string; readonly asn: string };
}

// ---------------------------------------------------------------- addresses

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

// ---------------------------------------------------------------- DNS

/**
 * Status words of decisions 5 plus the other RCODEs by their IANA names (FORMERR, NOTIMP, ...), MALFORMED (the answer is
 * no readable message) and INVALID_NAME (the name asked for cannot be written; nothing was sent).
 */
export type DnsStatus = "NOERROR" | "NXDOMAIN" | "SERVFAIL" | "REFUSED" | "TIMEOUT" | (string & {});

/** One question and how to put it. */
export interface DnsQuestion {
  /** Presentation form, with or without final dot; IDN already in A-label form. */
  readonly name: string;
  /** RR type mnemonic (A, AAAA, ..., HTTPS) or TYPEn. */
  readonly type: string;
  /** Server to ask, `address` or `[v6]:port` form; default: the agent's configured resolvers in turn. */
  readonly server?: string;
  /** Default udp with retry over tcp on TC. */
  readonly transport?: "udp" | "tcp";
  /** EDNS DO bit: ask for DNSSEC records. */
  readonly dnssecOk?: boolean;
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
  /** address#port asked last. */
  readonly server: string;
  readonly transport: "udp" | "tcp";
  /** Null on TIMEOUT. */
  readonly rttMs: number | null;
}

/** Questions to the DNS. */
export interface DnsPort {
  query(question: DnsQuestion): Promise<DnsAnswer>;
  /**
   * All A and AAAA of a host name (or the literal itself), vetted by the egress rules, within 5 s or the deadline.
   * failed: stage dns, reasons nxdomain, no_address, servfail, refused, timeout, invalid_name. refused: the name, or every address.
   */
  resolve(host: string, only?: IpVersion): Promise<Outcome<Resolved>>;
  /** PTR names of an address, empty when there are none or nobody answers in time. */
  reverse(ip: string): Promise<readonly string[]>;
}

// ---------------------------------------------------------------- HTTP

/** One request, with its redirects where `follow` is set. */
export interface HttpRequest {
  readonly url: string;
  readonly method: "GET" | "HEAD" | "POST";
  /** Added after the engine's own Host, User-Agent, Accept, Accept-Encoding. Dropped across origins when credentials. */
  readonly headers?: readonly (readonly [string, string])[];
  readonly userAgent?: string;
  readonly body?: Uint8Array;
  readonly follow: boolean;
  /** Redirects followed at most; default 10. */
  readonly maxRedirects?: number;
  /** Decoded bytes kept of the final body; default 5 MiB. More: `truncated`, and the connection is closed. */
  readonly maxBodyBytes?: number;
  /** Restrict ALPN; default h2 then http/1.1. */
  readonly alpn?: readonly ("h2" | "http/1.1")[];
  /** For an operator's own service URL (never a user's): skip the address rules. */
  readonly trusted?: boolean;
}

/**
 * Durations of one hop's phases in microseconds, without gaps: dns + connect + tls + ttfb + transfer = total exactly.
 * A phase that did not happen took 0; a hop that was followed on its headers alone has transfer 0.
 */
export interface HopTiming {
  readonly dns: number;
  readonly connect: number;
  readonly tls: number;
  /** Request sent to first byte of the final (non-1xx) status line. */
  readonly ttfb: number;
  readonly transfer: number;
  readonly total: number;
}

/** The TLS session of a hop. */
export interface HopTls {
  readonly protocol: string;
  readonly cipher: string;
  readonly alpn: string | null;
  /** Node's chain and name verdict; the connection goes on either way (we look at broken sites). */
  readonly authorized: boolean;
  readonly error: string | null;
}

/** One response of a chain, the final one included. */
export interface Hop {
  readonly url: string;
  readonly method: "GET" | "HEAD" | "POST";
  readonly code: number;
  readonly statusText: string;
  /** "1.0", "1.1" or "2". */
  readonly httpVersion: string;
  readonly ip: string;
  readonly ipVersion: IpVersion;
  readonly port: number;
  readonly addresses: readonly Address[];
  readonly blocked: readonly Address[];
  /** In wire order, repeats kept, names as sent (lower case on HTTP/2), values decoded as latin1 or UTF-8 where valid. */
  readonly headers: readonly (readonly [string, string])[];
  /** Breaches of RFC 9112 in the head that were read over (bare_line_feed, obsolete_line_folding, ...), each once. */
  readonly faults: readonly string[];
  /** The Location header resolved against the hop's URL; null where absent or unusable. */
  readonly location: string | null;
  readonly timing: HopTiming;
  readonly tls: HopTls | null;
  /** Microseconds from the chain's start to this hop's start. */
  readonly startedAtUs: number;
}

/** The final response's body. */
export interface HttpBody {
  /** Decoded (content codings removed), at most maxBodyBytes. */
  readonly bytes: Uint8Array;
  readonly transferredBytes: number;
  readonly decodedBytes: number;
  /** Content-Encoding as applied, null for identity. */
  readonly encoding: string | null;
  readonly truncated: boolean;
  /** SHA-256 hex of the decoded bytes kept. */
  readonly sha256: string;
  /** Why the body could not be read or decoded to its end, null when it was. */
  readonly error: string | null;
}

/** Everything one fetch saw; 20 of the tools are pure functions of it. */
export interface PageSnapshot {
  /** As requested. */
  readonly url: string;
  readonly finalUrl: string;
  /** Never empty; the last one is final. */
  readonly hops: readonly Hop[];
  readonly final: Hop;
  readonly body: HttpBody;
  /** Set where following stopped early though the final hop is a redirect. */
  readonly stopped: null | "loop" | "too_many_redirects" | "bad_location";
  readonly elapsedUs: number;
}

/** Requests over HTTP/1.1 and HTTP/2. */
export interface HttpPort {
  /**
   * One request with its redirect chain. failed: reasons as in net/http's documentation (timeout, refused, reset,
   * unreachable, handshake, protocol_error, headers_overflow, ...); refused: the URL or a hop of the chain;
   * invalid: a header value (field "ua") no client may send.
   */
  fetch(request: HttpRequest): Promise<Outcome<PageSnapshot>>;
}

// ---------------------------------------------------------------- TLS

/** One handshake to look at. */
export interface TlsRequest {
  readonly ip: string;
  readonly port: number;
  /** SNI; null for IP literals. */
  readonly servername: string | null;
  readonly alpn?: readonly string[];
  /** Restrict versions, e.g. both "TLSv1" to see whether 1.0 is offered. */
  readonly minVersion?: TlsVersion;
  readonly maxVersion?: TlsVersion;
  readonly timeoutMs?: number;
}

/** Node's names of the protocol versions. */
export type TlsVersion = "TLSv1" | "TLSv1.1" | "TLSv1.2" | "TLSv1.3";

/** What one handshake showed, also when it failed after the certificate had come. */
export interface TlsObservation {
  /** Null where the handshake did not complete. */
  readonly protocol: string | null;
  readonly cipher: string | null;
  readonly alpn: string | null;
  /** The version the server chose in its ServerHello, also where the handshake then failed; null where none came. */
  readonly serverVersion: TlsVersion | "SSLv3" | null;
  /** DER certificates in the order the server sent them; empty when none came. */
  readonly sent: readonly Uint8Array[];
  readonly ocspStaple: Uint8Array | null;
  readonly clientCertificateRequested: boolean;
  /** Reason the handshake or the first read after it failed, null when it stood. */
  readonly error: { readonly reason: string; readonly message: string } | null;
  readonly connectMs: number;
  readonly handshakeMs: number | null;
}

/** Handshakes and trust roots. */
export interface TlsPort {
  /** failed: stage connect before TCP stands; stage tls when no certificate came. */
  inspect(request: TlsRequest): Promise<Outcome<TlsObservation>>;
  /** DER of every root this agent trusts: Node's defaults (the bundled ones, NODE_EXTRA_CA_CERTS, the system's if asked). */
  roots(): readonly Uint8Array[];
}

// ---------------------------------------------------------------- TCP, ICMP, traceroute

/** TCP connection attempts. */
export interface TcpPort {
  /** SYN-ACK = open, RST = closed, nothing or ICMP error = filtered; rtt of the answer, null when filtered. */
  probe(
    ip: string,
    port: number,
    timeoutMs: number,
  ): Promise<{ state: "open" | "closed" | "filtered"; rttMs: number | null; reason: string | null }>;
}

/** A series of ICMP echo requests; milliseconds and octets. */
export interface EchoRequest {
  readonly ip: string;
  readonly count: number;
  readonly intervalMs: number;
  /** ICMP payload bytes, at least the 8-byte cookie. */
  readonly size: number;
  readonly ttl: number;
  /** Wait for the last reply. */
  readonly timeoutMs: number;
}

/** What became of one echo request. */
export type EchoStatus = "ok" | "timeout" | "late" | "duplicate" | "unreachable" | "ttl_exceeded" | "corrupt";

/** One reply, or the word that none came. */
export interface EchoReply {
  readonly seq: number;
  readonly rttMs: number | null;
  readonly ttl: number | null;
  readonly status: EchoStatus;
  /** ICMP code of an error reply. */
  readonly code?: number;
  /** Who sent an error reply. */
  readonly from?: string;
}

/** A finished series. */
export interface EchoRun {
  /** Every reply in order of arrival, then the timeouts. */
  readonly replies: readonly EchoReply[];
  /** Worst lag of the ICMP process's loop while this ran: bound on the error of each RTT. */
  readonly clockErrorMs: number;
}

/** ICMP echo through the raw-socket process. */
export interface IcmpPort {
  /** Which families have a raw socket; both false: offer TCP ping. */
  available(): { readonly v4: boolean; readonly v6: boolean };
  /** `onReply` is called as replies come. failed: stage request, source probe, when the socket is lost. */
  echo(request: EchoRequest, onReply: (reply: EchoReply) => void): Promise<Outcome<EchoRun>>;
}

/** One traceroute. */
export interface TraceRequest {
  readonly ip: string;
  readonly protocol: "icmp" | "udp" | "tcp";
  /** Destination port of udp (default 33434) and tcp (default 80). */
  readonly port?: number;
  readonly maxHops: number;
  readonly queries: number;
  /** Milliseconds the trace may take at most, once it has its turn; default what the deadline leaves. */
  readonly budgetMs?: number;
}

/** The answer to one probe packet. */
export interface TraceReply {
  /** Null: silence. */
  readonly ip: string | null;
  readonly rttMs: number | null;
  readonly icmpType: number | null;
  readonly icmpCode: number | null;
  readonly mpls?: readonly {
    readonly label: number;
    readonly exp: number;
    readonly s: boolean;
    readonly ttl: number;
  }[];
}

/** All answers at one distance. */
export interface TraceHop {
  readonly hop: number;
  readonly replies: readonly TraceReply[];
}

/** A finished trace. */
export interface TraceRun {
  readonly reached: boolean;
  readonly hops: readonly TraceHop[];
}

/** Traceroute by ICMP, UDP or TCP. */
export interface TracePort {
  /** Constant flow within a trace; `onHop` is called when a hop is complete, in order. Names and ASNs come after. */
  run(request: TraceRequest, onHop: (hop: TraceHop) => void): Promise<Outcome<TraceRun>>;
}
