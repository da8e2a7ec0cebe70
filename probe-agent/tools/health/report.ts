import type { HealthSnapshot, TlsFacts } from "#probe-agent/analysis/site/snapshot.ts";
import { definePageAnalysis, type ReadPage } from "#probe-agent/analysis/html/read-page.ts";
import { sortFindings, type Finding, type Severity } from "#shared/contracts/findings.ts";
import { letterGrade, worseGrade, type LetterGrade } from "#probe-agent/analysis/text/letter-grade.ts";
import {
  CHECK_IDS,
  CHECKS,
  type CheckId,
  type CheckFinding,
  notApplicable,
  scored,
} from "#probe-agent/analysis/site/checks.ts";
import { CATEGORIES, type CategoryName } from "#probe-agent/analysis/site/definition.ts";
import { HSTS_HALF_YEAR, headerFindings, hstsMaxAge } from "#probe-agent/tools/health/headers.ts";
import { performanceFindings } from "#probe-agent/tools/health/performance.ts";
import { practiceFindings } from "#probe-agent/tools/health/practice.ts";
import { ciphersFinding } from "#probe-agent/analysis/site/ciphers.ts";
import { expiryStage } from "#probe-agent/analysis/tls/ssl/findings.ts";

/** Facts about a site in addition to the page itself. */
export type HealthFacts = Omit<HealthSnapshot, "finalUrl" | "status" | "headers" | "page" | "unread">;

/** Scores a page and the facts about its site. */
function healthReport({ url, status, headers, page, unread }: ReadPage, facts: HealthFacts): HealthScore {
  return scoreHealth({ ...facts, finalUrl: url, status, headers, page, unread });
}

/** Health of a page, with its score. */
export const healthAnalysis = definePageAnalysis("health", healthReport);

/** A check as in the result. */
interface HealthCheck {
  readonly id: string;
  readonly name: string;
  readonly status: "pass" | "warn" | "fail" | "info" | "na";
  readonly score: number;
  readonly max: number;
  readonly value: string | null;
  readonly expected: string;
  readonly detail: string;
  readonly reference: string;
}

/** A category with its checks. */
interface HealthCategory {
  readonly name: CategoryName;
  readonly score: number;
  readonly max: number;
  readonly checks: HealthCheck[];
}

/** A recommendation for a check that lost points. */
interface HealthRecommendation {
  readonly type: Severity;
  readonly check: string;
  readonly message: string;
  readonly points: number;
  readonly category: string;
  readonly how: string;
}

/** Best grade still possible, and the check that causes the limit. */
interface GradeCap {
  readonly grade: LetterGrade;
  readonly check: CheckId;
  readonly reason: string;
}

/** Score of a site with its categories and recommendations. */
interface HealthScore {
  readonly score: number;
  readonly grade: LetterGrade;
  readonly grade_caps: GradeCap[];
  readonly categories: HealthCategory[];
  readonly recommendations: HealthRecommendation[];
  /** Recommendations as findings, worst first. */
  readonly findings: Finding[];
}

/** Scores a snapshot. Points come from the checks, and the grade from the points, limited by caps. */
export function scoreHealth(snapshot: HealthSnapshot): HealthScore {
  return assemble(findingsOf(snapshot), gradeCaps(snapshot));
}

/** Returns the finding of every check. */
export function findingsOf(snapshot: HealthSnapshot): Record<CheckId, CheckFinding> {
  return {
    ...headerFindings(snapshot),
    ...tlsFindings(snapshot),
    ...performanceFindings(snapshot),
    ...practiceFindings(snapshot),
  };
}

/** Returns the limits on the grade, regardless of the score. A site that visitors cannot trust gets no good grade. */
export function gradeCaps(snapshot: HealthSnapshot): GradeCap[] {
  const caps: GradeCap[] = [];
  const { tls, status } = snapshot;
  if (tls.known && tls.offered && !isTrusted(tls)) {
    caps.push({ grade: "F", check: "trust", reason: `The certificate is not trusted: ${tls.errors.join(", ")}` });
  }
  if (status >= 500) caps.push({ grade: "F", check: "status", reason: `The page is served with status ${status}` });
  if (tls.known && !tls.offered) caps.push({ grade: "D", check: "trust", reason: "The site has no HTTPS" });
  if (tls.known && tls.offered && tls.versions.below1_2 === true) {
    caps.push({ grade: "B", check: "protocols", reason: "A TLS version below 1.2 is offered" });
  }
  if ((hstsMaxAge(snapshot)?.maxAge ?? 0) < HSTS_HALF_YEAR) {
    caps.push({ grade: "A", check: "hsts", reason: "HSTS is missing or lasts less than six months" });
  }
  return caps;
}

