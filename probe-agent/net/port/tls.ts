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
