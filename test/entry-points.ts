import { validate, type AnsweredQuestion, type Verdict } from "#probe-agent/tools/dns/dnssec.ts";
import type { Question, Reply } from "#probe-agent/tools/dns/dnssec/session.ts";
import { readHtml } from "#probe-agent/analysis/html/read-page.ts";
import { carbonReport } from "#probe-agent/analysis/page/carbon.ts";
import { locateData } from "#probe-agent/analysis/page/html-metadata.ts";
import { readSocialTags, type SocialTags } from "#probe-agent/analysis/page/structured/open-graph.ts";
import { detectWatched } from "#probe-agent/analysis/page/tech.ts";
import { compileRules } from "#probe-agent/analysis/page/tech/compile.ts";
import type { TechRules } from "#probe-agent/analysis/page/tech/rule.ts";
import type { TechPage } from "#probe-agent/analysis/page/tech/subject.ts";
import type { Technology } from "#probe-agent/analysis/page/tech/technology.ts";
import { createMatcher } from "#probe-agent/analysis/web/robots/match.ts";
import { parseRobots } from "#probe-agent/analysis/web/robots/parse.ts";
import { robotsPath } from "#probe-agent/analysis/web/robots/path.ts";
import type { TrustAnchor } from "#probe-agent/port/dns.ts";

// The pure cores as vectors and corpora call them, wherever the product keeps them: texts and records in, data out.

export { toCanonicalJson as canonicalize } from "#shared/json/canonical.ts";
export { checkTargetUrl, classifyAddress } from "#shared/internet/egress.ts";
export { signStandard, signV2 } from "#shared/webhooks/signature.ts";
export { transition } from "#control-plane/outages/state/transition.ts";
export { deadline } from "#control-plane/watching/heartbeats/deadline.ts";
export { decodeMessage } from "#probe-agent/dns-codec/message.ts";
export { analyseHeaders } from "#probe-agent/tools/email-header/analyse.ts";
export { evaluateSpf } from "#probe-agent/tools/email-header/spf.ts";
export { rttStatistics } from "#probe-agent/analysis/network/statistics.ts";
export { parseWhois } from "#probe-agent/tools/whois/parse.ts";
export { verifyChain } from "#probe-agent/analysis/tls/certificate.ts";
export { parseSetCookie } from "#probe-agent/analysis/web/cookies.ts";
export { analyseCsp } from "#probe-agent/analysis/web/csp.ts";
export { gradeSecurity } from "#probe-agent/analysis/web/security-headers.ts";

/**
 * Reports whether a robots.txt allows any of `agents` (product tokens, e.g. "Googlebot") to fetch `url`, by RFC 9309
 * with the extensions of Google's open-source parser. The groups of all named agents are combined. If no agent is
 * named, the "*" groups apply. An empty agent matches only "*". `url` must be escaped; an empty or invalid URL means
 * "/".
 */
export function robotsAllowed(robotsTxt: string | Uint8Array, agents: readonly string[], url: string): boolean {
  return createMatcher(parseRobots(robotsTxt), robotsPath(url))(agents).allowed;
}

/** Returns the emissions of one visit that transfers `bytes`, grams of CO2 equivalent. */
export function co2PerVisit(bytes: number, green = false): number {
  return carbonReport(bytes, green).co2e_g_per_visit;
}

/** Reads JSON-LD, microdata and RDFa of a page; faults, including parts that cannot be parsed, by their position. */
export function structuredData(html: string, url: string) {
  const { json_ld, microdata, rdfa, errors } = locateData(readHtml(html), url);
  return {
    json_ld: json_ld.map(({ value }) => value),
    microdata: microdata.map(({ value }) => value),
    rdfa: rdfa.map(({ value }) => value),
    errors: errors.map(({ message, position }) => ({ message, position })),
  };
}

/** Reads the Open Graph and X card properties of a page, in document order, repeats included. */
export function openGraph(html: string, _url: string): SocialTags {
  return readSocialTags(readHtml(html));
}

/** Rules as two objects of the format's JSON. */
export interface RuleObjects {
  readonly technologies: Readonly<Record<string, unknown>>;
  readonly categories?: Readonly<Record<string, unknown>>;
}

/** Detects the technologies of a page, sorted by confidence. */
export function detect(page: TechPage, rules: TechRules | RuleObjects): Technology[] {
  return detectWatched(page, "byName" in rules ? rules : compileObjects(rules)).technologies;
}

function compileObjects({ technologies, categories = {} }: RuleObjects): TechRules {
  return compileRules({ technologies: Object.entries(technologies), categories: Object.entries(categories) });
}

/**
 * Validates answers when all records are already available. `lookup` returns the answer to a DS or DNSKEY question, or
 * null if there is none; then the verdict is indeterminate.
 */
export function validateRecords(
  asked: readonly AnsweredQuestion[],
  lookup: (question: Question) => Reply | null,
  anchors: readonly TrustAnchor[],
  now: Date,
): Verdict {
  const run = validate(asked, anchors, now);
  let next = run.next();
  while (next.done !== true)
    next = run.next(lookup(next.value) ?? { status: "not looked up", answers: [], authority: [] });
  return next.value;
}
