import type { Outcome } from "#shared/outcome.ts";

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
  /** Take signatures of these keys alone: servers with several certificates send the one that fits. */
  readonly signedBy?: "RSA" | "ECDSA";
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

/** A ClientHello, field by field (RFC 8446 section 4.1.2); what is left out is not sent. */
export interface ClientHello {
  /** legacy_version; below 0x0301 (SSL 3) no extension is sent. */
  readonly version: number;
  /** supported_versions. */
  readonly supportedVersions?: readonly number[];
  /** SNI; null for none. */
  readonly servername: string | null;
  /** Cipher suites and signals, in order of preference. */
  readonly suites: readonly number[];
  /** Compression methods; default null compression alone. */
  readonly compression?: readonly number[];
  /** supported_groups; with it goes ec_point_formats. */
  readonly groups?: readonly number[];
  /** Groups of which a key share is sent; empty: the extension without a share, so that the server names a group. */
  readonly keyShares?: readonly ShareGroup[];
  readonly signatureAlgorithms?: readonly number[];
  readonly alpn?: readonly string[];
  /** An empty signed_certificate_timestamp (RFC 6962 section 3.3.1). */
  readonly signedTimestamps?: boolean;
  /** An empty renegotiation_info (RFC 5746). */
  readonly renegotiationInfo?: boolean;
  /** extended_master_secret, session_ticket, status_request and encrypt_then_mac, as browsers and OpenSSL send them. */
  readonly usualExtras?: boolean;
  /** The handshake message is filled up to this many octets (RFC 7685). */
  readonly padTo?: number;
}

/** Groups of which key shares can be made: P-256 and X25519. */
export type ShareGroup = 0x0017 | 0x001d;

/** One ClientHello to send. */
export interface HelloRequest extends ClientHello {
  readonly ip: string;
  readonly port: number;
  /** Wait for the server's certificates and key exchange too, which stand in the clear up to TLS 1.2. */
  readonly flight?: boolean;
  readonly timeoutMs?: number;
}

/** What the server chose. */
export interface ServerHelloSeen {
  /** 0x0300 ... 0x0304. */
  readonly version: number;
  readonly suite: number;
  /** A HelloRetryRequest: the choice stands, a key share is missing. */
  readonly retry: boolean;
  readonly compression: number;
  /** Numbers of the extensions, in the order sent. */
  readonly extensions: readonly number[];
  /** From key_share or, with `flight`, the named curve of ServerKeyExchange; null where none was seen. */
  readonly group: number | null;
  /** Size of the prime of an ephemeral Diffie-Hellman exchange, seen with `flight`; else null. */
  readonly primeBits: number | null;
  /** Chosen in the clear (up to TLS 1.2), else null. */
  readonly alpn: string | null;
}

/** What came back for a ClientHello. */
export interface HelloAnswer {
  readonly serverHello: ServerHelloSeen | null;
  /** The first fatal alert, else the first warning; null for none. */
  readonly alert: { readonly fatal: boolean; readonly description: number } | null;
  /** DER, in the order sent; only with `flight` and up to TLS 1.2. */
  readonly certificates: readonly Uint8Array[];
  /** What the server did with the connection before we closed it. */
  readonly ending: "open" | "closed" | "reset";
}

/** Handshakes and trust roots. At most five connections of one job are under way at once, the others wait. */
export interface TlsPort {
  /** failed: stage connect before TCP stands; stage tls when no certificate came. */
  inspect(request: TlsRequest): Promise<Outcome<TlsObservation>>;
  /**
   * Sends one ClientHello and reads what is answered; nothing is agreed. failed: stage connect as for `inspect`; stage
   * tls with timeout, plain_text or not_tls.
   */
  hello(request: HelloRequest): Promise<Outcome<HelloAnswer>>;
  /**
   * Sends one ClientHello that asks for signed certificate timestamps and reads up to the certificates, over TLS 1.3 with key
   * shares of its own: the list as sent (RFC 6962 section 3.3), null for none. failed: as `hello`, and where the server
   * wants another key share or ends the handshake before its certificates.
   */
  timestamps(request: HelloRequest): Promise<Outcome<Uint8Array | null>>;
  /** DER of every root this agent trusts: Node's defaults (the bundled ones, NODE_EXTRA_CA_CERTS, the system's if asked). */
  roots(): readonly Uint8Array[];
}
