import type { Failed, Outcome } from "#shared/contracts/outcome.ts";
import type { Redact } from "#shared/text/redact.ts";
import type { TlsObservation } from "#probe-agent/port/tls.ts";

/** The other end of a connection. */
export interface StreamTarget {
  /** A name or an address, which the rules of hosts check; or an http(s) URL, which those of URLs check. */
  readonly at: { readonly host: string; readonly port: number } | { readonly url: string };
  /**
   * Maximum number of octets received in the clear, and again under TLS. A server that sends more is not read further,
   * and `more` returns "full".
   */
  readonly maxBytes: number;
  /** For words of the server in messages. */
  readonly redact: Redact;
  /** Refuse a host of which an address is not in the operator's ranges (VANTAGE_ALLOW_TARGETS). Default: false. */
  readonly isListedOnly?: boolean;
}

/**
 * Why nothing more arrives: the server closed its side, as many octets as wanted have arrived, or the failure (reset,
 * timeout, an alert of TLS) of stage response.
 */
export type StreamEnd = "closed" | "full" | Failed;

/** A header field: name and value as latin1, one character per octet. */
type Field = readonly [name: string, value: string];

/** The head of an HTTP/1 response. */
export interface StreamHead {
  readonly code: number;
  /** Wire order and case, repeats kept. */
  readonly headers: readonly Field[];
}

/** One POST over HTTP/2. */
export interface Http2Request {
  readonly authority: string;
  readonly path: string;
  readonly headers: readonly Field[];
  readonly body: Uint8Array;
  /** Maximum number of octets of the body that are kept. A longer body ends the exchange. */
  readonly maxBodyBytes: number;
}

/** What the server answered over HTTP/2. */
export interface Http2Answer {
  /** HTTP status. */
  readonly code: number;
  readonly headers: readonly Field[];
  readonly body: Uint8Array;
  /** Whether the body is longer than the part that is kept. The trailers are not known then. */
  readonly truncated: boolean;
  /** Fields after the body; empty if there are none. */
  readonly trailers: readonly Field[];
}

/** An open connection to a vetted address. It is closed at the job's deadline. Use either its octets or HTTP/2. */
export interface Stream {
  readonly host: string;
  readonly port: number;
  /** Address of the peer. */
  readonly ip: string;
  /** Number of addresses of the host. */
  readonly addresses: number;
  /** Address of our end. */
  readonly localAddress: string;
  /** That of the target. */
  readonly redact: Redact;
  /** Duration of each phase in milliseconds; 0 for one that did not happen. */
  readonly timing: { readonly dns: number; readonly connect: number; readonly tls: number };
  /** Returns all octets that arrived since the connection, TLS or the head of a response, whichever was last. */
  received(): Buffer;
  /** Waits until more octets have arrived than at its last return, and returns null; else why there are no more. */
  more(): Promise<StreamEnd | null>;
  send(octets: Uint8Array): void;
  /**
   * Starts TLS, with the name of the host as SNI. Later octets are those of TLS. Octets that arrived before it and are
   * in `received` are lost: check that there are none. Fails with stage tls as TlsPort.inspect does; ok with an `error`
   * if the handshake failed after the certificate arrived, which ends the connection too.
   */
  secure(alpn?: readonly string[]): Promise<Outcome<TlsObservation>>;
  /**
   * Reads the head of an HTTP/1 response, informational ones left out. `received` begins after it. Fails with stage
   * response and not_http, protocol_error, headers_overflow, informational_flood, closed, reset or timeout.
   */
  readHead(): Promise<StreamHead | Failed>;
  /**
   * Sends one request over HTTP/2 and reads the whole answer. Fails with stage response and timeout, reset, closed,
   * protocol_error, headers_overflow or informational_flood.
   */
  exchangeHttp2(request: Http2Request): Promise<Http2Answer | Failed>;
  /** Closes the connection after what was sent. */
  close(): void;
}

/** Connections whose protocol a check speaks itself. */
export interface StreamPort {
  /** Sent where a protocol has a field for it. */
  readonly userAgent: string;
  /**
   * Looks up the host and connects to one of its addresses. Fails as DnsPort.resolve does, and with stage connect as
   * HttpPort does. Refused if the egress rules forbid the URL, the host or all its addresses.
   */
  open(target: StreamTarget): Promise<Outcome<Stream>>;
}
