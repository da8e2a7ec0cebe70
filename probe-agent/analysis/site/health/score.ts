import { sortFindings, type Finding, type Severity } from "#shared/contracts/findings.ts";
import { letterGrade, worseGrade, type LetterGrade } from "#probe-agent/analysis/text/letter-grade.ts";
import { CHECK_IDS, CHECKS, type CheckId, type CheckFinding } from "#probe-agent/analysis/site/health/checks.ts";
import { CATEGORIES, type CategoryName } from "#probe-agent/analysis/site/health/definition.ts";
import { HSTS_HALF_YEAR, headerFindings, hstsMaxAge } from "#probe-agent/analysis/site/health/headers.ts";
import { performanceFindings } from "#probe-agent/analysis/site/health/performance.ts";
import { practiceFindings } from "#probe-agent/analysis/site/health/practice.ts";
import type { HealthSnapshot } from "#probe-agent/analysis/site/health/snapshot.ts";
import { isTrusted, tlsFindings } from "#probe-agent/analysis/site/health/transport.ts";

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
export interface HealthScore {
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
