import type { Version } from "#probe-agent/analysis/tls/ssl/hellos.ts";

/** Suites of one version that is offered. */
export interface SuitesSeen {
  readonly version: Version;
  /** The server's favourite first where `ranked`. */
  readonly codes: readonly number[];
  readonly ranked: boolean;
  /** Whose order decides; null where it could not be told. */
  readonly order: "server" | "client" | null;
  /** All there are. */
  readonly complete: boolean;
}

/** Groups a server takes with one version. */
export interface GroupsSeen {
  readonly version: Version;
  readonly codes: readonly number[];
  readonly complete: boolean;
}

/** How a server is configured, as far as ClientHellos brought it to light. */
export interface Configuration {
  /** Oldest first; null where it could not be told. */
  readonly versions: readonly { readonly version: Version; readonly offered: boolean | null }[];
  /** Of each version that is offered, oldest first. */
  readonly suites: readonly SuitesSeen[];
  readonly groups: readonly GroupsSeen[];
  /** Smallest Diffie-Hellman prime of its own, bits; null where none was seen. */
  readonly primeBits: number | null;
  /** Null where it could not be told. */
  readonly compression: boolean | null;
  /** Null where there is nothing to renegotiate or it could not be told. */
  readonly secureRenegotiation: boolean | null;
  /** Null where there is no lower version to fall back to, or it could not be told. */
  readonly fallbackScsv: boolean | null;
  /** The server stopped answering hellos it had answered before. */
  readonly stoppedAnswering: boolean;
  /** Connections made. */
  readonly connections: number;
}

/** What GET / over HTTPS said of Strict-Transport-Security. */
export type HstsSeen =
  | { readonly kind: "sent"; readonly value: string }
  | { readonly kind: "absent" }
  /** No web server, or an address, for which the header means nothing (RFC 6797 section 8.1.1). */
  | { readonly kind: "not_applicable"; readonly why: string }
  | { readonly kind: "unknown"; readonly why: string };
