import { Type } from "typebox";
import { defineTool } from "#shared/tools/define.ts";
import { Nullable, Url } from "#shared/tools/fields.ts";
import { Unanswered } from "#shared/tools/http/unanswered.ts";
import { count, findings, integer, list, OBSERVED_FIELDS, text, texts, truth, word } from "#shared/tools/shapes.ts";

/** The one address behind the many spellings of it. */
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
    input: text("URL as given"),
    normalized: text("The same as browsers write it (WHATWG URL Standard)"),
    final_url: text("URL it leads to in the end, be it one where nobody answers"),
    canonical_url: Nullable(
      text("Address the page itself names (rel=canonical); null where it names none, or several"),
    ),
    canonical_source: Nullable(word(["html", "header"], "Where: link element or Link header")),
    canonical_matches: Nullable(truth("canonical_url is final_url; null without one")),
    canonical_candidates: texts("Every canonical address that is named, at most 20"),
    clean_url: text("canonical_url, else final_url, without tracking parameters"),
    tracking_params: list(
      Type.Object({ name: text("Parameter of final_url"), vendor: text("Who tracks by it") }),
      "Parameters of final_url that say where the click came from and change nothing of the page",
    ),
    chain_length: count("Redirects followed, those by Refresh header and meta element included"),
    code: Nullable(integer("HTTP status of final_url; null where nobody answers there")),
    failure: Unanswered,
    content_type: Nullable(text("Media type of the last response, lower case, without parameters")),
    loop: truth("The URL leads in a circle"),
    truncated: truth("It redirects on, beyond ten hops"),
    findings: findings(),
    ...OBSERVED_FIELDS,
  }),
  across: {
    agreeOn: ({ final_url, canonical_url }) => [final_url, canonical_url],
    measure: () => ({}),
  },
});
