import { Type } from "typebox";
import { defineTool } from "#shared/tools/define.ts";
import { Nullable, Url } from "#shared/tools/fields.ts";
import { CachePolicy } from "#shared/tools/http/cache-policy.ts";
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
      Type.Object({ agent: text("Crawler it is for, * for all"), directives: texts("What it says, lower case") }),
      "X-Robots-Tag headers in order",
    ),
    noindex: truth("Every crawler is asked not to list the page"),
    nofollow: truth("Every crawler is asked not to follow its links"),
  },
  "What the response's headers tell search engines; robots.txt and meta elements are not looked at",
);

/** Status code of a URL and all that its head says about it. */
export const httpStatus = defineTool({
  name: "http-status",
  title: "HTTP status",
  summary: "Status code of a URL, what it means, and timing, without following redirects",
  scope: "check",
  toolset: "web",
  target: { param: "url", kind: "url", connects: true },
  example: { url: "https://example.com" },
  open: { q: "url" },
  deadlineMs: () => 30_000,
  params: Type.Object({ url: Url({ description: "URL to request; redirects are not followed" }) }),
  result: Type.Object({
    url: text("URL as requested"),
    code: integer("HTTP status, as sent"),
    reason: text("Name of the status in the IANA registry or its vendor's; as sent where the code is unknown"),
    status_text: text("Reason phrase as sent; empty on HTTP/2"),
    class: word(
      ["informational", "success", "redirection", "client_error", "server_error", "invalid"],
      "By the first digit; invalid: outside of 100 to 599",
    ),
    ok: truth("The class is success"),
    meaning: text("What the code says, in one or two sentences"),
    registered: truth("The code is in IANA's registry"),
    vendor: Nullable(text("Product or service known for the code where it is in no registry")),
    http_version: text("1.0, 1.1 or 2"),
    ip: text("Address connected to"),
    ip_version: ipVersion(),
    port: integer("TCP port connected to"),
    timing: Timing,
    timing_us: TimingUs,
    informational: list(Type.Integer(), "1xx codes sent before the answer, in order, e.g. 103"),
    redirected: truth("The answer redirects: a 301, 302, 303, 307 or 308 with a Location"),
    location: Nullable(text("Where it leads, as an absolute URL; null without a usable Location")),
    server: Nullable(text("Server header, at most 300 characters")),
    content_type: Nullable(text("Content-Type header, at most 300 characters")),
    content_length: Nullable(count("Content-Length as sent, bytes")),
    retry_after_s: Nullable(count("Seconds the server asks to wait (Retry-After), from now; 0 for a date past")),
    cache: CachePolicy,
    robots: Robots,
    tls: Nullable(
      record(
        {
          protocol: text("Negotiated version, e.g. TLSv1.3"),
          authorized: truth("The certificate is trusted for the name"),
          error: Nullable(text("Why not: expired, self_signed, hostname_mismatch, ...")),
        },
        "The TLS session; null for http. A bad certificate does not end the check",
      ),
    ),
    findings: findings(),
    ...OBSERVED_FIELDS,
    elapsed_ms: elapsed("The whole request, ms; the sum of timing"),
  }),
  across: {
    agreeOn: ({ code }) => code,
    measure: ({ elapsed_ms, timing }) => ({ elapsed_ms, ttfb_ms: timing.ttfb_ms }),
  },
});
