import { listAll } from "#shared/text/list.ts";
import { analyseCsp } from "#probe-agent/analysis/web/csp.ts";
import { notApplicable, scored, UNREAD, type CheckId, type CheckFinding } from "#probe-agent/analysis/site/checks.ts";
import { HSTS_HALF_YEAR, hstsMaxAge } from "#probe-agent/tools/health/headers.ts";
import type { HealthSnapshot } from "#probe-agent/analysis/site/snapshot.ts";
import { isDeclared } from "#probe-agent/analysis/html/charset.ts";
import { metaContent, metaPragmas } from "#probe-agent/analysis/html/page.ts";
import { readViewport } from "#probe-agent/analysis/html/viewport.ts";
import type { Page } from "#probe-agent/analysis/html/read-page.ts";
import { isLanguageTag } from "#probe-agent/analysis/http/language-tag.ts";
import { findMixedContent } from "#probe-agent/analysis/page/mixed-content.ts";
import { cookiesTest } from "#probe-agent/analysis/web/security/cookies-test.ts";
import { headerValues } from "#probe-agent/analysis/http/header-list.ts";
import { FAILED_TESTS } from "#probe-agent/analysis/web/security/described-findings.ts";
import { parseSecurityTxt } from "#probe-agent/tools/health/security-txt.ts";

type PracticeCheck = Extract<
  CheckId,
  | "status"
  | "mixed_content"
  | "title_desc"
  | "lang"
  | "viewport"
  | "doctype_charset"
  | "cookies"
  | "indexable_robots"
  | "security_txt"
  | "ipv6"
>;

/** Grades the checks of the category Best Practices. */
export function practiceFindings(snapshot: HealthSnapshot): Record<PracticeCheck, CheckFinding> {
  const { page, unread = false } = snapshot;
  const noHtml = unread ? UNREAD : notApplicable("The response is not HTML.");
  return {
    status: statusFinding(snapshot.status),
    mixed_content: page === null ? noHtml : mixedFinding(snapshot, page),
    title_desc: page === null ? noHtml : titleFinding(page),
    lang: page === null ? noHtml : langFinding(page),
    viewport: page === null ? noHtml : viewportFinding(page),
    doctype_charset: page === null ? noHtml : doctypeFinding(page),
    cookies: cookiesFinding(snapshot),
    ...fileFindings(snapshot),
  };
}

function statusFinding(status: number): CheckFinding {
  const value = String(status);
  if (status >= 200 && status < 300) return scored(3, value, "The page is served with a success status.");
  if ((status >= 300 && status < 400) || status === 401 || status === 403) {
    return scored(1, value, "The server responds, but not with the page's content.");
  }
  const detail = status >= 500 ? "The server fails" : "The page is not available";
  return scored(0, value, `${detail} (status ${status}).`, { severity: "critical" });
}

function mixedFinding({ finalUrl, headers }: HealthSnapshot, page: Page): CheckFinding {
  if (!finalUrl.startsWith("https:")) return notApplicable("The page itself was served over HTTP.");
  const { effective } = analyseCsp([
    ...headerValues(headers, "content-security-policy").map((header) => ({ header })),
    ...metaPragmas(page.facts, "content-security-policy").map((header) => ({ header, meta: true })),
  ]);
  const mixed = findMixedContent(page, finalUrl, {
    upgradeInsecureRequests: effective.upgrade_insecure_requests,
    blockAllMixedContent: effective.block_all_mixed_content,
  });
  const { active, passive } = mixed.counts;
  if (active + passive === 0) return scored(3, null, "All resources load over HTTPS.");
  const value = [...mixed.active, ...mixed.passive]
    .slice(0, 3)
    .map((one) => one.url)
    .join(" ");
  const counted = `${active} blocked and ${passive} upgradable references over HTTP`;
  if (effective.upgrade_insecure_requests) return scored(2, value, `${counted}. The policy upgrades them to HTTPS.`);
  return active === 0
    ? scored(2, value, `${counted}.`)
    : scored(0, value, `${counted}. Parts of the page do not load.`);
}

function titleFinding({ facts }: Page): CheckFinding {
  const title = facts.title ?? "";
  const description = metaContent(facts, "description") ?? "";
  const missing = [...(title === "" ? ["title"] : []), ...(description === "" ? ["description"] : [])];
  const detail = missing.length === 0 ? "The page has a title and a description." : `Missing: ${listAll(missing)}.`;
  return scored((title === "" ? 0 : 2) + (description === "" ? 0 : 1), title === "" ? null : title, detail);
}

