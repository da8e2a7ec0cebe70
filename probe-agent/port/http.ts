import type { Failed, Outcome } from "#shared/contracts/outcome.ts";
import type { Redact } from "#shared/text/redact.ts";
import type { Address, ConnectAttempt, IpVersion } from "#probe-agent/port/address.ts";

/** Methods that the engine sends. */
type HttpMethod = "GET" | "HEAD" | "POST" | "OPTIONS";

/** One request. With `follow`, redirects are followed; they see only the cookies that this chain has set. */
export interface HttpRequest {
  readonly url: string;
  readonly method: HttpMethod;
  /**
   * Added after the engine's own Host, User-Agent, Accept and Accept-Encoding. When a redirect leads to another origin,
   * all but Accept, Accept-*, User-Agent and Content-Type are dropped, and the body with its Content-Type.
   */
  readonly headers?: readonly (readonly [string, string])[];
  readonly userAgent?: string;
  readonly body?: Uint8Array;
  /** For words of servers in messages of failures. Default: unredacted, for a request without a user's secrets. */
  readonly redact?: Redact;
  readonly follow: boolean;
  /** Maximum number of redirects followed. Default: 10. */
  readonly maxRedirects?: number;
  /**
   * If a redirect leads to a server that does not answer, return the responses before it (stopped: dead_end) instead of
   * a failure.
   */
  readonly keepDeadEnd?: boolean;
  /**
   * Maximum number of decoded bytes kept of the final body. Default: 5 MiB. A longer body is `truncated` and the
   * connection is closed. 0: only the header is wanted, and the engine does not wait for the body, which an event
   * stream may not begin for hours.
   */
  readonly maxBodyBytes?: number;
  /**
   * Called with the header of the final response. Returns whether the body is needed; if not, it is left out as with
   * maxBodyBytes 0. The session of `final` is not verified a second time yet. Default: the body is needed.
   */
  readonly needsBody?: (final: Pick<Hop, "url" | "code" | "tls">) => boolean;
  /** Limit for this fetch including redirects and body, in milliseconds. The job's deadline applies in any case. */
  readonly timeoutMs?: number;
  /**
   * Limit for the final body, in milliseconds. When it ends, the body is what has arrived, with the error "timeout".
   * Without this limit, a body that does not end in time fails the fetch. A body that ends early is kept as far as it
   * arrived in both cases. A function is called when the header has arrived.
   */
  readonly bodyTimeoutMs?: number | (() => number);
  /**
   * Also connect to one address of the final host's other address family while the body is read
   * (PageSnapshot.otherFamily). The result waits for it at most 1.5 s after the header; no timing includes that wait.
   */
  readonly tryOtherFamily?: boolean;
  /** Restricts ALPN. Default: h2, then http/1.1. [] omits the extension. */
  readonly alpn?: readonly ("h2" | "http/1.1")[];
  /**
   * Send the request as an HTTP/1.0 client does (with Host, which virtual hosts need). Over TLS without ALPN unless
   * `alpn` is given.
   */
  readonly httpVersion?: "1.0";
  /**
   * HTTP/2 without TLS, only on http://: either from the first octet (prior_knowledge) or by the Upgrade header (RFC
   * 7540 section 3.2). If the server accepts the upgrade, the final response has code 101 and the server is known to
   * speak HTTP/2.
   */
  readonly h2c?: "prior_knowledge" | "upgrade";
  /**
   * Verify a chain that Node does not trust a second time, with all certificates that the server sends, which takes
   * another connection. Default: true. false for a request whose `tls` is not read.
   */
  readonly verifiesSentChain?: boolean;
  /** Skip the address rules. Only for a service URL of the operator, never for a user's URL. */
  readonly trusted?: boolean;
}

/**
 * Durations of the phases of one hop in microseconds, without gaps: dns + connect + tls + ttfb + transfer = total
 * exactly. A phase that did not happen took 0. transfer is 0 for a redirect that was followed without reading its body.
 */
export interface HopTiming {
  readonly dns: number;
  readonly connect: number;
  readonly tls: number;
  /** From the request sent to the first byte of the final (non-1xx) status line. */
  readonly ttfb: number;
  readonly transfer: number;
  readonly total: number;
}

