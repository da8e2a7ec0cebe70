/** An API version; admin, health and all paths without a version use the shapes of v4. */
export type Version = "v1" | "v2" | "v3" | "v4";

/** Deprecation of v1 and v2 (RFC 9745): a structured date, 2026-01-01T00:00:00Z. */
const DEPRECATED_SINCE = "@1767225600";

// Prefixes such as "/api/v1/"; the digit is at index 6.
const PREFIX_LENGTH = "/api/v1/".length;
const DIGIT_AT = "/api/v".length;
const VERSIONS: readonly Version[] = ["v1", "v2", "v3", "v4"];

/**
 * Returns the API version of a request target by its prefix, decoded as the router decodes it (`/api/%761/` is v1); null
 * for a path without a version.
 */
export function versionOfPath(target: string): Version | null {
  const plain = prefixVersion(target);
  if (plain !== null) return plain;
  // Fully percent-encoded, the prefix is three times as long.
  const head = target.slice(0, PREFIX_LENGTH * 3);
  if (!head.includes("%")) return null;
  return prefixVersion(
    head.replaceAll(/%[0-9a-f]{2}/gi, (escape) => String.fromCharCode(Number.parseInt(escape.slice(1), 16))),
  );
}

function prefixVersion(target: string): Version | null {
  if (!target.startsWith("/api/v") || target.charCodeAt(PREFIX_LENGTH - 1) !== 47) return null;
  const version = VERSIONS[target.charCodeAt(DIGIT_AT) - 49] ?? null;
  return version === "v2" && FOREIGN.test(target) ? null : version;
}

/** Paths of Statuspage's API v2, which a status page has on its own domain. No path of this API ends with .json. */
const FOREIGN = /^\/api\/v2\/[a-z/-]{1,40}\.json(?:\?|$)/;

/** Reports whether a version is deprecated: v1 or v2. */
export function isDeprecated(version: Version | null): version is "v1" | "v2" {
  return version === "v1" || version === "v2";
}

/** Returns the header fields of v1 and v2 answers: Deprecation (RFC 9745), Sunset (RFC 8594), successor (RFC 5829). */
export function deprecationHeaders(target: string, sunset: Date, basePath: string): Readonly<Record<string, string>> {
  return {
    deprecation: DEPRECATED_SINCE,
    sunset: sunset.toUTCString(),
    link: `<${basePath}${successorOf(target)}>; rel="successor-version"`,
  };
}

/** Returns the same path under v4; the catalogue if the path has unusual characters. */
function successorOf(target: string): string {
  const [, rest] = /^\/api\/v[12]\/([\w./-]{1,100})(?:\?|$)/.exec(target) ?? [];
  return `/api/v4/${rest ?? "tools"}`;
}
