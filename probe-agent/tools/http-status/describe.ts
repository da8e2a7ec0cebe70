import { parseHttpDate } from "#probe-agent/analysis/http/http-date.ts";

/** Classes of RFC 9110 section 15; "invalid" for codes outside the range 100 to 599. */
const STATUS_CLASSES = ["informational", "success", "redirection", "client_error", "server_error", "invalid"] as const;
/** One of the classes. */
type StatusClass = (typeof STATUS_CLASSES)[number];

/** Description of a status code. */
interface StatusDescription {
  readonly class: StatusClass;
  /** Name by the registry or the vendor; null if no use of the code is known. */
  readonly name: string | null;
  readonly meaning: string;
  readonly registered: boolean;
  /** Product or service known for an unregistered code; else null. */
  readonly vendor: string | null;
}

/** An unregistered code. */
interface UnregisteredStatus extends StatusMeaning {
  /** Product or service known for the code. Others may use the same number for something else. */
  readonly vendor: string;
}

/**
 * Codes in use, from the vendors' own documentation: Cloudflare (error pages), nginx (ngx_http_request.h), AWS
 * (Application Load Balancer troubleshooting), IIS, Apache, cPanel, Laravel, Shopify, Spring, Esri.
 */
const UNREGISTERED: ReadonlyMap<number, UnregisteredStatus> = new Map(
  (
    [
      [218, "This is fine", "Apache", "A catch-all that lets error pages of a proxied server through."],
      [419, "Page Expired", "Laravel", "The form's CSRF token is missing or has expired."],
      [420, "Enhance Your Calm", "Twitter", "The client sent too many requests; replaced by 429."],
      [430, "Shopify Security Rejection", "Shopify", "The request was classified as malicious."],
      [440, "Login Time-out", "IIS", "The session has ended; the client must sign in again."],
      [
        444,
        "No Response",
        "nginx",
        "The server closes the connection without a response; normally visible only in its log.",
      ],
      [449, "Retry With", "IIS", "The client should retry the request with the missing information."],
      [450, "Blocked by Windows Parental Controls", "Microsoft", "Parental controls block the page."],
      [
        460,
        "Client Closed Connection",
        "AWS",
        "The client closed the connection before the load balancer had a response.",
      ],
      [463, "Too Many Forwarded Addresses", "AWS", "X-Forwarded-For has more than 30 addresses."],
      [464, "Incompatible Protocol", "AWS", "The request's protocol version does not match the target group's."],
      [494, "Request Header Too Large", "nginx", "The request header is larger than the server accepts."],
      [495, "SSL Certificate Error", "nginx", "The client's certificate is invalid."],
      [496, "SSL Certificate Required", "nginx", "The server requires a client certificate."],
      [497, "HTTP Request Sent to HTTPS Port", "nginx", "A request without TLS was sent to a TLS port."],
      [498, "Invalid Token", "Esri", "The token has expired or is invalid."],
      [499, "Client Closed Request", "nginx", "The client closed the connection before the response."],
      [509, "Bandwidth Limit Exceeded", "Apache, cPanel", "The account has exceeded its bandwidth."],
      [520, "Web Server Returned an Unknown Error", "Cloudflare", "The origin sent an invalid or unexpected response."],
      [521, "Web Server Is Down", "Cloudflare", "The origin refuses Cloudflare's connections."],
      [522, "Connection Timed Out", "Cloudflare", "The connection to the origin timed out."],
      [523, "Origin Is Unreachable", "Cloudflare", "The origin's address is unreachable."],
      [524, "A Timeout Occurred", "Cloudflare", "The origin accepted the connection but did not respond in time."],
      [525, "SSL Handshake Failed", "Cloudflare", "The TLS handshake between Cloudflare and the origin failed."],
      [526, "Invalid SSL Certificate", "Cloudflare", "The origin's certificate is invalid."],
      [527, "Railgun Error", "Cloudflare", "An error between Cloudflare and the origin's Railgun, a retired product."],
      [529, "Site Is Overloaded", "Qualys and others", "The service has more requests than it can handle."],
      [530, "Origin DNS Error or Site Frozen", "Cloudflare, Pantheon", "See the 1xxx code in the page."],
      [540, "Temporarily Disabled", "Shopify", "The requested endpoint is temporarily disabled."],
      [561, "Unauthorized", "AWS", "The identity provider rejected the sign-in."],
      [598, "Network Read Timeout", "proxies", "A proxy's read from the server behind it timed out."],
      [599, "Network Connect Timeout", "proxies", "A proxy's connection to the server behind it timed out."],
      [783, "Unexpected Token", "Shopify", "The request has a syntax error."],
      [999, "Request Denied", "LinkedIn, Yahoo", "The client is classified as a robot."],
    ] as const
  ).map(([code, name, vendor, meaning]) => [code, { name, vendor, meaning }]),
);

