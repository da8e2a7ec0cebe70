import { Type } from "typebox";
import { Nullable } from "#shared/tools/fields.ts";
import { count, integer, list, record, text, truth } from "#shared/tools/shapes.ts";

/** Field for the order of headings, shared by all tools that report it. */
export const HEADINGS_IN_ORDER = truth(
  "Whether headings start with h1 and skip no level downwards; false without headings",
);

/** Headings of a page. */
export const Headings = record(
  {
    h1: count("Number of h1 headings"),
    h2: count("Number of h2 headings"),
    h3: count("Number of h3 headings"),
    h4: count("Number of h4 headings"),
    h5: count("Number of h5 headings"),
    h6: count("Number of h6 headings"),
    texts: list(
      Type.Object({ level: integer("Level, 1 to 6"), text: text("First 200 characters of the text") }),
      "The first 50 headings, in page order",
    ),
    outline_ok: HEADINGS_IN_ORDER,
  },
  "Headings; null if the response is not HTML",
);

/** Images of a page, with those that have no alternative text. */
export const Images = record(
  {
    total: count("Number of img elements"),
    missing_alt: list(
      Type.Object({ src: text("src attribute, unchanged"), line: integer("Line of the page, from 1") }),
      "The first 50 visible images without alt, label, title or presentational role",
    ),
    missing_alt_total: count("Number of all such images"),
    decorative: count("Number of images with an empty alt"),
  },
  "Images; null if the response is not HTML",
);

/** Links of a page, with those that have a generic text and those that crawlers cannot follow. */
export const Links = record(
  {
    total: count("Number of a and area elements"),
    internal: count("Number of links to the host of the page"),
    external: count("Number of links to other hosts"),
    nofollow: count("Number of links with rel=nofollow"),
    non_descriptive: list(
      Type.Object({
        text: text("Text of the link"),
        url: text("Resolved address of the link"),
        line: integer("Line of the page, from 1"),
      }),
      "The first 50 links with a text that does not describe the target, e.g. click here",
    ),
    non_descriptive_total: count("Number of all such links"),
    uncrawlable: list(
      Type.Object({
        href: Nullable(text("href attribute, unchanged; null if it is absent")),
        text: text("Text of the link"),
        line: integer("Line of the page, from 1"),
      }),
      "The first 50 links without an address that crawlers can follow",
    ),
    uncrawlable_total: count("Number of all such links"),
  },
  "Links; null if the response is not HTML",
);
