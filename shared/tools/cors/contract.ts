import { Type } from "typebox";
import { MAX_ORIGIN, readOrigin } from "#shared/internet/origin.ts";
import { defineTool, withDefault } from "#shared/tools/define.ts";
import { Nullable, Url } from "#shared/tools/fields.ts";
import {
  findings,
  integer,
  list,
  OBSERVED_FIELDS,
  PAGE_FIELDS,
  record,
  text,
  texts,
  truth,
  word,
} from "#shared/tools/shapes.ts";

const Probe = record(
  {
    kind: word(
      ["given", "foreign", "null", "prefix", "suffix", "unescaped_dot", "subdomain", "http_downgrade"],
      "given: the parameter's; foreign: of another site; null: as sandboxed frames send it; prefix, suffix, unescaped_dot: look-alikes of the target's name; subdomain: a name that does not exist; http_downgrade: the target's own over http",
    ),
    origin: text("Origin of the request"),
    method: word(["GET", "OPTIONS"], "Method of the request"),
    preflight: truth("The request is a preflight for a POST of JSON"),
    code: Nullable(integer("HTTP status; null if there was no response")),
    acao: Nullable(text("Access-Control-Allow-Origin; null if absent")),
    acac: Nullable(text("Access-Control-Allow-Credentials; null if absent")),
    verdict: word(
      ["allowed_with_credentials", "allowed", "denied", "redirected", "rate_limited", "failed"],
      "What a browser does with the response (Fetch standard); rate_limited and failed say nothing about the policy",
    ),
  },
  "One request with an Origin",
);

/** The CORS policy of a resource, tested with several origins. */
export const cors = defineTool({
  name: "cors",
  title: "CORS policy",
  summary:
    "CORS policy of a URL, tested with your origin, a foreign one, null and look-alikes, by GET and by preflight",
  scope: "check",
  toolset: "web",
  target: { param: "url", kind: "url", connects: true },
  example: { url: "https://example.com", origin: "https://example.org" },
  deadlineMs: () => 30_000,
  open: { q: "url", extra: ["origin"] },
  params: Type.Object({
    url: Url({
      description: "Resource to test. Redirects are followed first; the origins are tested at the final URL",
    }),
    origin: withDefault(
      Type.String({
        minLength: 1,
        maxLength: MAX_ORIGIN,
        description: "Origin to test: scheme, host and port without a path, or null",
      }),
      "https://example.com",
    ),
  }),
  refine({ origin }) {
    if (readOrigin(origin) !== null) return null;
    return { field: "origin", reason: "invalid_url", message: "must be an origin: scheme://host[:port], or null" };
  },
  result: Type.Object({
    ...PAGE_FIELDS,
    origin: text("Tested origin, in normal form"),
    risk: word(
      ["none", "low", "high", "critical"],
      "Access of foreign sites. none; low: they read public responses; high: a site with a suitable origin acts as the visitor; critical: any site acts as the visitor",
    ),
    findings: findings(),
    simple_request_allowed: Nullable(
      truth("A page of that origin can read the response to a plain GET; null if there was no response"),
    ),
    credentialed_request_allowed: Nullable(
      truth("The same for a GET with the visitor's cookies; null if there was no response"),
    ),
    preflight_allowed: Nullable(truth("It can POST JSON after a preflight; null if there was no response")),
    allow_origin: Nullable(text("Access-Control-Allow-Origin of the GET, else of the preflight; null if absent")),
    allow_credentials: truth("Access-Control-Allow-Credentials of the same response is true"),
    allow_methods: Nullable(texts("Access-Control-Allow-Methods of the preflight; null if absent")),
    allow_headers: Nullable(texts("Access-Control-Allow-Headers of the preflight; null if absent")),
    expose_headers: Nullable(texts("Access-Control-Expose-Headers of the GET; null if absent")),
    max_age_s: Nullable(integer("Access-Control-Max-Age of the preflight in seconds; null if absent or not a number")),
    vary_origin: truth("Vary of the GET lists Origin or is *"),
    probes: list(Probe, "All requests, in order"),
    ...OBSERVED_FIELDS,
  }),
  across: {
    agreeOn: ({ risk, simple_request_allowed, preflight_allowed }) => [risk, simple_request_allowed, preflight_allowed],
    measure: () => ({}),
  },
});
