import { Type } from "typebox";
import { defineTool, withDefault } from "#shared/tools/define.ts";
import { Nullable, Url } from "#shared/tools/fields.ts";
import { Unanswered } from "#shared/tools/http/unanswered.ts";
import { count, findings, integer, list, OBSERVED_FIELDS, text, truth, word } from "#shared/tools/shapes.ts";

const Hop = Type.Object({
  n: count("Place in the chain, from 1"),
  url: text("URL that was requested"),
  code: integer("HTTP status"),
  type: word(
    ["http", "refresh_header", "meta", "none"],
    "How the response sends on: status and Location, Refresh header, meta element, or not at all",
  ),
  location: Nullable(text("Where it leads, as an absolute URL; null where it says nothing usable")),
  delay_s: Nullable(count("Seconds a refresh wants to wait; null for other types")),
  followed: truth("The next hop is where it leads"),
  hsts: Nullable(
    word(
      ["preloaded", "learned"],
      "A browser never makes this http request: it goes to https by its preload list, or by what an earlier hop said",
    ),
  ),
  ip: text("Address connected to"),
  ms: count("From this request's start to the next one's, or to the end, ms; all hops add up to total_ms"),
  http_version: text("1.0, 1.1 or 2"),
  server: Nullable(text("Server header, at most 300 characters")),
  set_cookie_count: count("Cookies the response sets"),
  headers: list(
    Type.Object({ name: text("As sent; lower case on HTTP/2"), value: text("As sent") }),
    "Response headers in wire order, repeats kept; cut where they are very long",
  ),
});

/** The chain of redirects from a URL to its end. */
export const redirects = defineTool({
  name: "redirects",
  title: "Redirect chain",
  summary:
    "Every hop from a URL to its end: redirects by HTTP, Refresh header and meta element, and what is wrong with them",
  scope: "check",
  toolset: "web",
  target: { param: "url", kind: "url", connects: true },
  example: { url: "http://example.com" },
  open: { q: "url", extra: ["max"] },
  deadlineMs: () => 30_000,
  params: Type.Object({
    url: Url({ description: "URL to begin with" }),
    max: withDefault(Type.Integer({ minimum: 1, maximum: 30, description: "Redirects followed at most" }), 10),
    ua: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1024,
        examples: ["Mozilla/5.0"],
        description: "User-Agent to send instead of ours",
      }),
    ),
  }),
  result: Type.Object({
    url: text("URL as requested"),
    hops: list(Hop, "Every response in order, the final one included"),
    count: count("Redirects followed: one less than hops"),
    total_ms: count("The whole chain, ms, without what failed and the delays of refreshes, which are not waited for"),
    loop: truth("The last response leads to a URL that was there before"),
    truncated: truth("The last response redirects on, beyond max"),
    final_url: text("URL of the last response"),
    final_code: integer("Its HTTP status"),
    failure: Unanswered,
    https_upgrade: truth("Begins at http and ends at https"),
    downgrade: truth("Some hop leads from https to http"),
    cross_domain: list(
      Type.Object({
        hop: count("n of the hop that leads away"),
        from: text("Registrable domain, or address, it leads away from"),
        to: text("The one it leads to"),
      }),
      "Hops that lead to another registrable domain",
    ),
    findings: findings("What is wrong with the chain, worst first; where: the URL of the response that shows it"),
    ...OBSERVED_FIELDS,
  }),
  across: {
    agreeOn: ({ hops, failure }) => [hops.map(({ url, code }) => [url, code]), failure?.reason ?? null],
    measure: ({ total_ms }) => ({ total_ms }),
  },
});
