import { http } from "#control-plane/outages/kinds/http.ts";
import type { Kind } from "#control-plane/outages/kinds/kind.ts";

/** A text of a page: an http monitor with one condition more. */
export const keyword = {
  ...http,
  label: "Keyword",
  watches: "text of a page",
  fields: [...http.fields, "keyword", "keyword_mode"],
  required: { keyword: "text to find in the body" },
} as const satisfies Kind<null>;
