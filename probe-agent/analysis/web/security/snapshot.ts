import type { HeaderPair } from "#probe-agent/analysis/http/header-list.ts";

/** Input of the security grade. */
export interface SecuritySnapshot {
  /** URL of the page after redirects. */
  readonly url: string;
  readonly status: number;
  /** Whether the site responds over HTTPS. */
  readonly https: boolean;
  /** Whether the certificate is trusted for the host name. */
  readonly verified: boolean;
  readonly headers: readonly HeaderPair[];
  /** Decoded body; "" if there is none. */
  readonly html: string;
  /** The redirect chain from http://, with the final URL last; [] if port 80 is closed. */
  readonly redirects: readonly { readonly url: string; readonly status: number }[];
  /** Response to a request with this Origin; null if there is none. */
  readonly cors: null | { readonly origin: string; readonly headers: readonly HeaderPair[] };
  /** The host's entry in the HSTS preload list; null if it has none or no list is available. */
  readonly hsts_preloaded: null | { readonly include_subdomains: boolean };
}
