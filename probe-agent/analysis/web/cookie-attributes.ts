import { parseCookieDate } from "#probe-agent/analysis/http/cookie-date.ts";

/** A SameSite value that browsers know. For other values they apply their default, mostly Lax. */
export type SameSite = "strict" | "lax" | "none";

/** A parsed Set-Cookie line, before the rules about the request are applied. */
export interface CookieLine {
  readonly name: string;
  readonly value: string;
  /** The Domain attribute without its leading dot, in lower case; null if absent or empty. */
  readonly domain: string | null;
  /** The Path attribute, which starts with "/"; null if the default path applies. */
  readonly path: string | null;
  /** Whether the line has a Path attribute, usable or not (the __Host- rule needs one). */
  readonly hasPath: boolean;
  /** null if absent or not a date; so is the next one if absent or not a number. */
  readonly expires: Date | null;
  readonly maxAgeSeconds: number | null;
  readonly secure: boolean;
  readonly httpOnly: boolean;
  readonly sameSite: SameSite | null;
  /** Whether the last SameSite attribute has an unknown or empty value. */
  readonly sameSiteInvalid: boolean;
  readonly partitioned: boolean;
  readonly priority: string | null;
}

/** Maximum length of an attribute's value in octets; longer ones are ignored (RFC 6265bis section 5.6, step 6). */
const MAX_ATTRIBUTE_OCTETS = 1024;

/** Parses a Set-Cookie line (RFC 6265bis section 5.6). Never fails: any text has a name and a value, possibly empty. */
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

/** Parses Max-Age: digits with an optional "-", else null. Limited to safe integers, not to 400 days. */
function parseMaxAge(value: string): number | null {
  if (!/^-?\d+$/.test(value)) return null;
  return Math.max(-Number.MAX_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Number(value)));
}

function parseSameSite(value: string): SameSite | null {
  const word = value.toLowerCase();
  return word === "strict" || word === "lax" || word === "none" ? word : null;
}

/** Removes spaces and tabs from both ends (WSP of RFC 5234). */
function trim(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && (text[from] === " " || text[from] === "\t")) from += 1;
  while (to > from && (text[to - 1] === " " || text[to - 1] === "\t")) to -= 1;
  return text.slice(from, to);
}
