import { isIP } from "node:net";
import type { Finding } from "#shared/contracts/findings.ts";
import { ok } from "#shared/contracts/outcome.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { urlExpand as contract } from "#shared/tools/url-expand/contract.ts";
import {
  adviseOn,
  finding,
  fitFindings,
  type AdviceTable,
  type FindingDraft,
} from "#probe-agent/analysis/text/findings.ts";
import { hopType } from "#probe-agent/analysis/web/redirect-chain.ts";
import { siteChanges } from "#probe-agent/analysis/web/redirects.ts";
import { shortenerOf } from "#probe-agent/analysis/http/shorteners.ts";
import { isSameSite } from "#probe-agent/analysis/http/same-site.ts";
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

const MAX_TITLE = 500;
/** Maximum length of a hop's URL in the result, in characters. */
const MAX_URL = 4000;
/** Maximum length of a short link's path, in characters. */
const SHORT_CHARS = 40;

const CHECK_ADDRESS = "Check the address before you enter any data there.";

/** Severity and advice for each kind of finding about a link. */
const LINK_ADVICE = {
  "destination-is-address": { severity: "info", how: CHECK_ADDRESS, reference: null },
  "destination-is-punycode": { severity: "info", how: CHECK_ADDRESS, reference: null },
  "several-shorteners": { severity: "info", how: CHECK_ADDRESS, reference: null },
} as const satisfies AdviceTable<string>;

/** Follows a short link and reports its destination. */
export const urlExpand = implement(contract, async (net, { url }) => {
  const followed = await followChain(net, { url, maxRedirects: MAX_REDIRECTS });
  return followed.status === "ok" ? ok(report(url, followed.data)) : followed;
});

function report(url: string, chain: FollowedChain): Result {
  const { steps, last, landing, stopped } = chain;
  const { url: finalUrl, code, count } = destinationOf(chain);
  const end = new URL(finalUrl);
  const urls = [...steps.map(({ hop }) => new URL(hop.url)), ...(code === null ? [end] : [])];
  const [first = end] = urls;
  const service = shortenerOf(first.hostname);
  const { downgrade, cross_domain } = siteChanges(urls);
  const isSecure = [...steps.map(({ hop }) => hop.tls?.authorized === true), ...(code === null ? [false] : [])];
  const shortenerCount = urls.filter(({ hostname }) => shortenerOf(hostname) !== null).length;
  const isAddress = isIP(end.hostname.replace(/^\[|\]$/g, "")) !== 0;
  const isPunycode = end.hostname.split(".").some((label) => label.startsWith("xn--"));
  const findings = [...destinationFindings(chain), ...linkFindings(end, { shortenerCount, isAddress, isPunycode })];
  return {
    short_url: url,
    expanded_url: finalUrl,
    expanded: count > 0,
    is_shortener: service !== null,
    service,
    looks_shortened: looksShortened(first, urls[1]),
    hops: steps.map((step, index) => ({
      n: index + 1,
      url: step.hop.url.slice(0, MAX_URL),
      code: step.hop.code,
      type: hopType(step),
      service: shortenerOf(new URL(step.hop.url).hostname),
    })),
    count,
    code,
    failure: failureRow(chain.deadEnd),
    content_type: code === null ? null : mediaType(last),
    title: landing.report.title?.slice(0, MAX_TITLE).toWellFormed() ?? null,
    clean_url: cleanUrl(end),
    tracking_params: trackingParams(end).map((param) => ({ ...param })),
    safe: {
      https: isSecure.at(-1) === true,
      https_throughout: isSecure.every(Boolean),
      downgrade,
      cross_domain_count: cross_domain.length,
      shortener_count: shortenerCount,
      loop: stopped === "loop",
      truncated: stopped === "too_many_redirects",
      to_address: isAddress,
      punycode: isPunycode,
    },
    findings: fitFindings(findings).findings,
    source: ["page"],
    observed_at: last.observedAt,
    limitations: chainLimitations(chain),
  };
}

/** Returns hints in the link itself that it may be unsafe. None of them is a proof. */
function linkFindings(
  { hostname, href }: URL,
  link: { readonly shortenerCount: number; readonly isAddress: boolean; readonly isPunycode: boolean },
): Finding[] {
  const found: FindingDraft<keyof typeof LINK_ADVICE>[] = [];
  if (link.isAddress) {
    const message = `The link leads to an IP address without a host name, ${hostname}.`;
    found.push(finding("destination-is-address", href, message));
  }
  if (link.isPunycode) {
    const message = `The host ${hostname} has characters that are not ASCII and can look like others.`;
    found.push(finding("destination-is-punycode", href, message));
  }
  if (link.shortenerCount > 1) {
    const message = `The link leads through ${link.shortenerCount} shorteners, which hide its destination.`;
    found.push(finding("several-shorteners", null, message));
  }
  return adviseOn(LINK_ADVICE, found, null);
}

/** Reports whether a link has a short path without a query and leads to a longer URL of another site. */
function looksShortened(first: URL, second: URL | undefined): boolean {
  if (second === undefined || isSameSite(first.hostname, second.hostname)) return false;
  const isShort = first.search === "" && first.pathname.length > 1 && first.pathname.length <= SHORT_CHARS;
  return isShort && second.href.length > first.href.length;
}
