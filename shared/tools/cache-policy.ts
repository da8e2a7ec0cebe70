import { Type } from "typebox";
import { Nullable } from "#shared/tools/fields.ts";
import { count, list, record, text, texts, truth, word } from "#shared/tools/shapes.ts";

const Freshness = record(
  {
    fresh_s: count("Lifetime in seconds from when the response was generated; 0: stale immediately"),
    from: word(
      ["s-maxage", "max-age", "expires", "heuristic"],
      "Source of the lifetime; heuristic: a tenth of its age",
    ),
  },
  "How long a copy can be served without asking the origin",
);

/** Schema of the report on caching headers (probe-agent/analysis/http/cache-report.ts). */
export const CachePolicy = record(
  {
    cache_control: Nullable(text("Cache-Control as sent, at most 1000 characters")),
    storable: word(["shared", "private", "none"], "Who may store a copy: any cache, only the browser, or no cache"),
    always_revalidate: truth("A copy must be checked with the origin each time it is used (no-cache, Vary: *)"),
    browser: Nullable(Freshness),
    shared: Nullable(Freshness),
    age_s: Nullable(count("Time that the response has spent in caches, in seconds (Age)")),
    etag: Nullable(text("ETag as sent")),
    last_modified: Nullable(text("Last-Modified, ISO 8601 UTC")),
    expires: Nullable(text("Expires, ISO 8601 UTC; null if it is absent or not a date")),
    vary: texts("Request headers that the response depends on, lower case"),
    served_by: list(
      Type.Object({ header: text("Header name, lower case"), value: text("Header value, at most 1000 characters") }),
      "Headers in which caches and CDNs report what they did (Cache-Status, CF-Cache-Status, X-Cache)",
    ),
  },
  "What caches are allowed to do with the response (RFC 9111)",
);
