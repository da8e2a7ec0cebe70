import { headerValues } from "#probe-agent/analysis/http/header-list.ts";
import { isRedirectStatus } from "#probe-agent/analysis/http/status.ts";
import type { HopRequest } from "#probe-agent/net/http/request.ts";
import type { ResponseHead } from "#probe-agent/net/http/response-head.ts";

/** Maximum length of a Location that is followed, in characters of the resolved URL. */
const MAX_URL_CHARS = 8192;

/** The target of a Location header. */
export interface LocationTarget {
  /** Resolved against the hop's URL, its fragment inherited; null if there is no usable one. */
  readonly location: string | null;
  /** The URL to request next; null if the response is not a redirect or its Location cannot be followed. */
  readonly next: URL | null;
}

/**
 * Parses Location. It is unusable if it is empty, longer than 8192 characters, not a URL, repeated with another value,
 * or has control characters or a backslash, which parsers read differently. Schemes other than http and https are not
 * followed.
 */
export function readLocation(head: ResponseHead, from: URL): LocationTarget {
  const values = new Set(headerValues(head.headers, "location"));
  const [raw = ""] = values;
  // oxlint-disable-next-line no-control-regex -- the expression searches for control characters
  if (values.size !== 1 || raw === "" || /[\u0000-\u001f\u007f\\]/.test(raw)) return { location: null, next: null };
  // Octets that are not ASCII are percent-encoded unchanged, UTF-8 or not.
  const ascii = raw.replaceAll(/[\u0080-\u00ff]/g, (octet) => `%${octet.charCodeAt(0).toString(16).toUpperCase()}`);
  const url = URL.parse(ascii, from.href);
  if (url === null || url.href.length > MAX_URL_CHARS) return { location: null, next: null };
  if (url.hash === "" && !ascii.includes("#")) url.hash = from.hash; // RFC 9110 section 10.2.2
  const web = url.protocol === "http:" || url.protocol === "https:";
  return { location: url.href, next: web && isRedirectStatus(head.code) ? url : null };
}

/** Returns the next request. 303, and by tradition 301 and 302, change POST to GET (Fetch, HTTP-redirect fetch). */
export function redirected(request: HopRequest, code: number, url: URL): HopRequest {
  const toGet = code === 303 ? request.method !== "HEAD" : (code === 301 || code === 302) && request.method === "POST";
  if (!toGet) return { ...request, url };
  const headers = request.headers.filter(([name]) => !/^content-/i.test(name));
  return { url, method: "GET", headers, body: null };
}
