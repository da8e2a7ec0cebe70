/** A Strict-Transport-Security value by RFC 6797 section 6.1. */
interface Hsts {
  /** Seconds; null where missing, repeated or no number: the whole value is void then. */
  readonly maxAge: number | null;
  readonly includeSubDomains: boolean;
  /** Asks for the preload list (hstspreload.org; not in the RFC). */
  readonly preload: boolean;
}

/** Half a year as it is written by many: 180 days (MDN's threshold); the whole half year is 15768000. */
export const HSTS_SIX_MONTHS = 15_552_000;

const DIRECTIVE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+)(?:[ \t]*=[ \t]*(?:"([^"]*)"|([!#$%&'*+.^_`|~0-9A-Za-z-]+)))?$/;

/** Reads one value. Several joined by commas are void: browsers heed only the first header, servers should send one. */
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