function langFinding({ facts }: Page): CheckFinding {
  if (facts.lang === null || facts.lang === "") return scored(0, facts.lang, "The language is not declared.");
  return isLanguageTag(facts.lang)
    ? scored(2, facts.lang, "The language is declared.")
    : scored(0, facts.lang, "The lang attribute is not a valid language tag.");
}

function viewportFinding({ facts }: Page): CheckFinding {
  const content = metaContent(facts, "viewport");
  if (content === null) return scored(0, null, "There is no viewport, so phones show the page as on a desktop.");
  const { deviceWidth, zoomBlocked } = readViewport(content);
  if (!deviceWidth) return scored(0, content, "The width of the page does not follow the device.");
  return zoomBlocked
    ? scored(0, content, "The page prevents visitors from zooming in.")
    : scored(2, content, "The width of the page follows the device.");
}

function doctypeFinding({ facts, charset }: Page): CheckFinding {
  const doctype = facts.doctype === "html";
  const declared = isDeclared(charset);
  const missing = [
    ...(doctype ? [] : ["<!doctype html>"]),
    ...(declared ? [] : ["the encoding, in the header or the first 1024 bytes"]),
  ];
  const detail = missing.length === 0 ? "Doctype and encoding are declared." : `Missing: ${listAll(missing)}.`;
  return scored(Number(doctype) + Number(declared), `${facts.doctype ?? "no doctype"}, ${charset.encoding}`, detail);
}

const PROTECTED = new Set([
  "cookies-without-secure-flag-but-protected-by-hsts",
  "cookies-session-without-secure-flag-but-protected-by-hsts",
]);

function cookiesFinding(snapshot: HealthSnapshot): CheckFinding {
  const hsts = (hstsMaxAge(snapshot)?.maxAge ?? 0) >= HSTS_HALF_YEAR;
  const lines = headerValues(snapshot.headers, "set-cookie");
  const { result, pass, value } = cookiesTest(lines, snapshot.finalUrl, hsts, snapshot.now);
  if (result === "cookies-not-found") return notApplicable("The page sets no cookies.");
  const detail = FAILED_TESTS[result] ?? "Every cookie is limited to HTTPS, and scripts cannot read session cookies.";
  return scored(pass ? 2 : PROTECTED.has(result) ? 1 : 0, value, detail);
}

/** Grades the well-known files of a site and its IPv6 address. */
function fileFindings(snapshot: HealthSnapshot): Record<"indexable_robots" | "security_txt" | "ipv6", CheckFinding> {
  return {
    indexable_robots: robotsFinding(snapshot),
    security_txt: securityTxtFinding(snapshot),
    ipv6: ipv6Finding(snapshot),
  };
}

/** Grades robots.txt. A 4xx status means that everything is allowed, 5xx that nothing is (RFC 9309 section 2.3.1). */
function robotsFinding({ robots }: HealthSnapshot): CheckFinding {
  if (!robots.known) return notApplicable(robots.why);
  const value = String(robots.status);
  if (robots.status >= 500)
    return scored(0, value, "robots.txt is served with an error, so crawlers treat every URL as disallowed.");
  if (robots.status >= 400) return scored(1, value, "There is no robots.txt, so every URL is allowed.");
  if (robots.status !== 200)
    return scored(0, value, `The request for robots.txt returns no file (status ${robots.status}).`);
  return robots.text === null
    ? scored(0, value, "robots.txt is not plain text.")
    : scored(1, value, "robots.txt is readable.");
}

function securityTxtFinding({ securityTxt, now }: HealthSnapshot): CheckFinding {
  if (!securityTxt.known) return notApplicable(securityTxt.why);
  const value = String(securityTxt.status);
  if (securityTxt.status !== 200 || securityTxt.text === null) {
    return scored(0, value, "There is no security.txt, so security researchers do not know whom to contact.");
  }
  const { valid, expired, errors } = parseSecurityTxt(securityTxt.text, securityTxt.url, now);
  if (valid) return scored(1, value, "security.txt tells security researchers whom to contact.");
  return scored(
    0,
    value,
    expired ? "security.txt has expired." : `security.txt is not valid: ${errors[0] ?? "no dates"}.`,
  );
}

function ipv6Finding({ ipv6 }: HealthSnapshot): CheckFinding {
  if (!ipv6.known) return notApplicable(ipv6.why);
  return scored(ipv6.answers ? 1 : 0, ipv6.address, ipv6.why);
}
