import type { HeaderPair } from "#probe-agent/analysis/http/header-list.ts";

/** What the security grade is made from; all of it handed in. */
export interface SecuritySnapshot {
  /** The page's final address. */
  readonly url: string;
  readonly status: number;
  /** The site answers over HTTPS. */
  readonly https: boolean;
  /** Its certificate is trusted for its name. */
  readonly verified: boolean;
  readonly headers: readonly HeaderPair[];
  /** Decoded body, "" where it is none. */
  readonly html: string;
  /** The chain from http://, the last entry final; [] = port 80 is closed. */
  readonly redirects: readonly { readonly url: string; readonly status: number }[];
  /** Answer to a request with this Origin; null where none was made. */
  readonly cors: null | { readonly origin: string; readonly headers: readonly HeaderPair[] };
  /** The host's entry in the HSTS preload list, null where it has none (or no list is at hand). */
  readonly hsts_preloaded: null | { readonly include_subdomains: boolean };
}
