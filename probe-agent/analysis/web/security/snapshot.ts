/** A header as it came; repeats are entries of their own. */
export type HeaderPair = readonly [name: string, value: string];

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

/** All values of a header, in order. `name` in lower case. */
export function headerValues(headers: readonly HeaderPair[], name: string): string[] {
  return headers.filter(([one]) => one.toLowerCase() === name).map(([, value]) => value);
}

/** The values of a header as one, joined by ", " as recipients do (RFC 9110 section 5.3); null where absent. */
export function joinedHeader(headers: readonly HeaderPair[], name: string): string | null {
  const values = headerValues(headers, name);
  return values.length === 0 ? null : values.join(", ");
}
