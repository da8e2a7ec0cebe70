import { analyseCsp } from "#probe-agent/analysis/web/csp.ts";
import { classifyCsp, type CspClassification, type CspResult } from "#probe-agent/analysis/web/csp/observatory.ts";
import { scored, UNREAD, type CheckId, type CheckFinding } from "#probe-agent/analysis/site/checks.ts";
import type { HealthSnapshot } from "#probe-agent/analysis/site/snapshot.ts";
import { metaContent, metaPragmas } from "#probe-agent/analysis/html/page.ts";
import { effectiveReferrerPolicy, isPrivateReferrerPolicy } from "#probe-agent/analysis/web/security/header-tests.ts";
import { parseHsts } from "#probe-agent/analysis/web/security/hsts.ts";
import { headerValues, joinedHeader } from "#probe-agent/analysis/http/header-list.ts";
import { isPermissionsPolicy, structuredToken } from "#probe-agent/analysis/web/security/structured-fields.ts";

/** One year in seconds: the minimum max-age of the preload list. */
const HSTS_YEAR = 31_536_000;
/** Half a year in seconds. Below this max-age, the grade is capped. */
export const HSTS_HALF_YEAR = 15_768_000;

type HeaderCheck = Extract<CheckId, "csp" | "hsts" | "frame" | "nosniff" | "referrer" | "permissions" | "isolation">;

/** Grades the checks of the category Security Headers. */
export function headerFindings(snapshot: HealthSnapshot): Record<HeaderCheck, CheckFinding> {
  const policy = cspOf(snapshot);
  return {
    csp: cspFinding(snapshot, policy),
    hsts: hstsFinding(snapshot),
    frame: frameFinding(snapshot, policy),
    nosniff: nosniffFinding(snapshot),
    referrer: referrerFinding(snapshot),
    permissions: permissionsFinding(snapshot),
    isolation: isolationFinding(snapshot),
  };
}

function cspOf({ headers, page, finalUrl }: HealthSnapshot): CspClassification {
  return classifyCsp({
    headers: headerValues(headers, "content-security-policy"),
    reportOnlyHeaders: headerValues(headers, "content-security-policy-report-only"),
    meta: page === null ? [] : metaPragmas(page.facts, "content-security-policy"),
    https: finalUrl.startsWith("https:"),
  });
}

const CSP_POINTS: Readonly<Record<CspResult, readonly [points: number, detail: string]>> = {
  "csp-implemented-with-no-unsafe-default-src-none": [9, "The policy allows only the sources it names."],
  "csp-implemented-with-no-unsafe": [8, "The policy has no unsafe sources. default-src 'none' would be safer."],
  "csp-implemented-but-duplicate-directives": [
    8,
    "The policy has no unsafe sources, but it repeats a reporting directive.",
  ],
  "csp-implemented-with-unsafe-inline-in-style-src-only": [7, "The policy is unsafe for styles only."],
  "csp-implemented-with-insecure-scheme-in-passive-content-only": [4, "The policy allows images or media over HTTP."],
  "csp-implemented-with-unsafe-eval": [4, "The policy allows 'unsafe-eval'."],
  "csp-implemented-with-unsafe-inline": [2, "The policy allows inline scripts, or scripts or plugins of any host."],
  "csp-implemented-with-insecure-scheme": [1, "The policy allows active content such as scripts over HTTP."],
  "csp-not-implemented-but-reporting-enabled": [1, "The policy only reports violations and does not block them."],
  "csp-header-invalid": [0, "The policy is invalid."],
  "csp-not-implemented": [0, "There is no policy, so nothing blocks injected scripts."],
};

/** Advice for policies that need one change only. The others need the whole policy of the table. */
const CSP_ADVICE: Readonly<Partial<Record<CspResult, string>>> = {
  "csp-implemented-with-no-unsafe":
    "Start the policy with default-src 'none', then allow each kind of content it needs.",
  "csp-implemented-but-duplicate-directives": "Remove the repeated reporting directive.",
  "csp-implemented-with-unsafe-inline-in-style-src-only":
    "Replace 'unsafe-inline', http: and * in style-src with nonces, hashes or https:// hosts.",
  "csp-implemented-with-insecure-scheme-in-passive-content-only":
    "Write https:// in place of http:// in img-src, media-src or default-src.",
  "csp-implemented-with-unsafe-eval": "Remove 'unsafe-eval' from script-src, and replace eval() in the page's scripts.",
  "csp-not-implemented-but-reporting-enabled":
    "Send the policy as Content-Security-Policy once its reports show no violations by the site itself.",
};

function cspFinding({ headers, page, unread }: HealthSnapshot, policy: CspClassification): CheckFinding {
  const sent = headerValues(headers, "content-security-policy");
  if (unread === true && sent.length === 0) return UNREAD;
  const meta = page === null ? [] : metaPragmas(page.facts, "content-security-policy");
  const [points, detail] = CSP_POINTS[policy.result];
  const value = [...sent, ...meta].join(", ") || null;
  const { strict_csp } = analyseCsp([
    ...sent.map((header) => ({ header })),
    ...meta.map((header) => ({ header, meta: true })),
  ]);
  const { traits } = policy;
  const strict = strict_csp && traits !== null && !traits.unsafeEval && !traits.insecureSchemeActive;
  if (strict) return scored(9, value, "The policy is strict.");
  const how = CSP_ADVICE[policy.result];
  return scored(points, value, detail, how === undefined ? {} : { how });
}

