/** A parsed host-source (CSP3 section 2.3.1). */
export interface HostSource {
  /** Without colon; null if the page's own scheme applies. */
  readonly scheme: string | null;
  /** "*" or "*.example.com" for wildcards. */
  readonly host: string;
  /** Digits or "*"; null if the default port applies. */
  readonly port: string | null;
  /** Empty or starting with "/". A final "/" includes everything below. */
  readonly path: string;
}

const HOST_SOURCE = /^(?:([a-z][a-z0-9+.-]*):\/\/)?([^/:[\]]+|\[[0-9a-f:.]*\])(?::(\d+|\*))?(\/.*)?$/;

/** Parses a normalised host-source. Returns null for keywords, schemes, nonces, hashes and invalid text. */
export function readHostSource(source: string): HostSource | null {
  if (source.startsWith("'") || isSchemeSource(source)) return null;
  const match = HOST_SOURCE.exec(source);
  if (match === null) return null;
  return { scheme: match[1] ?? null, host: match[2] ?? "", port: match[3] ?? null, path: match[4] ?? "" };
}

/** Reports whether a source is a scheme, such as "https:". */
export function isSchemeSource(source: string): boolean {
  return /^[a-z][a-z0-9+.-]*:$/.test(source);
}

/** Reports whether a source is 'nonce-...' with any value. */
export function isNonce(source: string): boolean {
  return source.startsWith("'nonce-") && source.endsWith("'") && source.length > "'nonce-'".length;
}

/** Reports whether a source is 'sha256-...', 'sha384-...' or 'sha512-...' with any value. */
export function isHash(source: string): boolean {
  return /^'sha(?:256|384|512)-.+'$/.test(source);
}

/** Reports whether a source trusts single scripts and not a host. */
export function isNonceOrHash(source: string): boolean {
  return isNonce(source) || isHash(source);
}

/** Reports whether a source allows any host: "*", or a wildcard with a scheme or port. */
export function isWildcard(source: string): boolean {
  return readHostSource(source)?.host === "*";
}

/** Returns what two source expressions both allow, as one expression; null if that is nothing or is unknown. */
export function meetSources(one: string, other: string): string | null {
  if (one === other) return one;
  const ordered = meetOrdered(one, other);
  return ordered ?? meetOrdered(other, one);
}

const NETWORK_SCHEMES = new Set(["http", "https", "ws", "wss", "ftp"]);

function meetOrdered(wide: string, narrow: string): string | null {
  if (wide === "'unsafe-inline'") return isNonceOrHash(narrow) ? narrow : null;
  if (narrow === "'self'") return wide === "*" || wide === "https:" || wide === "http:" ? narrow : null;
  if (narrow.startsWith("'") || wide.startsWith("'") || narrow === "*") return null;
  if (isSchemeSource(narrow)) {
    const scheme = narrow.slice(0, -1);
    if (wide === "*") return NETWORK_SCHEMES.has(scheme) ? narrow : null;
    return isSchemeSource(wide) && coversScheme(wide.slice(0, -1), scheme) ? narrow : null;
  }
  const host = readHostSource(narrow);
  if (host === null) return null;
  if (isSchemeSource(wide)) return meetSchemeAndHost(wide.slice(0, -1), host, narrow);
  const wideHost = readHostSource(wide);
  return wideHost !== null && coversHost(wideHost, host) ? narrow : null;
}

function meetSchemeAndHost(scheme: string, host: HostSource, source: string): string | null {
  if (!NETWORK_SCHEMES.has(scheme)) return null;
  if (host.scheme === null) return scheme === "http" ? source : `${scheme}://${source}`;
  return coversScheme(scheme, host.scheme) ? source : coversScheme(host.scheme, scheme) ? source : null;
}

/** Reports whether a scheme includes another. An insecure scheme includes its secure form (CSP3 section 6.7.2.9). */
function coversScheme(wide: string, narrow: string): boolean {
  return wide === narrow || (wide === "http" && narrow === "https") || (wide === "ws" && narrow === "wss");
}

function coversHost(wide: HostSource, narrow: HostSource): boolean {
  if (wide.scheme !== null && (narrow.scheme === null || !coversScheme(wide.scheme, narrow.scheme))) return false;
  const suffix = wide.host.startsWith("*.") ? wide.host.slice(1) : null;
  const hostFits = wide.host === "*" || wide.host === narrow.host || (suffix !== null && narrow.host.endsWith(suffix));
  const portFits = wide.port === "*" || wide.port === narrow.port;
  return hostFits && portFits && coversPath(wide.path, narrow.path);
}

/**
 * Reports whether a path includes another (CSP3 section 6.7.2.13). An empty path includes all, a path with a final "/"
 * includes everything below, and any other path only itself.
 */
function coversPath(wide: string, narrow: string): boolean {
  return wide === "" || wide === narrow || (wide.endsWith("/") && narrow.startsWith(wide));
}