/**
 * Computes the score from the findings. A category's score is its points times the share earned in the checks that
 * apply, rounded. The score is the sum of the categories' scores.
 */
export function assemble(findings: Readonly<Record<CheckId, CheckFinding>>, caps: readonly GradeCap[]): HealthScore {
  const categories = CATEGORIES.map(({ name, max }) => {
    const ids = CHECK_IDS.filter((id) => CHECKS[id].category === name);
    const applicable = ids.filter((id) => findings[id].score !== null);
    const available = applicable.reduce((sum, id) => sum + CHECKS[id].max, 0);
    const earned = applicable.reduce((sum, id) => sum + (findings[id].score ?? 0), 0);
    const score = available === 0 ? max : Math.round((max * earned) / available);
    return { name, score, max, checks: ids.map((id) => publish(id, findings[id])) };
  });
  const score = categories.reduce((sum, category) => sum + category.score, 0);
  const recommendations = recommend(findings);
  return {
    score,
    grade: caps.reduce((grade, cap) => worseGrade(grade, cap.grade), letterGrade(score)),
    grade_caps: [...caps],
    categories,
    recommendations,
    findings: sortFindings(recommendations.map(toFinding)),
  };
}

function publish(id: CheckId, { score, value, detail }: CheckFinding): HealthCheck {
  const { name, max, expected, reference } = CHECKS[id];
  const status = score === null ? "na" : score >= max ? "pass" : score > 0 ? "warn" : "fail";
  return { id, name, status, score: score ?? 0, max, value, expected, detail, reference };
}

/** Returns the recommendations, most lost points first, then by id. */
function recommend(findings: Readonly<Record<CheckId, CheckFinding>>): HealthRecommendation[] {
  const recommendations = CHECK_IDS.flatMap((id): HealthRecommendation[] => {
    const { score, detail, severity, how } = findings[id];
    const { name, max, category, how: defaultHow } = CHECKS[id];
    const points = score === null ? 0 : max - score;
    if (points <= 0) return [];
    const type = severity ?? (points >= WARNING_POINTS ? "warning" : "info");
    return [{ type, check: id, message: `${name}: ${detail}`, points, category, how: how ?? defaultHow }];
  });
  return recommendations.toSorted((one, other) => other.points - one.points || (one.check < other.check ? -1 : 1));
}

/** Minimum number of lost points for a warning. */
const WARNING_POINTS = 2;

function toFinding({ type, check, message, how }: HealthRecommendation): Finding {
  const { reference } = CHECKS[check as CheckId];
  return { id: check.replaceAll("_", "-"), severity: type, message, how, reference, where: check };
}

type TlsCheck = Extract<CheckId, "trust" | "protocols" | "https_redirect" | "expiry" | "ciphers" | "key">;

/** Grades the checks of the category SSL/TLS. */
function tlsFindings(snapshot: HealthSnapshot): Record<TlsCheck, CheckFinding> {
  const { tls } = snapshot;
  const https_redirect = redirectFinding(snapshot);
  if (!tls.known) {
    const left = notApplicable(tls.why);
    return { trust: left, protocols: left, https_redirect, expiry: left, ciphers: left, key: left };
  }
  if (!tls.offered) {
    // This is one fault and reported once: the checks that depend on it have the severity info.
    const nothing = scored(0, null, tls.why, { severity: "info" });
    const noRedirect = scored(0, https_redirect.value, "There is no HTTPS to redirect to.", { severity: "info" });
    const how = "Serve the site over HTTPS with a certificate of a public authority.";
    return {
      trust: scored(0, null, `The site has no HTTPS. ${tls.why}`, { severity: "critical", how }),
      protocols: nothing,
      https_redirect: noRedirect,
      expiry: nothing,
      ciphers: nothing,
      key: nothing,
    };
  }
  return {
    trust: trustFinding(tls),
    protocols: protocolsFinding(tls),
    https_redirect,
    expiry: expiryFinding(tls),
    ciphers: ciphersFinding(tls.suites),
    key: keyFinding(tls),
  };
}

