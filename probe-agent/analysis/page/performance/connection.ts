import { headerValues, type HeaderPair } from "#probe-agent/analysis/http/header-list.ts";

/** Whether a connection serves further requests, and what tells. */
interface ConnectionReuse {
  readonly reusable: boolean | null;
  readonly why: string;
}

/**
 * By HTTP version and headers (RFC 9112 section 9.3, RFC 9113 section 9.1). Our own requests over HTTP/1 ask for the
 * connection to be closed, so that `close` in the answer says nothing of what browsers get.
 */
export function connectionReuse(httpVersion: string, headers: readonly HeaderPair[]): ConnectionReuse {
  if (httpVersion === "2") return { reusable: true, why: "HTTP/2 keeps one connection for all requests" };
  const options = headerValues(headers, "connection").flatMap((value) => value.toLowerCase().split(","));
  const kept =
    options.some((option) => option.trim() === "keep-alive") || headerValues(headers, "keep-alive").length > 0;
  if (kept) return { reusable: true, why: "the server says so (keep-alive)" };
  if (httpVersion === "1.0") return { reusable: false, why: "HTTP/1.0 closes unless it says otherwise" };
  return {
    reusable: null,
    why: `the server does not say; HTTP/${httpVersion} keeps connections unless it says otherwise`,
  };
}
