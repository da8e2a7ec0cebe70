import { parseSetCookie, type Cookie } from "#probe-agent/analysis/web/cookies.ts";
import { domainMatches } from "#probe-agent/analysis/web/cookie-rejection.ts";

/**
 * The cookies of one chain of redirects. Without them, sites that redirect until a cookie is sent back would loop,
 * which does not happen in browsers.
 */
export interface CookieJar {
  /** Stores the Set-Cookie lines of a response from `url`. */
  keep(url: URL, lines: readonly string[], now: Date): void;
  /** Returns the cookies to send to `url` (RFC 6265bis section 5.8.3). */
  cookiesFor(url: URL): readonly Sent[];
}

/** A cookie in a request. */
export interface Sent {
  readonly name: string;
  /** Name and value with one character per octet, as in header fields. */
  readonly pair: string;
}

/** Maximum number of cookies kept, and maximum number of octets sent. Genuine redirects need less. */
const MAX_COOKIES = 100;
const MAX_OCTETS = 8192;

/** Creates an empty jar. */
export function createCookieJar(): CookieJar {
  const jar = new Map<string, Cookie>();
  return {
    keep(url, lines, now) {
      for (const line of lines) {
        const cookie = line.includes("\ufffd") ? null : parseSetCookie(line, url, now);
        if (cookie === null || cookie.rejected_reason !== null) continue;
        const key = JSON.stringify([cookie.name, cookie.domain, cookie.path]);
        const isExpired = cookie.expires_at !== null && cookie.expires_at.getTime() <= now.getTime();
        if (isExpired) jar.delete(key);
        else if (jar.has(key) || jar.size < MAX_COOKIES) jar.set(key, cookie);
      }
    },
    cookiesFor(url) {
      const due = [...jar.values()].filter((cookie) => isSentTo(cookie, url));
      let octets = 0;
      return due
        .toSorted((one, other) => other.path.length - one.path.length)
        .map(({ name, value }) => ({ name, pair: octetsOf(name === "" ? value : `${name}=${value}`) }))
        .filter(({ pair }) => (octets += pair.length + 2) <= MAX_OCTETS);
    },
  };
}

function isSentTo({ domain, host_only, path, secure }: Cookie, { protocol, hostname, pathname }: URL): boolean {
  if (secure && protocol !== "https:") return false;
  const host = hostname.replace(/^\[|\]$/g, "");
  if (host_only ? host !== domain : !domainMatches(host, domain)) return false;
  return pathname === path || pathname.startsWith(path.endsWith("/") ? path : `${path}/`);
}

function octetsOf(text: string): string {
  return Buffer.from(text).toString("latin1");
}
