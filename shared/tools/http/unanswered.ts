import { SOURCES } from "#shared/outcome.ts";
import { Nullable } from "#shared/tools/fields.ts";
import { count, record, text, word } from "#shared/tools/shapes.ts";

/** The request a chain of redirects came to an end at because nobody answered; words as those of a failed call. */
export const Unanswered = Nullable(
  record(
    {
      url: text("URL that was requested"),
      stage: word(["dns", "connect", "tls", "request", "response"], "How far the request got"),
      source: word(SOURCES, "Whose fault it is"),
      reason: text("Stable word, e.g. nxdomain, refused, timeout"),
      message: text("What happened, for people"),
      ms: count("How long it was tried, ms"),
    },
    "The request beyond the last response, which failed; null where every one was answered",
  ),
);
