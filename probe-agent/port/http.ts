import type { Failed, Outcome } from "#shared/outcome.ts";
import type { Address, ConnectAttempt, IpVersion } from "#probe-agent/port/address.ts";

/** Methods the engine sends. */
type HttpMethod = "GET" | "HEAD" | "POST" | "OPTIONS";

/** One request, with its redirects where `follow` is set: those see the cookies that the chain has set, and it alone. */
export interface HttpRequest {
  readonly url: string;
  readonly method: HttpMethod;
  /** Added after the engine's own Host, User-Agent, Accept, Accept-Encoding. Dropped across origins when credentials. */
  readonly headers?: readonly (readonly [string, string])[];
  readonly userAgent?: string;
  readonly body?: Uint8Array;
  readonly follow: boolean;
  /** Redirects followed at most; default 10. */
  readonly maxRedirects?: number;
  /** Where a redirect leads to nobody who answers, the responses before are the outcome (stopped: dead_end), not a failure. */
  readonly keepDeadEnd?: boolean;
  /**
   * Decoded bytes kept of the final body; default 5 MiB. More: `truncated`, and the connection is closed. 0: the head is
   * all that is wanted; no body is waited for, which an event stream may not begin for hours.
   */
  readonly maxBodyBytes?: number;
  /** For this fetch alone, redirects and body included, milliseconds; the job's deadline holds in any case. */
  readonly timeoutMs?: number;
  /**
   * Longest time for the final body, milliseconds; then the body is what has arrived, with the error "timeout". Without
   * it, a body that does not end in time fails the fetch. A body that breaks off is kept as far as it arrived either way.
   */
  readonly bodyTimeoutMs?: number;
  /**
   * Also connect to one address of the final host's other family, while the body is read: PageSnapshot.otherFamily. The
   * answer waits for it at most 1.5 s from the head on, which no timing shows.
   */
  readonly tryOtherFamily?: boolean;
  /** Restrict ALPN; default h2 then http/1.1. [] leaves the extension out. */
  readonly alpn?: readonly ("h2" | "http/1.1")[];
  /** Ask as an HTTP/1.0 client does (with Host, which virtual hosts need); over TLS without ALPN unless `alpn` is given. */
  readonly httpVersion?: "1.0";
  /**
   * HTTP/2 without TLS, on http:// alone: spoken from the first octet on, or asked for by Upgrade (RFC 7540 section 3.2).
   * A server that takes the upgrade is a final response of code 101, and has been seen to speak HTTP/2.
   */
  readonly h2c?: "prior_knowledge" | "upgrade";
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
  /** Group of the key exchange as OpenSSL names it (X25519, prime256v1, X25519MLKEM768); null for none (RSA, DHE). */
  readonly group: string | null;
  /** Whether a strict client would go on, by the control plane's time; the connection does (we look at broken sites). */
  readonly authorized: boolean;
  /** The gravest fault, a word of ssl's trust_error. */
  readonly error: string | null;
  /** DER of the certificates sent, leaf first, as far as they lead to each other, and the root where it is known. */
  readonly chain: readonly Uint8Array[];
  /** DER of the path to a trusted root, leaf first; empty where there is none. */
  readonly path: readonly Uint8Array[];
}

/** One response of a chain, the final one included. */
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
  /** Families whose look-up failed. */
  readonly unanswered?: readonly IpVersion[];
  /** Every address tried for this hop, in order; the last one answered. */
  readonly attempts?: readonly ConnectAttempt[];
  /** In wire order, repeats kept, names as sent (lower case on HTTP/2), values decoded as latin1 or UTF-8 where valid. */
  readonly headers: readonly (readonly [string, string])[];
  /** Breaches of RFC 9112 in the head that were read over (bare_line_feed, obsolete_line_folding, ...), each once. */
  readonly faults: readonly string[];
  /** Codes of the 1xx responses before this one, in order. */
  readonly informational?: readonly number[];
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
  /** Why the body could not be read (shared/tools/http/body.ts) or decoded (http/body.ts) to its end, null when it was. */
  readonly error: string | null;
}

/** A request within a chain that failed. */
export interface DeadEnd {
  readonly url: string;
  readonly failure: Failed;
  /** How long it was tried, microseconds; no part of the chain's time. */
  readonly elapsedUs: number;
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
  readonly stopped: null | "loop" | "too_many_redirects" | "bad_location" | "dead_end";
  /** Where the final hop leads and nobody answered (dead_end, asked for by keepDeadEnd); its body was not read then. */
  readonly deadEnd?: DeadEnd;
  readonly elapsedUs: number;
  /** Asked for by tryOtherFamily; null where the host has no other family, or there was not the time to tell. */
  readonly otherFamily?: ConnectAttempt | null;
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