/** Returns the description of a code. */
export function describeStatus(code: number): StatusDescription {
  const statusClass = STATUS_CLASSES[Math.floor(code / 100) - 1] ?? "invalid";
  const registered = REGISTERED.get(code);
  if (registered !== undefined) return { class: statusClass, ...registered, registered: true, vendor: null };
  const known = UNREGISTERED.get(code);
  if (known !== undefined) return { class: statusClass, ...known, registered: false };
  const meaning =
    statusClass === "invalid"
      ? "Not an HTTP status code. Clients treat it as a server error (RFC 9110 section 15)."
      : `Not registered. Clients treat it as ${Math.floor(code / 100)}00 (RFC 9110 section 15).`;
  return { class: statusClass, name: null, meaning, registered: false, vendor: null };
}

/** Maximum wait that is reported, in seconds: ten years. */
const MAX_WAIT_S = 315_360_000;

/**
 * Returns the wait that a Retry-After requests, in seconds from `now` (RFC 9110 section 10.2.3). It is 0 for a date in
 * the past, and null for an invalid value.
 */
export function retryAfterSeconds(value: string, now: Date): number | null {
  const text = value.trim();
  if (/^\d+$/.test(text)) return Math.min(MAX_WAIT_S, Number(text));
  const date = parseHttpDate(text, now);
  if (date === null) return null;
  return Math.min(MAX_WAIT_S, Math.max(0, Math.ceil((date.getTime() - now.getTime()) / 1000)));
}

/** Name and meaning of a status code. */
interface StatusMeaning {
  readonly name: string;
  readonly meaning: string;
}

/**
 * The IANA HTTP Status Code Registry as of 2025-09-15 (https://www.iana.org/assignments/http-status-codes). The
 * meanings are ours, after RFC 9110 section 15 and the RFCs that the registry names. 104 is a temporary registration.
 */
