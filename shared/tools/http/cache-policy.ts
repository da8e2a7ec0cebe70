import { Type } from "typebox";
import { Nullable } from "#shared/tools/fields.ts";
import { count, list, record, text, texts, truth, word } from "#shared/tools/shapes.ts";

const Freshness = record(
  {
    fresh_s: count("Seconds from when it was made; 0: at once stale"),
    from: word(["s-maxage", "max-age", "expires", "heuristic"], "What says so; heuristic: a tenth of its age"),
  },
  "How long a copy may be served without asking the origin",
);

/** The shape of an analysis of caching headers (probe-agent/analysis/http/cache-report.ts). */
export const CachePolicy = record(
  {
    cache_control: Nullable(text("Cache-Control as sent, at most 1000 characters")),
    storable: word(["shared", "private", "none"], "Who may keep a copy: any cache, the browser's alone, or nobody"),
    always_revalidate: truth("A copy must be checked with the origin each time it is used (no-cache, Vary: *)"),
    browser: Nullable(Freshness),
    shared: Nullable(Freshness),
    age_s: Nullable(count("Seconds it has been in caches on the way (Age)")),
    etag: Nullable(text("ETag as sent")),
    last_modified: Nullable(text("Last-Modified, ISO 8601 UTC")),
    expires: Nullable(text("Expires, ISO 8601 UTC; null where it is absent or no date")),
    vary: texts("Request headers the answer depends on, lower case"),
    served_by: list(
      Type.Object({ header: text("Its name, lower case"), value: text("Its value, at most 1000 characters") }),
      "What caches and CDNs on the way say of themselves (Cache-Status, CF-Cache-Status, X-Cache)",
    ),
  },
  "What caches may do with the response (RFC 9111)",
);
