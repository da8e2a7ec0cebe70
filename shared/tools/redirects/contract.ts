import { Type } from "typebox";
import { defineTool, withDefault } from "#shared/tools/define.ts";
import { Nullable, Url } from "#shared/tools/fields.ts";
import { Unanswered } from "#shared/tools/redirects/unanswered.ts";
import { count, findings, integer, list, OBSERVED_FIELDS, text, truth, word } from "#shared/tools/shapes.ts";

const Hop = Type.Object({
  n: count("Position in the chain, from 1"),
  url: text("URL that was requested"),
  code: integer("HTTP status"),
  type: word(
    ["http", "refresh_header", "meta", "none"],
    "How the response redirects: by status and Location, Refresh header, meta element, or not at all",
  ),
  location: Nullable(text("Target as an absolute URL; null if there is no usable one")),
  delay_s: Nullable(count("Delay of a refresh in seconds; null for other types")),
  followed: truth("The next hop is the request to its target"),
  hsts: Nullable(
    word(
      ["preloaded", "learned"],
      "Why browsers use https without this http request: by their preload list, or by HSTS of an earlier hop; else null",
    ),
  ),
  ip: text("Address of the server"),
  ms: count("Time from this request to the next one, or to the end, in milliseconds. All hops add up to total_ms"),
  http_version: text("1.0, 1.1 or 2"),
  server: Nullable(text("Server header, at most 300 characters")),
  set_cookie_count: count("Number of cookies that the response sets"),
  headers: list(
    Type.Object({ name: text("As sent; lower case on HTTP/2"), value: text("As sent") }),
    "Response headers in wire order with repeats; truncated if they are very long",
  ),
});

/** Chain of redirects from a URL to its end. */
export const redirects = defineTool({
  name: "redirects",
  title: "Redirect chain",
  summary: "Every hop from a URL to its end: redirects by HTTP, Refresh header and meta element, and their problems",
  scope: "check",
  toolset: "web",
  target: { param: "url", kind: "url", connects: true },
  example: { url: "http://example.com" },
  open: { q: "url", extra: ["max"] },
  deadlineMs: () => 30_000,
  params: Type.Object({
    url: Url({ description: "URL to start with" }),
    max: withDefault(
      Type.Integer({ minimum: 1, maximum: 30, description: "Maximum number of redirects to follow" }),
      10,
    ),
    ua: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1024,
        examples: ["Mozilla/5.0"],
        description: "User-Agent to send instead of the default",
      }),
    ),
  }),
  result: Type.Object({
    url: text("URL as requested"),
    hops: list(Hop, "All responses in order, the final one included"),
    count: count("Number of redirects followed: one less than hops"),
    total_ms: count(
      "Duration of the chain in milliseconds, without a failed request and without the delays of refreshes",
    ),
    loop: truth("The last response leads to a URL that was requested before"),
    truncated: truth("The last response is a redirect beyond max"),
    final_url: text("URL of the last response"),
    final_code: integer("HTTP status of the last response"),
    failure: Unanswered,
    https_upgrade: truth("The chain starts at http and ends at https"),
    downgrade: truth("A hop leads from https to http"),
    cross_domain: list(
      Type.Object({
        hop: count("n of the hop that leads to another domain"),
        from: text("Registrable domain, or IP address, of the hop"),
        to: text("Registrable domain, or IP address, that it leads to"),
      }),
      "Hops that lead to another registrable domain",
    ),
    findings: findings("Problems of the chain, worst first. where: the URL of the response concerned"),
    ...OBSERVED_FIELDS,
  }),
  across: {
    agreeOn: ({ hops, failure }) => [hops.map(({ url, code }) => [url, code]), failure?.reason ?? null],
    measure: ({ total_ms }) => ({ total_ms }),
  },
});
