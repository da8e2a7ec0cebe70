import type { Finding, Severity } from "#shared/findings.ts";
import { firstItems, SEO_ADVICE } from "#probe-agent/analysis/page/seo/advice.ts";
import type { SeoFacts } from "#probe-agent/analysis/page/seo/audit.ts";
import type { ScoredCheck } from "#probe-agent/analysis/page/seo/score.ts";
import { URL_LIMITS, type UrlFault } from "#probe-agent/analysis/page/seo/url-hygiene.ts";

const LANGUAGES = "https://developers.google.com/search/docs/specialty/international/localized-versions";
const URLS = "https://developers.google.com/search/docs/crawling-indexing/url-structure";

/** Returns one finding for each failed check, followed by findings that do not count in the score. */
export function seoFindings(facts: SeoFacts, checks: readonly ScoredCheck[]): Finding[] {
  return [
    ...checks.flatMap((check) => (check.status === "fail" ? [failedCheck(check, facts)] : [])),
    ...facts.canonicalUnscripted.map((message) => ({
      id: "canonical-without-scripts",
      severity: "info" as const,
      message,
      how: "Move the canonical link above the noscript element.",
      reference: "https://developers.google.com/search/docs/crawling-indexing/consolidate-duplicate-urls",
      where: "canonical",
    })),
    ...languageFindings(facts),
    ...facts.urlFaults.map((id) => urlFinding(id, facts)),
  ];
}

function failedCheck({ id, value, expected, recommendation }: ScoredCheck, facts: SeoFacts): Finding {
  const advice = SEO_ADVICE[id];
  if (advice === undefined) {
    return {
      id,
      severity: "info",
      message: `${expected}: ${value}.`,
      how: recommendation,
      reference: null,
      where: null,
    };
  }
  const { severity, message, how, reference } = advice;
  return {
    id,
    severity: typeof severity === "function" ? severity(facts) : severity,
    message: message(facts, value ?? "nothing was found"),
    how: how(facts),
    reference,
    where: null,
  };
}

function languageFindings({ hreflang: { ambiguous, self_reference: self, total }, url }: SeoFacts): Finding[] {
  const finding = (id: string, severity: Severity, message: string, how: string): Finding => {
    return { id, severity, message, how, reference: LANGUAGES, where: "hreflang" };
  };
  return [
    ...(ambiguous.length === 0
      ? []
      : [
          finding(
            "hreflang-several-addresses",
            "warning",
            `hreflang lists several addresses for the same language${firstItems(ambiguous)}.`,
            "Keep one link for each language.",
          ),
        ]),
    ...(self === false
      ? [
          finding(
            "hreflang-without-self",
            "warning",
            `hreflang lists ${total} versions but not this page itself, so search engines may ignore all of them.`,
            `Add this page with its own language, e.g. <link rel="alternate" hreflang="en" href="${url.slice(0, 200)}">.`,
          ),
        ]
      : []),
  ];
}

/** Message and advice for each fault of an address. */
export const URL_ADVICE: Readonly<
  Record<UrlFault, { readonly message: (facts: SeoFacts) => string; readonly how: string }>
> = {
  "url-too-long": {
    message: ({ url_hygiene: { length } }) => `The address has ${length} characters, more than ${URL_LIMITS.length}.`,
    how: "Shorten the path to the words that describe the page.",
  },
  "url-underscores": {
    message: () => "The path has underscores between words. Search engines do not treat them as spaces.",
    how: "Separate words with hyphens, and redirect the old address with status 301.",
  },
  "url-capitals": {
    message: () => "The path has upper-case letters. Most servers distinguish them from lower-case letters.",
    how: "Use lower-case letters only, and redirect other spellings with status 301.",
  },
  "url-not-ascii": {
    message: () => "The path has non-ASCII characters, which browsers copy as escapes such as %C3%A9.",
    how: "Use ASCII letters in new addresses. Encode other characters as UTF-8.",
  },
  "url-white-space": {
    message: () => "The path has white space.",
    how: "Replace white space with hyphens, and redirect the old address with status 301.",
  },
  "url-empty-segment": {
    message: () => "The path has an empty segment (//).",
    how: "Use single slashes in links, and redirect addresses with double slashes with status 301.",
  },
  "url-many-parameters": {
    message: ({ url_hygiene: { parameters } }) =>
      `The address has ${parameters} parameters, more than ${URL_LIMITS.parameters}.`,
    how: "Move the parameters that identify the page into the path, and remove those that do not change the page.",
  },
  "url-session": {
    message: () => "The address contains a session ID. Anyone who has the link can take over the session.",
    how: "Keep the session in a cookie with Secure and HttpOnly.",
  },
  "url-tracking": {
    message: () => "The address has tracking parameters, so search engines see the page at several addresses.",
    how: "Make the address without these parameters the canonical one, and use it in links.",
  },
  "url-too-deep": {
    message: ({ url_hygiene: { depth } }) => `The page is ${depth} levels deep, more than ${URL_LIMITS.depth}.`,
    how: "Move important pages closer to the root.",
  },
};

function urlFinding(id: UrlFault, facts: SeoFacts): Finding {
  const { message, how } = URL_ADVICE[id];
  const severity = id === "url-session" ? "warning" : "info";
  return { id, severity, message: message(facts), how, reference: URLS, where: facts.url.slice(0, 300) };
}
