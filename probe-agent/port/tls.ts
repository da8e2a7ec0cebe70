import type { Outcome } from "#shared/contracts/outcome.ts";

/** One handshake to make. */
export interface TlsRequest {
  readonly ip: string;
  readonly port: number;
  /** SNI; null for IP literals. */
  readonly servername: string | null;
  readonly alpn?: readonly string[];
  /** Restricts the versions, e.g. both to "TLSv1" to find whether 1.0 is offered. */
  readonly minVersion?: TlsVersion;
  readonly maxVersion?: TlsVersion;
  /** Accept only signatures of such keys. A server with several certificates sends the one that matches. */
  readonly signedBy?: "RSA" | "ECDSA";
  readonly timeoutMs?: number;
}

/** Node's names of the protocol versions. */
export type TlsVersion = "TLSv1" | "TLSv1.1" | "TLSv1.2" | "TLSv1.3";

/** Result of one handshake, also if it failed after the certificate arrived. */
export interface TlsObservation {
  /** null if the handshake did not complete. */
  readonly protocol: string | null;
  readonly cipher: string | null;
  readonly alpn: string | null;
  /** Version in the server's ServerHello, also if the handshake failed later; null if no ServerHello arrived. */
  readonly serverVersion: TlsVersion | "SSLv3" | null;
  /** DER certificates in the order the server sent them; empty if none arrived. */
  readonly sent: readonly Uint8Array[];
  readonly ocspStaple: Uint8Array | null;
  readonly clientCertificateRequested: boolean;
  /** Why the handshake or the first read after it failed; null if it succeeded. */
  readonly error: { readonly reason: string; readonly message: string } | null;
  readonly connectMs: number;
  readonly handshakeMs: number | null;
}

/** Fields of a ClientHello (RFC 8446 section 4.1.2). Omitted fields are not sent. */
export interface ClientHello {
  /** legacy_version; below 0x0301 (SSL 3) no extension is sent. */
  readonly version: number;
  /** supported_versions. */
  readonly supportedVersions?: readonly number[];
  /** SNI; null for none. */
  readonly servername: string | null;
  /** Cipher suites and signals, in order of preference. */
  readonly suites: readonly number[];
  /** Compression methods. Default: only null compression. */
  readonly compression?: readonly number[];
  /** supported_groups. ec_point_formats is sent with it. */
  readonly groups?: readonly number[];
  /** Groups for which a key share is sent. If empty, the extension has no share, so that the server names a group. */
  readonly keyShares?: readonly ShareGroup[];
  readonly signatureAlgorithms?: readonly number[];
  readonly alpn?: readonly string[];
  /** An empty signed_certificate_timestamp (RFC 6962 section 3.3.1). */
  readonly signedTimestamps?: boolean;
  /** An empty renegotiation_info (RFC 5746). */
  readonly renegotiationInfo?: boolean;
  /** extended_master_secret, session_ticket, status_request and encrypt_then_mac, as browsers and OpenSSL send them. */
  readonly usualExtras?: boolean;
  /** Pads the handshake message to this many octets (RFC 7685). */
  readonly padTo?: number;
}

/** Groups for which key shares can be made: P-256 and X25519. */
export type ShareGroup = 0x0017 | 0x001d;

/** One ClientHello to send. */
export interface HelloRequest extends ClientHello {
  readonly ip: string;
  readonly port: number;
  /** Also wait for the server's certificates and key exchange, which are not encrypted up to TLS 1.2. */
  readonly flight?: boolean;
  readonly timeoutMs?: number;
}

/** Choices of the server in its ServerHello. */
export interface ServerHelloSeen {
  /** 0x0300 to 0x0304. */
  readonly version: number;
  readonly suite: number;
  /** Whether this is a HelloRetryRequest: the choice is final, only a key share is missing. */
  readonly retry: boolean;
  readonly compression: number;
  /** Numbers of the extensions, in the order sent. */
  readonly extensions: readonly number[];
  /** From key_share or, with `flight`, the named curve of ServerKeyExchange; null if neither was received. */
  readonly group: number | null;
  /** Size of the prime of an ephemeral Diffie-Hellman exchange, known with `flight`; else null. */
  readonly primeBits: number | null;
  /** Protocol that the server chose unencrypted (up to TLS 1.2), else null. */
  readonly alpn: string | null;
}

/** Response to a ClientHello. */
export interface HelloAnswer {
  readonly serverHello: ServerHelloSeen | null;
  /** The first fatal alert, else the first warning; null if there was none. */
  readonly alert: { readonly fatal: boolean; readonly description: number } | null;
  /** DER, in the order sent; only with `flight` and up to TLS 1.2. */
  readonly certificates: readonly Uint8Array[];
  /** State of the connection before we closed it. */
  readonly ending: "open" | "closed" | "reset";
}

/** Handshakes and trust roots. At most five connections of one job are open at the same time; the others wait. */
export interface TlsPort {
  /**
   * Makes one handshake. Fails with stage connect before the TCP connection is established, and with stage tls if no
   * certificate arrived.
   */
  inspect(request: TlsRequest): Promise<Outcome<TlsObservation>>;
  /**
   * Sends one ClientHello and reads the response without completing the handshake. Fails with stage connect as
   * `inspect` does, and with stage tls and timeout, plain_text or not_tls.
   */
  hello(request: HelloRequest): Promise<Outcome<HelloAnswer>>;
  /**
   * Sends one ClientHello that requests signed certificate timestamps and reads up to the certificates, over TLS 1.3
   * with key shares that it generates. Returns the list as sent (RFC 6962 section 3.3), null if there is none. Fails as
   * `hello` does, and if the server requires another key share or ends the handshake before its certificates.
   */
  timestamps(request: HelloRequest): Promise<Outcome<Uint8Array | null>>;
  /**
   * Returns the DER of every root this agent trusts: Node's defaults (the bundled roots, NODE_EXTRA_CA_CERTS, and the
   * system's if configured).
   */
  roots(): readonly Uint8Array[];
}
