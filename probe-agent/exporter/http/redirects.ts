import { headerValues } from "#probe-agent/analysis/http/header-list.ts";
import { isRedirectStatus } from "#probe-agent/analysis/http/status.ts";
import { isSecretField } from "#shared/text/redact.ts";
import type { WireRequest } from "#probe-agent/net/http/request.ts";
import type { ResponseHead } from "#probe-agent/net/http/response-head.ts";

/** Where an answer leads. broken: its Location is no URL that can be requested. */
type Redirect =
  | { readonly kind: "none" }
  /** `isUrl`: it is a URL, of a scheme that cannot be requested. */
  | { readonly kind: "broken"; readonly location: string; readonly isUrl: boolean }
  /** `isRelative`: the Location names no host, so that address and Host stay. */
  | { readonly kind: "to"; readonly url: URL; readonly location: string; readonly isRelative: boolean };

/** Maximum length of a Location that is followed. */
const LONGEST_LOCATION = 8192;

/** Reads the redirect of an answer. One without a Location is a final answer. */
export function readRedirect(head: ResponseHead, from: URL): Redirect {
  const [location = ""] = headerValues(head.headers, "location");
  if (!isRedirectStatus(head.code) || location === "") return { kind: "none" };
  const url = location.length > LONGEST_LOCATION ? null : URL.parse(location, from.href);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) {
    return { kind: "broken", location: location.slice(0, 200), isUrl: url !== null };
  }
  return {
    kind: "to",
    url,
    location: location.slice(0, 200),
    isRelative: !/^(?:[a-z][a-z0-9+.-]*:)?\/\//i.test(location),
  };
}

/**
 * Returns the next request. 301, 302 and 303 change every method but GET and HEAD to GET, without the body. Another host
 * gets no field that can be secret, which the exporter of 2022 still sends to subdomains.
 */
export function follow(
  request: WireRequest,
  code: number,
  { url, isRelative }: Extract<Redirect, { kind: "to" }>,
): WireRequest {
  const keepsMethod = code === 307 || code === 308 || request.method === "GET" || request.method === "HEAD";
  const isSameHost = isRelative || url.host === request.url.host;
  const headers = request.headers.filter(([name]) => {
    const field = name.toLowerCase();
    return field !== "referer" && field !== "cookie" && (isSameHost || !isSecretField(field));
  });
  // A page of https is not named to one of http (RFC 9110 section 10.1.3).
  const isDowngrade = request.url.protocol === "https:" && url.protocol === "http:";
  const from = new URL(request.url);
  [from.username, from.password, from.hash] = ["", "", ""];
  const { host: _host, ...rest } = request;
  return {
    ...rest,
    ...(isRelative && request.host !== undefined ? { host: request.host } : {}),
    url,
    method: keepsMethod ? request.method : "GET",
    headers: isDowngrade ? headers : [...headers, ["Referer", from.href]],
    body: keepsMethod && isSameHost ? request.body : null,
  };
}
