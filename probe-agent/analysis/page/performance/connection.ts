import { headerValues, type HeaderPair } from "#probe-agent/analysis/http/header-list.ts";

/** Reuse of a connection for further requests, and the reason. `reusable` is null if the server does not say. */
interface ConnectionReuse {
  readonly reusable: boolean | null;
  readonly why: string;
}

/**
 * Reports by HTTP version and headers whether a connection can be reused (RFC 9112 section 9.3, RFC 9113 section 9.1).
 * Vantage's own requests over HTTP/1 ask to close the connection, so `close` in the response does not show how the
 * server treats browsers.
 */
export function connectionReuse(httpVersion: string, headers: readonly HeaderPair[]): ConnectionReuse {
  if (httpVersion === "2") return { reusable: true, why: "HTTP/2 uses one connection for all requests" };
  const options = headerValues(headers, "connection").flatMap((value) => value.toLowerCase().split(","));
  const kept =
    options.some((option) => option.trim() === "keep-alive") || headerValues(headers, "keep-alive").length > 0;
  if (kept) return { reusable: true, why: "the server sends keep-alive" };
  if (httpVersion === "1.0")
    return { reusable: false, why: "HTTP/1.0 closes the connection unless the server sends keep-alive" };
  return {
    reusable: null,
    why: `the server does not say; HTTP/${httpVersion} keeps connections open unless the server closes them`,
  };
}
