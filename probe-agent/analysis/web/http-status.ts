import { parseHttpDate } from "#probe-agent/analysis/http/http-date.ts";
import { REGISTERED, type StatusMeaning } from "#probe-agent/analysis/web/http-status/registered.ts";

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
