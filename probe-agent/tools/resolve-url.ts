import { ok } from "#shared/outcome.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { resolveUrl as contract } from "#shared/tools/resolve-url.ts";
import type { Canonical } from "#probe-agent/analysis/html/canonical.ts";
import { cleanUrl, trackingParams } from "#probe-agent/analysis/http/url/tracking-params.ts";
import {
  chainLimitations,
  destinationOf,
  failureRow,
  followChain,
  MAX_REDIRECTS,
  mediaType,
  type FollowedChain,
} from "#probe-agent/sources/chain.ts";
import { implement, type Untimed } from "#probe-agent/tools/implement.ts";

type Result = Untimed<ResultOf<typeof contract>>;

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
    source: ["page"],
    observed_at: last.observedAt,
    limitations: [...chainLimitations(chain), ...aboutCanonical(canonical)],
  };
}

function aboutCanonical({ named, unusable }: Canonical): string[] {
  return [
    ...(named.length > 1 ? ["The page names several different canonical addresses, of which none counts."] : []),
    ...(unusable > 0 ? ["The page names a canonical address that is no URL of the web."] : []),
  ];
}