const REGISTERED: ReadonlyMap<number, StatusMeaning> = new Map(
  (
    [
      [100, "Continue", "The server received the header and expects the rest of the request."],
      [101, "Switching Protocols", "The server switches to the protocol that the client requested with Upgrade."],
      [102, "Processing", "The server is processing a WebDAV request and has no response yet."],
      [103, "Early Hints", "Headers that the final response is likely to have, so that clients can start loading."],
      [104, "Upload Resumption Supported", "An interrupted upload can be resumed (temporary registration)."],
      [200, "OK", "The request succeeded."],
      [201, "Created", "The request created one or more new resources."],
      [202, "Accepted", "The request was accepted and is not processed yet."],
      [203, "Non-Authoritative Information", "A proxy changed the origin's response."],
      [204, "No Content", "The request succeeded and there is no content."],
      [205, "Reset Content", "The request succeeded; the client should reset the form."],
      [206, "Partial Content", "The part of the resource that Range requested."],
      [207, "Multi-Status", "Several WebDAV results in one body."],
      [208, "Already Reported", "Members of a WebDAV collection that were already listed."],
      [226, "IM Used", "The result of instance manipulations, such as a delta."],
      [
        300,
        "Multiple Choices",
        "There are several representations; the client can choose one. Browsers do not follow it.",
      ],
      [301, "Moved Permanently", "The resource has a new permanent address."],
      [302, "Found", "The resource is temporarily at another address."],
      [303, "See Other", "The client should fetch the result from another address with GET."],
      [304, "Not Modified", "The client's cached copy is still valid; a response only to conditional requests."],
      [305, "Use Proxy", "Deprecated: the resource must be requested through a proxy. Clients do not do this."],
      [306, "(Unused)", "Reserved; formerly Switch Proxy."],
      [307, "Temporary Redirect", "The resource is temporarily at another address; the method does not change."],
      [308, "Permanent Redirect", "The resource has a new permanent address; the method does not change."],
      [400, "Bad Request", "The server cannot or will not process the request because of a client error."],
      [401, "Unauthorized", "Credentials are missing or wrong; WWW-Authenticate states which are required."],
      [402, "Payment Required", "Reserved; some services use it for unpaid accounts."],
      [403, "Forbidden", "The server understood the request and refuses it. Also sent to clients classified as bots."],
      [404, "Not Found", "There is no resource at this address, or the server does not disclose it."],
      [405, "Method Not Allowed", "The resource does not support the method; Allow lists the supported ones."],
      [406, "Not Acceptable", "There is no representation that the client accepts."],
      [407, "Proxy Authentication Required", "A proxy requires credentials."],
      [408, "Request Timeout", "The server waited too long for the request."],
      [409, "Conflict", "The request conflicts with the state of the resource."],
      [410, "Gone", "The resource was removed permanently."],
      [411, "Length Required", "The server requires a Content-Length."],
      [412, "Precondition Failed", "A condition of the request is false."],
      [413, "Content Too Large", "The request body is larger than the server accepts."],
      [414, "URI Too Long", "The URL is longer than the server accepts."],
      [415, "Unsupported Media Type", "The server does not accept content of this type."],
      [416, "Range Not Satisfiable", "The resource does not have the requested range."],
      [417, "Expectation Failed", "The server cannot meet the Expect header of the request."],
      [418, "(Unused)", "Reserved; known as I'm a teapot, and used to reject bots."],
      [421, "Misdirected Request", "This server cannot respond for this host name over this connection."],
      [422, "Unprocessable Content", "The content has valid syntax but cannot be processed."],
      [423, "Locked", "The WebDAV resource is locked."],
      [424, "Failed Dependency", "A WebDAV request that this one depends on failed."],
      [425, "Too Early", "The server does not process a request that might be replayed."],
      [426, "Upgrade Required", "The server requires another protocol, which Upgrade names."],
      [428, "Precondition Required", "The server requires a conditional request."],
      [429, "Too Many Requests", "The client sent too many requests; Retry-After says how long to wait."],
      [431, "Request Header Fields Too Large", "The request header is larger than the server accepts."],
      [451, "Unavailable For Legal Reasons", "The resource is blocked by a legal demand."],
      [500, "Internal Server Error", "The server has an internal error."],
      [501, "Not Implemented", "The server does not support the method."],
      [502, "Bad Gateway", "A gateway received an invalid response from the server behind it."],
      [503, "Service Unavailable", "The server is overloaded or down for maintenance."],
      [504, "Gateway Timeout", "A gateway received no response in time from the server behind it."],
      [505, "HTTP Version Not Supported", "The server does not support this version of HTTP."],
      [506, "Variant Also Negotiates", "An error in the server's content negotiation."],
      [507, "Insufficient Storage", "The server has not enough storage for the WebDAV request."],
      [508, "Loop Detected", "A WebDAV request led to an infinite loop."],
      [510, "Not Extended (OBSOLETED)", "Obsolete: the request lacked a required extension."],
      [511, "Network Authentication Required", "The network requires a sign-in first, as captive portals do."],
    ] as const
  ).map(([code, name, meaning]) => [code, { name, meaning }]),
);
