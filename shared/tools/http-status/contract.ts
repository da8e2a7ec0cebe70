import { Type } from "typebox";
import { defineTool } from "#shared/tools/define.ts";
import { Nullable, Url } from "#shared/tools/fields.ts";
import { CachePolicy } from "#shared/tools/cache-policy.ts";
import {
  ipVersion,
  count,
  integer,
  list,
  OBSERVED_FIELDS,
  elapsed,
  record,
  text,
  texts,
  truth,
  word,
  findings,
} from "#shared/tools/shapes.ts";
import { Timing, TimingUs } from "#shared/tools/timing.ts";

const Robots = record(
  {
    tags: list(
      Type.Object({ agent: text("Crawler that it is for; * for all"), directives: texts("Directives, lower case") }),
      "X-Robots-Tag headers in order",
    ),
    noindex: truth("All crawlers are asked not to index the page"),
    nofollow: truth("All crawlers are asked not to follow its links"),
  },
  "X-Robots-Tag headers for search engines. robots.txt and meta elements are not examined",
);

/** Status code and headers of a URL. */
export const httpStatus = defineTool({
  name: "http-status",
  title: "HTTP status",
  summary: "Status code of a URL, its meaning, and timing, without following redirects",
  scope: "check",
  toolset: "web",
  target: { param: "url", kind: "url", connects: true },
  example: { url: "https://example.com" },
  open: { q: "url" },
  deadlineMs: () => 30_000,
  params: Type.Object({ url: Url({ description: "URL to request. Redirects are not followed" }) }),
  result: Type.Object({
    url: text("URL as requested"),
    code: integer("HTTP status, as sent"),
    reason: text("Name of the status in the IANA registry or by its vendor; as sent if the code is unknown"),
    status_text: text("Reason phrase as sent; empty on HTTP/2"),
    class: word(
      ["informational", "success", "redirection", "client_error", "server_error", "invalid"],
      "By the first digit; invalid: outside the range 100 to 599",
    ),
    ok: truth("The class is success"),
    meaning: text("Meaning of the code in one or two sentences"),
    registered: truth("The code is in IANA's registry"),
    vendor: Nullable(text("Product or service known for an unregistered code; else null")),
    http_version: text("1.0, 1.1 or 2"),
    ip: text("Address of the server"),
    ip_version: ipVersion(),
    port: integer("TCP port of the server"),
    timing: Timing,
    timing_us: TimingUs,
    informational: list(Type.Integer(), "1xx codes sent before the response, in order, e.g. 103"),
    redirected: truth("The response is a redirect: 301, 302, 303, 307 or 308 with a Location"),
    location: Nullable(text("Target of Location as an absolute URL; null without a usable Location")),
    server: Nullable(text("Server header, at most 300 characters")),
    content_type: Nullable(text("Content-Type header, at most 300 characters")),
    content_length: Nullable(count("Content-Length as sent, in bytes")),
    retry_after_s: Nullable(
      count("Seconds to wait from now, by Retry-After; 0 for a date in the past; null if absent or invalid"),
    ),
    cache: CachePolicy,
    robots: Robots,
    tls: Nullable(
      record(
        {
          protocol: text("Negotiated version, e.g. TLSv1.3"),
          authorized: truth("The certificate is trusted for the host name"),
          error: Nullable(text("Why it is not trusted: expired, self_signed, hostname_mismatch, ...; null if it is")),
        },
        "TLS session; null for http. An untrusted certificate does not stop the check",
      ),
    ),
    findings: findings(),
    ...OBSERVED_FIELDS,
    elapsed_ms: elapsed("Duration of the whole request in milliseconds; the sum of timing"),
  }),
  across: {
    agreeOn: ({ code }) => code,
    measure: ({ elapsed_ms, timing }) => ({ elapsed_ms, ttfb_ms: timing.ttfb_ms }),
  },
});
