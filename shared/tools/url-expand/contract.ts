import { Type } from "typebox";
import { defineTool } from "#shared/tools/define.ts";
import { Nullable, Url } from "#shared/tools/fields.ts";
import { Unanswered } from "#shared/tools/redirects/unanswered.ts";
import { count, findings, integer, list, OBSERVED_FIELDS, record, text, truth, word } from "#shared/tools/shapes.ts";

/** Destination of a short link. */
export const urlExpand = defineTool({
  name: "url-expand",
  title: "Short link expander",
  summary: "Destination of a short link, the hops to it, and the parameters that track visitors",
  scope: "check",
  toolset: "web",
  target: { param: "url", kind: "url", connects: true, echo: "short_url" },
  example: { url: "https://bit.ly/example" },
  open: { q: "url" },
  deadlineMs: () => 30_000,
  params: Type.Object({ url: Url({ description: "Link to expand" }) }),
  result: Type.Object({
    short_url: text("URL as requested"),
    expanded_url: text("URL at the end of the chain, also if it does not respond"),
    expanded: truth("The link redirects"),
    is_shortener: truth("The link's host is a known link shortener"),
    service: Nullable(text("Operator of the shortener; null if the host is not a known shortener")),
    looks_shortened: truth("The link is short and leads to a longer URL on another domain, known shortener or not"),
    hops: list(
      Type.Object({
        n: count("Position in the chain, from 1"),
        url: text("URL that was requested, at most 4000 characters"),
        code: integer("HTTP status"),
        type: word(
          ["http", "refresh_header", "meta", "none"],
          "How the response redirects; none: the end of the chain",
        ),
        service: Nullable(text("Operator of the shortener at this hop; null if the host is not a known shortener")),
      }),
      "All responses in order, the final one included",
    ),
    count: count("Number of redirects to expanded_url"),
    code: Nullable(integer("HTTP status of expanded_url; null if it does not respond")),
    failure: Unanswered,
    content_type: Nullable(text("Media type of the last response, lower case")),
    title: Nullable(text("Title of the final page, at most 500 characters")),
    clean_url: text("expanded_url without its tracking parameters"),
    tracking_params: list(
      Type.Object({ name: text("Parameter of expanded_url"), vendor: text("Vendor that tracks with it") }),
      "Parameters that record where the click came from and do not change the page",
    ),
    safe: record(
      {
        https: truth("expanded_url is reached over https with a trusted certificate"),
        https_throughout: truth("Every hop is reached over https with a trusted certificate"),
        downgrade: truth("A hop leads from https to http"),
        cross_domain_count: count("Number of hops that lead to another registrable domain"),
        shortener_count: count("Number of hops at known shorteners; several of them hide the destination"),
        loop: truth("The chain is a loop"),
        truncated: truth("The chain has more than ten redirects"),
        to_address: truth("The host of expanded_url is an IP address"),
        punycode: truth("The host of expanded_url has characters that are not ASCII and can look like others"),
      },
      "Signs of safety in the link and its redirects. No list of malicious sites is used",
    ),
    findings: findings(),
    ...OBSERVED_FIELDS,
  }),
  across: {
    agreeOn: ({ expanded_url }) => expanded_url,
    measure: () => ({}),
  },
});
