import { Type } from "typebox";
import { MAX_ORIGIN, readOrigin } from "#shared/origin.ts";
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
      "given: the parameter's; foreign: a stranger's; null: that of sandboxed frames; prefix, suffix, unescaped_dot: look-alikes of the target's name; subdomain: a made-up one; http_downgrade: the target's own over http",
    ),
    origin: text("Origin the request carried"),
    method: word(["GET", "OPTIONS"], "Method of the request"),
    preflight: truth("It asked leave for a POST of JSON"),
    code: Nullable(integer("HTTP status; null where nobody answered")),
    acao: Nullable(text("Access-Control-Allow-Origin; null where absent")),
    acac: Nullable(text("Access-Control-Allow-Credentials; null where absent")),
    verdict: word(
      ["allowed_with_credentials", "allowed", "denied", "redirected", "rate_limited", "failed"],
      "What a browser makes of the answer (Fetch standard); rate_limited and failed tell nothing",
    ),
  },
  "One request with an Origin",
);

/** Which other origins may read a resource, tried out. */
export const cors = defineTool({
  name: "cors",
  title: "CORS policy",
  summary:
    "What a URL lets other origins do: asked with yours, a stranger's, null and look-alikes, plain and by preflight",
  scope: "check",
  toolset: "web",
  target: { param: "url", kind: "url", connects: true },
  example: { url: "https://example.com", origin: "https://example.org" },
  deadlineMs: () => 30_000,
  open: { q: "url", extra: ["origin"] },
  params: Type.Object({
    url: Url({ description: "Resource asked for; its redirects are followed once, the origins ask at their end" }),
    origin: withDefault(
      Type.String({
        minLength: 1,
        maxLength: MAX_ORIGIN,
        description: "Origin that wants to read it: scheme, host and port without a path, or null",
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
    origin: text("Origin asked with, in normal form"),
    risk: word(
      ["none", "low", "high", "critical"],
      "How far strangers get: none; low: they read public answers; high: those with a suitable origin act as the visitor; critical: any site does",
    ),
    findings: findings(),
    simple_request_allowed: Nullable(
      truth("A page of that origin may read a plain GET; null where it was not answered"),
    ),
    credentialed_request_allowed: Nullable(
      truth("The same with the visitor's cookies; null where it was not answered"),
    ),
    preflight_allowed: Nullable(truth("It may POST JSON after a preflight; null where that was not answered")),
    allow_origin: Nullable(text("Access-Control-Allow-Origin of the GET, else of the preflight; null where absent")),
    allow_credentials: truth("Access-Control-Allow-Credentials is true there"),
    allow_methods: Nullable(texts("Access-Control-Allow-Methods of the preflight; null where absent")),
    allow_headers: Nullable(texts("Access-Control-Allow-Headers of the preflight; null where absent")),
    expose_headers: Nullable(texts("Access-Control-Expose-Headers of the GET; null where absent")),
    max_age_s: Nullable(integer("Access-Control-Max-Age of the preflight, seconds; null where absent or no number")),
    vary_origin: truth("Vary of the GET names Origin, or everything"),
    probes: list(Probe, "Every request made, in order"),
    ...OBSERVED_FIELDS,
  }),
  across: {
    agreeOn: ({ risk, simple_request_allowed, preflight_allowed }) => [risk, simple_request_allowed, preflight_allowed],
    measure: () => ({}),
  },
});