/** Reports whether a browser connects without a warning. */
function isTrusted(tls: TlsFacts): boolean {
  return tls.offered && tls.trusted;
}

function trustFinding(tls: TlsFacts): CheckFinding {
  if (isTrusted(tls)) return scored(8, "trusted", "Browsers trust the certificate.");
  const [mostSevere] = tls.reasons;
  const detail = [...tls.reasons.map(({ message }) => message), "Browsers show visitors a warning."].join(" ");
  return scored(0, tls.errors.join(", "), detail, {
    severity: "critical",
    ...(mostSevere?.how == null ? {} : { how: mostSevere.how }),
  });
}

function protocolsFinding({ versions }: TlsFacts): CheckFinding {
  const offered = [
    ...(versions.ssl3 === true ? ["SSL 3"] : []),
    ...(versions.below1_2 === true ? ["below TLS 1.2"] : []),
    ...(versions.tls1_2 === true ? ["TLS 1.2"] : []),
    ...(versions.tls1_3 === true ? ["TLS 1.3"] : []),
  ];
  const value = offered.join(", ");
  const note = versions.below1_2 === null ? " Whether older versions are offered is unknown." : "";
  if (versions.tls1_2 !== true && versions.tls1_3 !== true) {
    const detail = "Only versions that browsers no longer support are offered.";
    return scored(0, value, detail, { severity: "critical" });
  }
  if (versions.ssl3 === true) return scored(0, value, "SSL 3 is offered, which is insecure.", { severity: "critical" });
  if (versions.below1_2 === true) return scored(2, value, "TLS 1.0 or 1.1 is offered. Both are deprecated.");
  return versions.tls1_3 === true
    ? scored(5, value, `Only current versions are offered.${note}`)
    : scored(4, value, `TLS 1.3 is not offered.${note}`);
}

/** Grades the days left. They are compared with the certificate's lifetime, in the stages of the ssl tool. */
function expiryFinding({ daysLeft, lifetimeDays }: TlsFacts): CheckFinding {
  const value = `${daysLeft} days`;
  switch (expiryStage(daysLeft, lifetimeDays)) {
    case "far":
      return scored(3, value, "The certificate is not due for renewal.");
    case "due":
      return scored(1, value, `The certificate expires in ${value} and is due for renewal.`);
    case "urgent":
      return scored(0, value, `The certificate expires in ${value}.`);
    default:
      return scored(0, value, "The certificate has expired.", { severity: "critical" });
  }
}

function keyFinding({ key, keyStrong, signatureStrong }: TlsFacts): CheckFinding {
  const faults = [
    ...(keyStrong ? [] : ["the key is too short"]),
    ...(signatureStrong ? [] : ["the signature is weak"]),
  ];
  const detail = faults.length === 0 ? "Key and signature are strong." : `Weak: ${faults.join("; ")}.`;
  return scored(Number(keyStrong) + Number(signatureStrong), key, detail);
}

/** Grades how http:// leads to https:// (the cases are those of MDN). */
function redirectFinding({ http, preloaded }: HealthSnapshot): CheckFinding {
  if (preloaded)
    return scored(4, "preloaded", "Browsers never connect over HTTP, because the host is in the HSTS preload list.");
  if (!http.known) return notApplicable(http.why);
  if (!http.open) return scored(4, null, "No server answers over HTTP, so no redirect is needed.");
  const urls = http.route.flatMap(({ url }) => (URL.canParse(url) ? [new URL(url)] : []));
  const value = urls.map((url) => url.href).join(" -> ");
  const [first, second] = urls;
  const last = urls.at(-1);
  if (last?.protocol !== "https:") return scored(0, value, "http:// does not lead to HTTPS.");
  if (second?.protocol !== "https:") return scored(2, value, "http:// redirects to another http:// address first.");
  return first?.hostname === second.hostname
    ? scored(4, value, "http:// redirects directly to HTTPS.")
    : scored(3, value, "http:// redirects to another host, so HSTS does not protect this host.");
}
