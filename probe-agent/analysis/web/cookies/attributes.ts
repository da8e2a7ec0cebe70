import { parseCookieDate } from "#probe-agent/analysis/http/cookie-date.ts";

/** SameSite as sent; null where absent or of another value (browsers then apply their default, mostly Lax). */
export type SameSite = "strict" | "lax" | "none";

/** What a Set-Cookie line says, before any rule about the request is applied. */
export interface CookieLine {
  readonly name: string;
  readonly value: string;
  /** As sent without leading dot, lower case; null where absent or empty. */
  readonly domain: string | null;
  /** Beginning with "/"; null where the default path counts. */
  readonly path: string | null;
  /** A Path attribute stood there, usable or not (the __Host- rule wants one). */
  readonly hasPath: boolean;
  readonly expires: Date | null;
  readonly maxAgeSeconds: number | null;
  readonly secure: boolean;
  readonly httpOnly: boolean;
  readonly sameSite: SameSite | null;
  /** A SameSite attribute of an unknown or empty value stood there last. */
  readonly sameSiteInvalid: boolean;
  readonly partitioned: boolean;
  readonly priority: string | null;
}

/** Octets an attribute's value may have before the attribute is ignored (RFC 6265bis section 5.6, step 6). */
const MAX_ATTRIBUTE_OCTETS = 1024;

/** Splits a Set-Cookie line by RFC 6265bis section 5.6. Never fails: anything has a name and a value, maybe empty. */
export function readCookieLine(line: string): CookieLine {
  const semicolon = line.indexOf(";");
  const pair = semicolon === -1 ? line : line.slice(0, semicolon);
  const equals = pair.indexOf("=");
  const cookie = {
    name: equals === -1 ? "" : trim(pair.slice(0, equals)),
    value: trim(equals === -1 ? pair : pair.slice(equals + 1)),
    domain: null as string | null,
    path: null as string | null,
    hasPath: false,
    expires: null as Date | null,
    maxAgeSeconds: null as number | null,
    secure: false,
    httpOnly: false,
    sameSite: null as SameSite | null,
    sameSiteInvalid: false,
    partitioned: false,
    priority: null as string | null,
  };
  if (semicolon === -1) return cookie;
  for (const attribute of line.slice(semicolon + 1).split(";")) {
    const at = attribute.indexOf("=");
    const name = trim(at === -1 ? attribute : attribute.slice(0, at)).toLowerCase();
    const value = at === -1 ? "" : trim(attribute.slice(at + 1));
    if (Buffer.byteLength(value) > MAX_ATTRIBUTE_OCTETS) continue;
    switch (name) {
      case "expires":
        cookie.expires = parseCookieDate(value) ?? cookie.expires;
        break;
      case "max-age":
        cookie.maxAgeSeconds = parseMaxAge(value) ?? cookie.maxAgeSeconds;
        break;
      case "domain":
        cookie.domain = value.replace(/^\./, "").toLowerCase() || null;
        break;
      case "path":
        cookie.hasPath = true;
        cookie.path = value.startsWith("/") ? value : null;
        break;
      case "secure":
        cookie.secure = true;
        break;
      case "httponly":
        cookie.httpOnly = true;
        break;
      case "samesite":
        cookie.sameSite = parseSameSite(value);
        cookie.sameSiteInvalid = cookie.sameSite === null;
        break;
      case "partitioned":
        cookie.partitioned = true;
        break;
      case "priority":
        cookie.priority = value.toLowerCase();
        break;
      default:
    }
  }
  return cookie;
}

/** An optional "-" and digits, else the attribute is ignored. Capped where numbers end, not at 400 days. */
function parseMaxAge(value: string): number | null {
  if (!/^-?\d+$/.test(value)) return null;
  return Math.max(-Number.MAX_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Number(value)));
}

function parseSameSite(value: string): SameSite | null {
  const word = value.toLowerCase();
  return word === "strict" || word === "lax" || word === "none" ? word : null;
}

/** Space and tab only, at both ends (WSP of RFC 5234). */
function trim(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && (text[from] === " " || text[from] === "\t")) from += 1;
  while (to > from && (text[to - 1] === " " || text[to - 1] === "\t")) to -= 1;
  return text.slice(from, to);
}
