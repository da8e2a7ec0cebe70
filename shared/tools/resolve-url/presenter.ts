import { existing, fact } from "#shared/presentation/build.ts";
import { definePresenter } from "#shared/tools/define-presenter.ts";
import { describeEnd, statusFact, trackingTable } from "#shared/tools/redirects/chain.ts";
import { cutUrl } from "#shared/presentation/values.ts";
import { listFirst } from "#shared/text/list.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { resolveUrl as contract } from "#shared/tools/resolve-url/contract.ts";

type Resolved = ResultOf<typeof contract>;

const MOST_CANDIDATES = 3;

/** resolve-url: the final URL of an address, the one that search engines list, and the one to share. */
export const resolveUrl = definePresenter(contract, (data) => {
  const { input, final_url: finalUrl, canonical_url: canonical, clean_url: clean, chain_length: count } = data;
  const end = { ...data, url: finalUrl, count };
  const elsewhere = data.canonical_matches === false && canonical !== null;
  const listed = elsewhere ? `; search engines list ${cutUrl(canonical)}` : "";
  return {
    headline: `${cutUrl(input)} ${describeEnd(end)}${listed}`,
    facts: existing(
      fact("Final URL", finalUrl),
      fact("Canonical URL", describeCanonical(data), { tone: elsewhere ? "warning" : null }),
      fact("URL to share", clean),
      statusFact(data),
      fact("Redirects", count),
      fact("No answer", data.failure?.message, { tone: "bad" }),
      fact("Declared by", canonical === null ? null : data.canonical_source === "header" ? "Link header" : "the page"),
      fact("Normal form", data.normalized === input ? null : data.normalized),
      fact("Content", data.content_type),
    ),
    tables: existing(trackingTable(data.tracking_params)),
  };
});

function describeCanonical(data: Resolved): string | null {
  const { canonical_url: url, canonical_candidates: candidates, canonical_matches: matches, code } = data;
  if (url !== null) return matches === true ? "the final URL" : url;
  if (candidates.length > 1) return `several: ${listFirst(candidates, MOST_CANDIDATES)}`;
  return code === null ? null : "none declared";
}
