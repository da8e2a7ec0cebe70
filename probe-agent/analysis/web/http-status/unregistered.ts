import type { StatusMeaning } from "#probe-agent/analysis/web/http-status/registered.ts";

/** A code that is in no registry, and who gives it. */
interface UnregisteredStatus extends StatusMeaning {
  /** Product or service known for it; others may use the same number for something else. */
  readonly vendor: string;
}

/**
 * Codes seen in the wild, from the vendors' own documentation: Cloudflare (error pages), nginx (ngx_http_request.h), AWS
 * (Application Load Balancer troubleshooting), IIS, Apache, cPanel, Laravel, Shopify, Spring, Esri.
 */
export const UNREGISTERED: ReadonlyMap<number, UnregisteredStatus> = new Map(
  (
    [
      [218, "This is fine", "Apache", "A catch-all that lets error pages of a proxied server through."],
      [419, "Page Expired", "Laravel", "The form's token against forgery is missing or too old."],
      [420, "Enhance Your Calm", "Twitter", "The client asked too often; 429 took its place."],
      [430, "Shopify Security Rejection", "Shopify", "The request was taken for malicious."],
      [440, "Login Time-out", "IIS", "The session has ended; the client must sign in again."],
      [444, "No Response", "nginx", "The server closes without an answer; seen where a proxy shows its log's code."],
      [449, "Retry With", "IIS", "The client should send the request again with what is missing."],
      [450, "Blocked by Windows Parental Controls", "Microsoft", "Parental controls keep the page from being shown."],
      [460, "Client Closed Connection", "AWS", "The client left before the load balancer had an answer."],
      [463, "Too Many Forwarded Addresses", "AWS", "X-Forwarded-For has more than 30 addresses."],
      [464, "Incompatible Protocol", "AWS", "The request's protocol version does not fit the target group's."],
      [494, "Request Header Too Large", "nginx", "The request's head is larger than the server takes."],
      [495, "SSL Certificate Error", "nginx", "The client's certificate is not good."],
      [496, "SSL Certificate Required", "nginx", "The server wants a client certificate."],
      [497, "HTTP Request Sent to HTTPS Port", "nginx", "The port speaks TLS and was spoken to without."],
      [498, "Invalid Token", "Esri", "The token has expired or is not good."],
      [499, "Client Closed Request", "nginx", "The client left before there was an answer."],
      [509, "Bandwidth Limit Exceeded", "Apache, cPanel", "The account has used up its traffic."],
      [520, "Web Server Returned an Unknown Error", "Cloudflare", "The origin gave an answer that makes no sense."],
      [521, "Web Server Is Down", "Cloudflare", "The origin refuses Cloudflare's connections."],
      [522, "Connection Timed Out", "Cloudflare", "No connection to the origin in time."],
      [523, "Origin Is Unreachable", "Cloudflare", "There is no way to the origin's address."],
      [524, "A Timeout Occurred", "Cloudflare", "The origin took the request and did not answer in time."],
      [525, "SSL Handshake Failed", "Cloudflare", "No TLS session between Cloudflare and the origin."],
      [526, "Invalid SSL Certificate", "Cloudflare", "The origin's certificate is not good."],
      [527, "Railgun Error", "Cloudflare", "A fault between Cloudflare and the origin's Railgun, a retired product."],
      [529, "Site Is Overloaded", "Qualys and others", "The service has more requests than it can take."],
      [530, "Origin DNS Error or Site Frozen", "Cloudflare, Pantheon", "See the 1xxx code in the page."],
      [540, "Temporarily Disabled", "Shopify", "The requested endpoint is off for now."],
      [561, "Unauthorized", "AWS", "The identity provider refused the sign-in."],
      [598, "Network Read Timeout", "proxies", "A proxy's read from the server behind it timed out."],
      [599, "Network Connect Timeout", "proxies", "A proxy's connection to the server behind it timed out."],
      [783, "Unexpected Token", "Shopify", "The request has a syntax error."],
      [999, "Request Denied", "LinkedIn, Yahoo", "The client is taken for a robot."],
    ] as const
  ).map(([code, name, vendor, meaning]) => [code, { name, vendor, meaning }]),
);
