/** A parsed Strict-Transport-Security value (RFC 6797 section 6.1). */
interface Hsts {
  /** In seconds; null if missing, repeated or not a number, which makes the whole value invalid. */
  readonly maxAge: number | null;
  readonly includeSubDomains: boolean;
  /** Whether the site requests to be in the preload list (hstspreload.org; not in the RFC). */
  readonly preload: boolean;
}

/** Six months in seconds, as 180 days, which is MDN's threshold. Half of 365 days is 15768000. */
export const HSTS_SIX_MONTHS = 15_552_000;

const DIRECTIVE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+)(?:[ \t]*=[ \t]*(?:"([^"]*)"|([!#$%&'*+.^_`|~0-9A-Za-z-]+)))?$/;

/**
 * Parses one value. Several values joined by commas are invalid: browsers use only the first header, and servers should
 * send one.
 */
export function parseHsts(value: string): Hsts {
  let maxAge: number | null = null;
  const seen = new Map<string, string>();
  let broken = value.includes(",");
  for (const part of value.slice(0, 1024).split(";")) {
    const text = part.trim();
    if (text === "") continue;
    const match = DIRECTIVE.exec(text);
    const name = match?.[1]?.toLowerCase();
    if (name === undefined || seen.has(name)) broken = true;
    else seen.set(name, match?.[2] ?? match?.[3] ?? "");
  }
  const digits = seen.get("max-age");
  if (digits !== undefined && /^\d+$/.test(digits)) maxAge = Math.min(Number(digits), Number.MAX_SAFE_INTEGER);
  return {
    maxAge: broken ? null : maxAge,
    includeSubDomains: seen.has("includesubdomains"),
    preload: seen.has("preload"),
  };
}
