import { Type } from "typebox";
import { defineTool } from "#shared/tools/define.ts";
import { Nullable, Url } from "#shared/tools/fields.ts";
import { Unanswered } from "#shared/tools/http/unanswered.ts";
import { count, findings, integer, list, OBSERVED_FIELDS, record, text, truth, word } from "#shared/tools/shapes.ts";

/** Where a short link really leads. */
export const urlExpand = defineTool({
  name: "url-expand",
  title: "Short link expander",
  summary: "Where a short link leads, by which hops, and which of its parameters track visitors",
  scope: "check",
  toolset: "web",
  target: { param: "url", kind: "url", connects: true, echo: "short_url" },
  example: { url: "https://bit.ly/example" },
  open: { q: "url" },
  deadlineMs: () => 30_000,
  params: Type.Object({ url: Url({ description: "Link to expand" }) }),
  result: Type.Object({
    short_url: text("URL as requested"),
    expanded_url: text("URL it leads to in the end, be it one where nobody answers"),
    expanded: truth("The link leads elsewhere"),
    is_shortener: truth("The link's host is a known shortener of links"),
    service: Nullable(text("Who runs that shortener; null for a host that is not known as one")),
    looks_shortened: truth("A short address that leads to another domain, whether its host is known or not"),
    hops: list(
      Type.Object({
        n: count("Place in the chain, from 1"),
        url: text("URL that was requested, at most 4000 characters"),
        code: integer("HTTP status"),
        type: word(["http", "refresh_header", "meta", "none"], "How it leads on; none: the end"),
        service: Nullable(text("Who runs the shortener at this hop, null where none is known to")),
      }),
      "Every response in order, the final one included",
    ),
    count: count("Redirects on the way to expanded_url"),
    code: Nullable(integer("HTTP status of expanded_url; null where nobody answers there")),
    failure: Unanswered,
    content_type: Nullable(text("Media type of the last response, lower case")),
    title: Nullable(text("Title of the page it leads to, at most 500 characters")),
    clean_url: text("expanded_url without its tracking parameters"),
    tracking_params: list(
      Type.Object({ name: text("Parameter of expanded_url"), vendor: text("Who tracks by it") }),
      "Parameters that say where the click came from and change nothing of the page",
    ),
    safe: record(
      {
        https: truth("The end is reached over https with a certificate that is good"),
        https_throughout: truth("So is every hop"),
        downgrade: truth("Some hop leads from https to http"),
        cross_domain_count: count("Hops that lead to another registrable domain"),
        shortener_count: count("Hops at known shorteners; more than one hides the end"),
        loop: truth("The link leads in a circle"),
        truncated: truth("It redirects on, beyond ten hops"),
        to_address: truth("The end's host is a bare IP address"),
        punycode: truth("The end's host has characters beyond ASCII, which may look like others"),
      },
      "What can be told of its safety without a list of bad sites, which is not asked",
    ),
    findings: findings(),
    ...OBSERVED_FIELDS,
  }),
  across: {
    agreeOn: ({ expanded_url }) => expanded_url,
    measure: () => ({}),
  },
});
