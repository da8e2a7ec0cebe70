/** The API versions; admin, health and everything unversioned speak v4's shapes. */
export type Version = "v1" | "v2" | "v3" | "v4";

/** Deprecation of v1 and v2 (RFC 9745): a structured date, 2026-01-01T00:00:00Z. */
const DEPRECATED_SINCE = "@1767225600";

// "/api/v1/" and its like; the digit is at index 6.
const PREFIX_LENGTH = "/api/v1/".length;
const DIGIT_AT = "/api/v".length;
const VERSIONS: readonly Version[] = ["v1", "v2", "v3", "v4"];

/**
 * The version a request target belongs to: by its prefix, decoded as the router decodes it, so that `/api/%761/` is v1.
 * null: under none of the versions.
 */
export function versionOfPath(target: string): Version | null {
  const plain = prefixVersion(target);
  if (plain !== null) return plain;
  // The longest spelling of the prefix has three characters for each.
  const head = target.slice(0, PREFIX_LENGTH * 3);
  if (!head.includes("%")) return null;
  return prefixVersion(
    head.replaceAll(/%[0-9a-f]{2}/gi, (escape) => String.fromCharCode(Number.parseInt(escape.slice(1), 16))),
  );
}

function prefixVersion(target: string): Version | null {
  if (!target.startsWith("/api/v") || target.charCodeAt(PREFIX_LENGTH - 1) !== 47) return null;
  return VERSIONS[target.charCodeAt(DIGIT_AT) - 49] ?? null;
}

/** Whether a version is one of the two that are being retired. */
export function isRetiring(version: Version | null): version is "v1" | "v2" {
  return version === "v1" || version === "v2";
}

/** The header fields of every v1 and v2 answer: Deprecation (RFC 9745), Sunset (RFC 8594), and where to go (RFC 5829). */
export function retirementHeaders(target: string, sunset: Date): Readonly<Record<string, string>> {
  return {
    deprecation: DEPRECATED_SINCE,
    sunset: sunset.toUTCString(),
    link: `<${successorOf(target)}>; rel="successor-version"`,
  };
}

/** The same path under v4; the catalogue where the path is not made of plain characters. */
function successorOf(target: string): string {
  const [, rest] = /^\/api\/v[12]\/([\w./-]{1,100})(?:\?|$)/.exec(target) ?? [];
  return `/api/v4/${rest ?? "tools"}`;
}
