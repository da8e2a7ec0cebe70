import type { Finding } from "#shared/findings.ts";
import { ok } from "#shared/outcome.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { resolveUrl as contract } from "#shared/tools/resolve-url.ts";
import type { Canonical } from "#probe-agent/analysis/html/canonical.ts";
import { fitFindings } from "#probe-agent/analysis/text/fitted-findings.ts";
import { cleanUrl, trackingParams } from "#probe-agent/analysis/http/url/tracking-params.ts";
import {
  chainLimitations,
  destinationFindings,
  destinationOf,
  failureRow,
  followChain,
  MAX_REDIRECTS,
  mediaType,
  type FollowedChain,
} from "#probe-agent/sources/chain.ts";
import { implement, type Untimed } from "#probe-agent/tools/implement.ts";

type Result = Untimed<ResultOf<typeof contract>>;

/** Characters of a URL within a finding. */
const MAX_URL = 200;

/** URL resolver: the chain, then what its last page calls itself. */
export const resolveUrl = implement(contract, async (net, { url }) => {
  const followed = await followChain(net, { url, maxRedirects: MAX_REDIRECTS });
  return followed.status === "ok" ? ok(report(url, followed.data)) : followed;
});

function report(input: string, chain: FollowedChain): Result {
  const { last, landing, stopped } = chain;
  const { url: finalUrl, code, count } = destinationOf(chain);
  const { canonical } = landing.report;
  const end = new URL(finalUrl);
  return {
    input,
    normalized: new URL(input).href,
    final_url: finalUrl,
    canonical_url: canonical.url,
    canonical_source: canonical.source,
    canonical_matches: canonical.url === null ? null : canonical.url === finalUrl,
    canonical_candidates: [...canonical.named],
    clean_url: cleanUrl(new URL(canonical.url ?? finalUrl)),
    tracking_params: trackingParams(end).map((param) => ({ ...param })),
    chain_length: count,
    code,
    failure: failureRow(chain.deadEnd),
    content_type: code === null ? null : mediaType(last),
    loop: stopped === "loop",
    truncated: stopped === "too_many_redirects",
    findings: fitFindings([...destinationFindings(chain), ...ofCanonical(canonical, finalUrl)]).findings,
    source: ["page"],
    observed_at: last.observedAt,
    limitations: chainLimitations(chain),
  };
}

/** Search engines fold addresses into the canonical one; what contradicts itself they ignore. */
function ofCanonical({ url, named, unusable }: Canonical, finalUrl: string): Finding[] {
  const reference = "https://www.rfc-editor.org/rfc/rfc6596";
  const how = `Name one absolute URL: <link rel="canonical" href="${finalUrl.slice(0, MAX_URL)}">`;
  const base = { how, reference, where: null };
  return [
    ...(named.length > 1
      ? [
          {
            ...base,
            id: "several-canonicals",
            severity: "warning",
            message: `The page names ${named.length} different canonical URLs, so search engines ignore them all: ${named
              .slice(0, 3)
              .map((one) => one.slice(0, MAX_URL))
              .join(", ")}.`,
          } as const,
        ]
      : []),
    ...(unusable > 0
      ? [
          {
            ...base,
            id: "unusable-canonical",
            severity: "warning",
            message: `The page names ${unusable} canonical addresses that are not http or https URLs.`,
          } as const,
        ]
      : []),
    ...(url !== null && url !== finalUrl
      ? [
          {
            ...base,
            id: "canonical-elsewhere",
            severity: "info",
            message: `The page names another URL as its canonical one: search engines list ${url.slice(0, MAX_URL)} in its place.`,
            how: null,
          } as const,
        ]
      : []),
  ];
}
