import { Type } from "typebox";
import { Nullable } from "#shared/tools/fields.ts";
import { count, integer, list, record, text, truth } from "#shared/tools/shapes.ts";

/** The order of headings, in every tool that reports it. */
export const HEADINGS_IN_ORDER = truth(
  "Headings begin with h1 and skip no level on the way down; false without headings",
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
      Type.Object({ level: integer("1 to 6"), text: text("What it says, at most 200 characters") }),
      "The first 50 headings in the order of the page",
    ),
    outline_ok: HEADINGS_IN_ORDER,
  },
  "Headings; null where the answer is no HTML",
);

/** Images of a page, and which nobody described. */
export const Images = record(
  {
    total: count("Number of img elements"),
    missing_alt: list(
      Type.Object({ src: text("Its address as written"), line: integer("Line of the page, from 1") }),
      "The first 50 images without alt, label or a role that takes them out of the page",
    ),
    missing_alt_total: count("Number of such images"),
    decorative: count("Images with an empty alt"),
  },
  "Images; null where the answer is no HTML",
);

/** Links of a page, and which are of no use to crawlers. */
export const Links = record(
  {
    total: count("Number of a and area elements"),
    internal: count("Links to the page's own host"),
    external: count("Links to other hosts"),
    nofollow: count("Links with rel=nofollow"),
    non_descriptive: list(
      Type.Object({
        text: text("What it says"),
        url: text("Where it leads"),
        line: integer("Line of the page, from 1"),
      }),
      "The first 50 links whose text says nothing of where they lead, e.g. click here",
    ),
    non_descriptive_total: count("Number of such links"),
    uncrawlable: list(
      Type.Object({
        href: Nullable(text("href as written, null without one")),
        text: text("What it says"),
        line: integer("Line of the page, from 1"),
      }),
      "The first 50 links without an address a crawler could follow",
    ),
    uncrawlable_total: count("Number of such links"),
  },
  "Links; null where the answer is no HTML",
);