/** Parses the HSTS header. It counts only over HTTPS, and only the first one counts (RFC 6797 section 8.1). */
export function hstsMaxAge({
  headers,
  finalUrl,
}: HealthSnapshot): { maxAge: number; includeSubDomains: boolean } | null {
  const [value] = headerValues(headers, "strict-transport-security");
  if (value === undefined || !finalUrl.startsWith("https:")) return null;
  const { maxAge, includeSubDomains } = parseHsts(value);
  return maxAge === null ? null : { maxAge, includeSubDomains };
}

function hstsFinding(snapshot: HealthSnapshot): CheckFinding {
  const [value] = headerValues(snapshot.headers, "strict-transport-security");
  const hsts = hstsMaxAge(snapshot);
  if (hsts === null) {
    if (value === undefined)
      return scored(0, null, "There is no header, so an attacker can keep the first visit on HTTP.");
    const overHttps = snapshot.finalUrl.startsWith("https:");
    return scored(0, value, overHttps ? "The header is invalid." : "Browsers ignore the header over HTTP.");
  }
  const { maxAge, includeSubDomains } = hsts;
  const lasting = `Browsers use only HTTPS for ${Math.floor(maxAge / 86_400)} days`;
  if (maxAge >= HSTS_YEAR && includeSubDomains) return scored(7, value ?? null, `${lasting}, including subdomains.`);
  if (maxAge >= HSTS_YEAR) return scored(6, value ?? null, `${lasting}, but not on subdomains.`);
  if (maxAge >= HSTS_HALF_YEAR) return scored(4, value ?? null, `${lasting}, less than a year.`);
  if (maxAge > 0) return scored(2, value ?? null, `${lasting}, less than half a year.`);
  return scored(0, value ?? null, "max-age=0 disables the protection.");
}

function frameFinding({ headers }: HealthSnapshot, policy: CspClassification): CheckFinding {
  const { frameAncestors } = policy;
  if (frameAncestors !== null) {
    const value = `frame-ancestors ${frameAncestors.join(" ")}`;
    return policy.traits?.antiClickjacking === true
      ? scored(4, value, "The policy limits which sites can frame the page.")
      : scored(0, value, "The policy allows any site to frame the page.");
  }
  const value = joinedHeader(headers, "x-frame-options");
  const words = (value ?? "")
    .toLowerCase()
    .split(",")
    .map((word) => word.trim());
  if (value !== null && words.every((word) => word === "deny" || word === "sameorigin")) {
    return scored(4, value, "Other sites cannot frame the page.");
  }
  if (words[0]?.startsWith("allow-from") === true) return scored(1, value, "Browsers ignore ALLOW-FROM.");
  return scored(0, value, value === null ? "Any site can frame the page." : "The header is invalid.");
}

/** Grades X-Content-Type-Options. The first value of the list decides (WHATWG Fetch, determine nosniff). */
function nosniffFinding({ headers }: HealthSnapshot): CheckFinding {
  const value = joinedHeader(headers, "x-content-type-options");
  const first = (value ?? "").split(",", 1)[0]?.trim().toLowerCase();
  if (first === "nosniff") return scored(4, value, "Browsers use only the declared types.");
  return scored(0, value, value === null ? "Browsers can guess types." : "The value is not nosniff.");
}

function referrerFinding({ headers, page, unread }: HealthSnapshot): CheckFinding {
  const meta = page === null ? null : metaContent(page.facts, "referrer");
  const sent = [...headerValues(headers, "referrer-policy"), ...(meta === null ? [] : [meta])];
  if (unread === true && sent.length === 0) return UNREAD;
  if (sent.length === 0) return scored(1, null, "The browser's default applies.");
  const policy = effectiveReferrerPolicy(sent);
  const value = sent.join(", ");
  if (policy === null) return scored(0, value, "The policy is unknown to browsers.");
  return isPrivateReferrerPolicy(policy)
    ? scored(3, value, "Other sites do not see the paths of the site.")
    : scored(0, value, `${policy} sends too much of the URL to other sites.`);
}

function permissionsFinding({ headers }: HealthSnapshot): CheckFinding {
  const value = joinedHeader(headers, "permissions-policy");
  if (value === null)
    return scored(0, null, "There is no policy, so the page can use every feature and delegate it to its frames.");
  return isPermissionsPolicy(value)
    ? scored(1, value, "Browser features are limited.")
    : scored(0, value, "Browsers ignore the header, because it is not a valid structured field.");
}

function isolationFinding({ headers }: HealthSnapshot): CheckFinding {
  const opener = joinedHeader(headers, "cross-origin-opener-policy");
  const resource = joinedHeader(headers, "cross-origin-resource-policy");
  const token = opener === null ? null : structuredToken(opener.trim());
  const openerScore = token === "same-origin" || token === "same-origin-allow-popups" ? 1 : 0;
  const word = resource?.trim().toLowerCase();
  const resourceScore = word === "same-origin" || word === "same-site" ? 1 : 0;
  const value = opener === null && resource === null ? null : `opener ${opener ?? "-"}, resource ${resource ?? "-"}`;
  const missing = [
    ...(openerScore === 0 ? ["windows of other sites keep a reference to the page"] : []),
    ...(resourceScore === 0 ? ["other sites can embed its resources"] : []),
  ];
  const detail =
    missing.length === 0 ? "The page is isolated from other sites." : `Not isolated: ${missing.join("; ")}.`;
  return scored(openerScore + resourceScore, value, detail);
}
