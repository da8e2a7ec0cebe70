import { Type } from "typebox";
import { defineTool } from "#shared/tools/define.ts";
import { Nullable, Url } from "#shared/tools/fields.ts";
import { Unanswered } from "#shared/tools/redirects/unanswered.ts";
import { count, findings, integer, list, OBSERVED_FIELDS, text, texts, truth, word } from "#shared/tools/shapes.ts";

/** Final, canonical and clean form of a URL. */
export const resolveUrl = defineTool({
  name: "resolve-url",
  title: "URL resolver",
  summary: "The final, canonical and clean form of a URL",
  scope: "check",
  toolset: "web",
  target: { param: "url", kind: "url", connects: true, echo: "input" },
  example: { url: "https://example.com/?utm_source=newsletter" },
  deadlineMs: () => 30_000,
  params: Type.Object({ url: Url({ description: "URL to resolve" }) }),
  result: Type.Object({
    input: text("URL as requested"),
    normalized: text("The URL in normal form (WHATWG URL Standard)"),
    final_url: text("URL at the end of the chain, also if it does not respond"),
    canonical_url: Nullable(
      text("URL that the page declares as canonical (rel=canonical); null if it declares none, or several"),
    ),
    canonical_source: Nullable(
      word(["html", "header"], "Where canonical_url is declared: link element or Link header"),
    ),
    canonical_matches: Nullable(truth("canonical_url equals final_url; null without canonical_url")),
    canonical_candidates: texts("All canonical URLs that are declared, at most 20"),
    clean_url: text("canonical_url, else final_url, without tracking parameters"),
    tracking_params: list(
      Type.Object({ name: text("Parameter of final_url"), vendor: text("Vendor that tracks with it") }),
      "Parameters of final_url that record where the click came from and do not change the page",
    ),
    chain_length: count("Number of redirects followed, with those by Refresh header and meta element"),
    code: Nullable(integer("HTTP status of final_url; null if it does not respond")),
    failure: Unanswered,
    content_type: Nullable(text("Media type of the last response, lower case, without parameters")),
    loop: truth("The chain is a loop"),
    truncated: truth("The chain has more than ten redirects"),
    findings: findings(),
    ...OBSERVED_FIELDS,
  }),
  across: {
    agreeOn: ({ final_url, canonical_url }) => [final_url, canonical_url],
    measure: () => ({}),
  },
});
