import { parseCacheControl, type CacheControl } from "#probe-agent/analysis/http/cache-control.ts";
import { parseHttpDate } from "#probe-agent/analysis/http/http-date.ts";
import { headerElements, headerValues, joinedHeader, type HeaderPair } from "#probe-agent/analysis/http/header-list.ts";

/** Sources of a response's freshness lifetime, in order of precedence (RFC 9111 section 4.2.1). */
const FRESHNESS_SOURCES = ["s-maxage", "max-age", "expires", "heuristic"] as const;

/** How long a cache can serve a response without asking the origin. */
interface Freshness {
  readonly fresh_s: number;
  readonly from: (typeof FRESHNESS_SOURCES)[number];
}

/** What caches are allowed to do with a response (RFC 9111). */
export interface CacheReport {
  readonly cache_control: string | null;
  readonly storable: "shared" | "private" | "none";
  /** Whether a cache must check a stored copy with the origin at each use. */
  readonly always_revalidate: boolean;
  /** In a browser's cache. null if the response must not be stored, or states no lifetime and allows no estimate. */
  readonly browser: Freshness | null;
  /** In a shared cache (CDN, proxy); null as for `browser`. */
  readonly shared: Freshness | null;
  readonly age_s: number | null;
  readonly etag: string | null;
  readonly last_modified: string | null;
  readonly expires: string | null;
  readonly vary: readonly string[];
  /** Headers in which caches on the way report what they did. */
  readonly served_by: readonly { readonly header: string; readonly value: string }[];
}

/** Statuses that can be stored without explicit permission (RFC 9110 section 15.1, heuristically cacheable). */
const HEURISTIC = new Set([200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501]);
/** RFC 9111 section 4.2.2: "a typical setting of this fraction might be 10 %". */
const HEURISTIC_SHARE = 0.1;
const MAX_SECONDS = 2_147_483_648;
const MAX_TEXT = 1000;
/** Cache-Status (RFC 9211) and the headers that CDNs and proxies used before it. */
const CACHE_HEADERS = ["cache-status", "cf-cache-status", "x-cache", "x-cache-status", "x-varnish-cache"];

/** Reports how caches treat a response to a GET without credentials. `now` is the time at which it was received. */
export function cacheReport(headers: readonly HeaderPair[], code: number, now: Date): CacheReport {
  const control = parseCacheControl(headerValues(headers, "cache-control"));
  const date = (name: string): Date | null => parseHttpDate(headerValues(headers, name)[0] ?? "", now);
  const [expires, modified] = [date("expires"), date("last-modified")];
  const sentAt = date("date") ?? now;
  const hasExpires = headerValues(headers, "expires").length > 0;
  const varies = headerElements(headers, "vary");

  const storable = storableBy(control, code, hasExpires);
  const heuristic = (): Freshness | null => {
    if (!HEURISTIC.has(code) || modified === null || modified > sentAt) return null;
    return { fresh_s: whole(HEURISTIC_SHARE * secondsBetween(modified, sentAt)), from: "heuristic" };
  };
  const explicit = (): Freshness | null => {
    if (control !== null && control.maxAgeSeconds !== null) return { fresh_s: control.maxAgeSeconds, from: "max-age" };
    // An Expires that is not a date, most often "0", is a time in the past (RFC 9111 section 5.3).
    if (hasExpires) return { fresh_s: expires === null ? 0 : whole(secondsBetween(sentAt, expires)), from: "expires" };
    return heuristic();
  };
  const sharedAge = control?.sharedMaxAgeSeconds ?? null;
  const age = (headerValues(headers, "age")[0] ?? "").trim();
  return {
    cache_control: cut(joinedHeader(headers, "cache-control")),
    storable,
    always_revalidate: control?.noCache === true || varies.includes("*"),
    browser: storable === "none" ? null : explicit(),
    shared: storable !== "shared" ? null : sharedAge === null ? explicit() : { fresh_s: sharedAge, from: "s-maxage" },
    age_s: /^\d+$/.test(age) ? Math.min(MAX_SECONDS, Number(age)) : null,
    etag: cut(headerValues(headers, "etag")[0] ?? null),
    last_modified: modified?.toISOString() ?? null,
    expires: expires?.toISOString() ?? null,
    vary: varies.slice(0, 50).map((name) => name.slice(0, MAX_TEXT).toWellFormed()),
    served_by: CACHE_HEADERS.flatMap((header) => {
      const value = cut(joinedHeader(headers, header));
      return value === null ? [] : [{ header, value }];
    }),
  };
}

/** Returns which caches are allowed to store a response (RFC 9111 section 3). */
function storableBy(control: CacheControl | null, code: number, hasExpires: boolean): CacheReport["storable"] {
  if (code < 200 || control?.noStore === true) return "none";
  const said = control !== null && (control.public || control.maxAgeSeconds !== null);
  const allowed = said || hasExpires || HEURISTIC.has(code);
  if (control?.private === true) return "private";
  return allowed || (control?.sharedMaxAgeSeconds ?? null) !== null ? "shared" : "none";
}

function secondsBetween(from: Date, to: Date): number {
  return (to.getTime() - from.getTime()) / 1000;
}

function whole(seconds: number): number {
  return Math.min(MAX_SECONDS, Math.max(0, Math.floor(seconds)));
}

function cut(text: string | null): string | null {
  return text === null ? null : text.slice(0, MAX_TEXT).toWellFormed();
}
