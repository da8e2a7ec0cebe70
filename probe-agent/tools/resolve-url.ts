import type { Finding } from "#shared/contracts/findings.ts";
import { ok } from "#shared/contracts/outcome.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { resolveUrl as contract } from "#shared/tools/resolve-url/contract.ts";
import type { Canonical } from "#probe-agent/analysis/html/canonical.ts";
import {
  adviseOn,
  finding,
  fitFindings,
  type AdviceTable,
  type FindingDraft,
} from "#probe-agent/analysis/text/findings.ts";
import { cleanUrl, trackingParams } from "#probe-agent/analysis/http/tracking-params.ts";
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

/** Maximum length of a URL in a finding, in characters. */
const MAX_URL = 200;

const RFC6596 = "https://www.rfc-editor.org/rfc/rfc6596";

/** Severity and advice for each kind of finding about canonical URLs, from the final URL. */
const CANONICAL_ADVICE = {
  "several-canonicals": { severity: "warning", how: declareOne, reference: RFC6596 },
  "unusable-canonical": { severity: "warning", how: declareOne, reference: RFC6596 },
  "canonical-elsewhere": { severity: "info", how: null, reference: RFC6596 },
} as const satisfies AdviceTable<string, string>;

/** Follows a URL and reports the final URL and the canonical URL of its page. */
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
    findings: fitFindings([...destinationFindings(chain), ...canonicalFindings(canonical, finalUrl)]).findings,
    source: ["page"],
    observed_at: last.observedAt,
    limitations: chainLimitations(chain),
  };
}

/** Returns findings about canonical URLs. Search engines index the canonical URL and ignore contradictory ones. */
function canonicalFindings({ url, named, unusable }: Canonical, finalUrl: string): Finding[] {
  const found: FindingDraft<keyof typeof CANONICAL_ADVICE>[] = [];
  if (named.length > 1) {
    const first = named.slice(0, 3).map((one) => one.slice(0, MAX_URL));
    const message = `The page declares ${named.length} different canonical URLs, so search engines ignore all of them: ${first.join(", ")}.`;
    found.push(finding("several-canonicals", null, message));
  }
  if (unusable > 0) {
    const message = `The page declares ${unusable} canonical addresses that are not http or https URLs.`;
    found.push(finding("unusable-canonical", null, message));
  }
  if (url !== null && url !== finalUrl) {
    const message = `The page declares another URL as canonical: search engines list ${url.slice(0, MAX_URL)} instead.`;
    found.push(finding("canonical-elsewhere", null, message));
  }
  return adviseOn(CANONICAL_ADVICE, found, finalUrl);
}

function declareOne(finalUrl: string): string {
  return `Declare one absolute URL: <link rel="canonical" href="${finalUrl.slice(0, MAX_URL)}">`;
}
