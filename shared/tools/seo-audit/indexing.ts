import { Type } from "typebox";
import { Nullable } from "#shared/tools/fields.ts";
import { list, record, text, texts, truth, word } from "#shared/tools/shapes.ts";

/** Directives for one crawler or for all crawlers, from a robots meta element or X-Robots-Tag. */
export const Directives = Type.Object({
  user_agent: text("Crawler in lower case; * for all crawlers"),
  directives: texts("Directives in lower case, e.g. noindex or max-snippet:20"),
  unavailable_after: Nullable(
    text("Time at which search engines drop the page from the index, ISO 8601 UTC; null without a readable date"),
  ),
  expired: Nullable(truth("Whether that time has passed; null without a readable date")),
});

/** The canonical address of a page. */
export const Canonical = record(
  {
    url: Nullable(text("Resolved canonical address; null if there is none, or if there are several different ones")),
    source: Nullable(
      word(["html", "http_header"], "Source of the link: the head of the page or the Link header; null without one"),
    ),
    named: texts("The first 20 canonical addresses, unchanged"),
    self: Nullable(truth("Whether it is the address of the page itself; null without a canonical address")),
  },
  "Canonical address: the one that search engines are asked to show",
);

/** Whether search engines are allowed to index a page, and the rules that keep it out. */
export const Indexable = record(
  {
    value: Nullable(
      truth(
        "Whether at least one crawler is allowed to index the page; null if unknown, without a readable robots.txt",
      ),
    ),
    blocked_by: list(
      Type.Object({
        source: word(["robots_txt", "meta_robots", "x_robots_tag", "http_status"], "Source of the rule"),
        user_agent: text("Crawler that the rule is for, in lower case; * for all crawlers"),
        rule: text("The rule or status"),
      }),
      "Rules that keep the page out of the index of one or all crawlers",
    ),
    crawlers: list(
      Type.Object({
        crawler: text("Name of a search engine's crawler; * represents any other crawler"),
        indexable: Nullable(truth("Whether the crawler is allowed to index the page; null if unknown")),
      }),
      "Result for each crawler",
    ),
  },
  "Whether search engines are allowed to index the page",
);
