import type { HttpRequest } from "#probe-agent/port/http.ts";
import type { Invalid } from "#shared/contracts/outcome.ts";
import { isSecretField } from "#shared/text/redact.ts";
import type { RawHeader } from "#probe-agent/net/http/header-text.ts";

/** A request as both versions of HTTP send it. */
export interface WireRequest {
  readonly url: URL;
  /** Host in place of that of the URL. */
  readonly host?: string;
  /** Origin before the path, for a proxy that forwards the request (absolute-form, RFC 9112 section 3.2.2). */
  readonly origin?: string;
  readonly method: string;
  /** All fields except Host (or :authority) and Content-Length, which depend on the HTTP version. */
  readonly headers: readonly RawHeader[];
  readonly body: Uint8Array | null;
  readonly httpVersion?: "1.0";
  readonly h2c?: "prior_knowledge" | "upgrade";
}

/** The request to one hop. */
export interface HopRequest extends WireRequest {
  readonly method: HttpRequest["method"];
}

/** Fields that frame the message or select the host. Only this client sets them. */
const RESERVED = new Set([
  "host",
  "connection",
  "content-length",
  "expect",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "http2-settings",
]);

/** A token (RFC 9110 section 5.6.2). */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** A field value (RFC 9110 section 5.5), with obs-text as latin1. */
const FIELD_VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

/** Builds the header fields of the first request of a fetch. Returns `invalid` for fields that a caller cannot set. */
export function requestHeaders(
  request: HttpRequest,
  defaultUserAgent: string,
): { readonly ok: true; readonly headers: readonly RawHeader[] } | { readonly ok: false; readonly invalid: Invalid } {
  const userAgent = request.userAgent ?? defaultUserAgent;
  if (!FIELD_VALUE.test(userAgent) || userAgent.trim() === "") {
    return refuse("ua", "must be visible ASCII or latin1 text on one line");
  }
  const given = request.headers ?? [];
  for (const [name, value] of given) {
    if (!TOKEN.test(name) || !FIELD_VALUE.test(value))
      return refuse("request_headers", `${name}: is not a valid header field`);
    if (RESERVED.has(name.toLowerCase())) return refuse("request_headers", `${name} cannot be set: the client sets it`);
  }
  const own: readonly RawHeader[] = [
    ["User-Agent", userAgent.trim()],
    ["Accept", "*/*"],
    ["Accept-Encoding", "gzip, deflate, br, zstd"],
  ];
  const names = new Set(given.map(([name]) => name.toLowerCase()));
  return { ok: true, headers: [...own.filter(([name]) => !names.has(name.toLowerCase())), ...given] };
}

function refuse(field: string, message: string): { readonly ok: false; readonly invalid: Invalid } {
  return { ok: false, invalid: { status: "invalid", field, message } };
}

/**
 * Returns the request as another origin gets it: without the body and the caller's fields, because both were meant for
 * the first origin only. The Fetch standard drops nothing but Authorization there. The method stays, also that of a POST
 * after 307 or 308, which then has a length of 0 and no Content-Type.
 */
export function forOtherOrigin(request: HopRequest): HopRequest {
  const { headers, body } = request;
  const kept = headers.filter(([name]) => {
    const field = name.toLowerCase();
    return !isSecretField(field) && (body === null || field !== "content-type");
  });
  return { ...request, headers: kept, body: null };
}

/** Headers of an upgrade to HTTP/2. The settings are SETTINGS_ENABLE_PUSH 0 in base64url (RFC 7540 section 3.2.1). */
const UPGRADE_TO_H2C = ["Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAIAAAAA"];

/** Encodes a request for HTTP/1. `Connection: close`, because connections are never reused (RFC 9112 section 9.6). */
export function http1Request(request: WireRequest): Buffer {
  const { url, method, headers, body } = request;
  const keepsOpen = headers.some(([name]) => name.toLowerCase() === "connection");
  const lines = [
    `${method} ${request.origin ?? ""}${url.pathname}${url.search} HTTP/${request.httpVersion ?? "1.1"}`,
    `Host: ${request.host ?? url.host}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(hasLength(request) ? [`Content-Length: ${body?.length ?? 0}`] : []),
    ...(request.h2c === "upgrade" ? UPGRADE_TO_H2C : keepsOpen ? [] : ["Connection: close"]),
  ];
  const head = Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
  return body === null ? head : Buffer.concat([head, body]);
}

/** Returns the request's header fields for HTTP/2 (RFC 9113 section 8.3.1). Repeated fields are lists. */
export function http2Request(request: WireRequest): Record<string, string | string[]> {
  const { url, method, headers, body } = request;
  const fields: Record<string, string | string[]> = {
    ":method": method,
    ":scheme": url.protocol.slice(0, -1),
    ":authority": request.host ?? url.host,
    ":path": `${url.pathname}${url.search}`,
  };
  for (const [wireName, value] of headers) {
    const name = wireName.toLowerCase();
    const earlier = fields[name];
    fields[name] = earlier === undefined ? value : [...(Array.isArray(earlier) ? earlier : [earlier]), value];
  }
  if (hasLength(request)) fields["content-length"] = String(body?.length ?? 0);
  return fields;
}

/** Reports whether a request says its length: a method that is expected to have content says 0, too (RFC 9110 section 8.6). */
function hasLength({ method, body }: WireRequest): boolean {
  return body !== null || method === "POST" || method === "PUT" || method === "PATCH";
}
