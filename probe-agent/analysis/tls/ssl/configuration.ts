import type { Version } from "#probe-agent/analysis/tls/ssl/hellos.ts";

/** Cipher suites that a server accepts with one version. */
export interface SuitesSeen {
  readonly version: Version;
  /** IANA numbers; in the server's order of preference if `ranked`. */
  readonly codes: readonly number[];
  readonly ranked: boolean;
  /** Whether the server's or the client's order of preference decides; null if unknown. */
  readonly order: "server" | "client" | null;
  /** Whether `codes` contains all suites. */
  readonly complete: boolean;
}

/** Groups that a server accepts with one version. */
export interface GroupsSeen {
  readonly version: Version;
  /** IANA numbers. */
  readonly codes: readonly number[];
  /** Whether `codes` contains all groups. */
  readonly complete: boolean;
}

/** Configuration of a server, as its answers to ClientHellos show it. */
export interface Configuration {
  /** Oldest first. `offered` is null if unknown. */
  readonly versions: readonly { readonly version: Version; readonly offered: boolean | null }[];
  /** One entry for each version offered, oldest first. */
  readonly suites: readonly SuitesSeen[];
  readonly groups: readonly GroupsSeen[];
  /** Smallest Diffie-Hellman prime that the server chose before TLS 1.3, in bits; null if none was seen. */
  readonly primeBits: number | null;
  /** Whether the server compresses records; null if unknown. */
  readonly compression: boolean | null;
  /** Whether the server supports RFC 5746; null if it has only TLS 1.3, or if unknown. */
  readonly secureRenegotiation: boolean | null;
  /** Whether the server refuses fallbacks (RFC 7507); null if it has no lower version, or if unknown. */
  readonly fallbackScsv: boolean | null;
  /** Whether the server stopped answering ClientHellos that it had answered before. */
  readonly stoppedAnswering: boolean;
  /** Number of connections made. */
  readonly connections: number;
}

/** Strict-Transport-Security in the answer to GET / over HTTPS. */
export type HstsSeen =
  | { readonly kind: "sent"; readonly value: string }
  | { readonly kind: "absent" }
  /** The host is an address, for which browsers ignore the header (RFC 6797 section 8.1.1), or it has no web server. */
  | { readonly kind: "not_applicable"; readonly why: string }
  | { readonly kind: "unknown"; readonly why: string };
