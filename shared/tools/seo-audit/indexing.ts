import { Type } from "typebox";
import { Nullable } from "#shared/tools/fields.ts";
import { list, record, text, texts, truth, word } from "#shared/tools/shapes.ts";

/** What one robots meta element or X-Robots-Tag field says to a crawler. */
export const Directives = Type.Object({
  user_agent: text("Crawler it speaks to, lower case; * for all"),
  directives: texts("Directives in lower case, e.g. noindex or max-snippet:20"),
  unavailable_after: Nullable(text("When the page is to leave the index, ISO 8601 UTC; null without a readable date")),
  expired: Nullable(truth("That time has passed; null without one")),
});

/** The canonical address of a page. */
export const Canonical = record(
  {
    url: Nullable(text("The one address named, resolved; null where there is none, or several that differ")),
    source: Nullable(word(["html", "http_header"], "Where it stands")),
    named: texts("All that are named, as written"),
    self: Nullable(truth("It is the page's own address; null without one")),
  },
  "The address search engines are told to show",
);

/** Whether a page may be indexed, and what keeps it out. */
export const Indexable = record(
  {
    value: Nullable(truth("At least one crawler may index the page; null where robots.txt could not be read")),
    blocked_by: list(
      Type.Object({
        source: word(["robots_txt", "meta_robots", "x_robots_tag", "http_status"], "Where it is said"),
        user_agent: text("Crawler it is said to, lower case; * for all"),
        rule: text("The rule or status"),
      }),
      "What keeps the page out of an index, also of a single crawler",
    ),
    crawlers: list(
      Type.Object({
        crawler: text("Name of a search engine's crawler; * stands for any other crawler"),
        indexable: Nullable(truth("It may index the page; null where that could not be told")),
      }),
      "The same for single crawlers",
    ),
  },
  "Whether search engines may have the page in their indexes",
);