/** TLS session of a hop. */
export interface HopTls {
  readonly protocol: string;
  readonly cipher: string;
  readonly alpn: string | null;
  /** Key exchange group as OpenSSL names it (X25519, prime256v1, X25519MLKEM768); null if there is none (RSA, DHE). */
  readonly group: string | null;
  /**
   * Whether a strict client would accept the connection, by the control plane's time. The engine continues in any case,
   * because it examines broken sites.
   */
  readonly authorized: boolean;
  /** Most severe fault, a value of ssl's trust_error. */
  readonly error: string | null;
  /**
   * DER of the certificates that the server sent, leaf first, as far as each issues the one before, followed by the
   * root if it is known.
   */
  readonly chain: readonly Uint8Array[];
  /** DER of the path to a trusted root, leaf first; empty if there is none. */
  readonly path: readonly Uint8Array[];
}

/** One response of a redirect chain, including the final one. */
export interface Hop {
  readonly url: string;
  readonly method: HttpMethod;
  readonly code: number;
  readonly statusText: string;
  /** "1.0", "1.1" or "2". */
  readonly httpVersion: string;
  readonly ip: string;
  readonly ipVersion: IpVersion;
  readonly port: number;
  readonly addresses: readonly Address[];
  readonly blocked: readonly Address[];
  /** Families whose lookup failed. */
  readonly unanswered?: readonly IpVersion[];
  /** All addresses that were tried for this hop, in order. The last one answered. */
  readonly attempts?: readonly ConnectAttempt[];
  /**
   * Headers in wire order with duplicates. Names as sent (lower case on HTTP/2), values decoded as UTF-8 if valid, else
   * as latin1.
   */
  readonly headers: readonly (readonly [string, string])[];
  /**
   * Violations of RFC 9112 in the header that were tolerated (bare_line_feed, obsolete_line_folding, ...), each once.
   */
  readonly faults: readonly string[];
  /** Codes of the 1xx responses before this one, in order. */
  readonly informational?: readonly number[];
  /** The Location header resolved against the hop's URL; null if it is absent or unusable. */
  readonly location: string | null;
  readonly timing: HopTiming;
  readonly tls: HopTls | null;
  /** Microseconds from the start of the chain to the start of this hop. */
  readonly startedAtUs: number;
}

/** Body of the final response. */
export interface HttpBody {
  /** Decoded bytes (content codings removed), at most maxBodyBytes. */
  readonly bytes: Uint8Array;
  readonly transferredBytes: number;
  readonly decodedBytes: number;
  /** Content-Encoding that was applied; null for identity. */
  readonly encoding: string | null;
  readonly truncated: boolean;
  /** SHA-256 of the decoded bytes kept, in hexadecimal. */
  readonly sha256: string;
  /**
   * Why the body could not be read (shared/tools/http-body.ts) or decoded (http/body.ts) completely; null if it was.
   */
  readonly error: string | null;
}

/** A redirect target that could not be fetched. */
export interface DeadEnd {
  readonly url: string;
  readonly failure: Failed;
  /** Time spent on it in microseconds; not part of the chain's time. */
  readonly elapsedUs: number;
}

/** Everything one fetch observed. 20 of the tools are pure functions of it. */
export interface PageSnapshot {
  /** URL as requested. */
  readonly url: string;
  readonly finalUrl: string;
  /** Never empty. The last one is final. */
  readonly hops: readonly Hop[];
  readonly final: Hop;
  readonly body: HttpBody;
  /** Why the engine stopped following although the final hop is a redirect; null if it did not. */
  readonly stopped: null | "loop" | "too_many_redirects" | "bad_location" | "dead_end";
  /**
   * Target of the final hop that did not answer (dead_end, requested by keepDeadEnd). The final hop's body is not read
   * then.
   */
  readonly deadEnd?: DeadEnd;
  readonly elapsedUs: number;
  /** Result of tryOtherFamily; null if the host has no other family or the time was too short. */
  readonly otherFamily?: ConnectAttempt | null;
}

/** Requests over HTTP/1.1 and HTTP/2. */
export interface HttpPort {
  /**
   * Sends one request and follows its redirect chain. Fails with the reasons in net/http's documentation (timeout,
   * refused, reset, unreachable, handshake, protocol_error, headers_overflow, ...). Refused if the egress rules forbid
   * the URL or a hop of the chain. Invalid for a header value (field "ua") that no client is allowed to send.
   */
  fetch(request: HttpRequest): Promise<Outcome<PageSnapshot>>;
}
