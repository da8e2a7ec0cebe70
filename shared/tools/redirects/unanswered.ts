import { SOURCES } from "#shared/contracts/outcome.ts";
import { Nullable } from "#shared/tools/fields.ts";
import { count, record, text, word } from "#shared/tools/shapes.ts";

/** The request that ended a chain of redirects because it got no response. Same words as in a failed call. */
export const Unanswered = Nullable(
  record(
    {
      url: text("URL that was requested"),
      stage: word(["dns", "connect", "tls", "request", "response"], "How far the request got"),
      source: word(SOURCES, "Where the fault is"),
      reason: text("Stable identifier, e.g. nxdomain, refused, timeout"),
      message: text("What happened, in words"),
      ms: count("Duration of the attempt in milliseconds"),
    },
    "The request after the last response, which failed; null if every request was answered",
  ),
);
