import { sortFindings, type Finding, type Severity } from "#shared/findings.ts";
import { letterGrade, worseGrade, type LetterGrade } from "#probe-agent/analysis/text/letter-grade.ts";
import { CHECK_IDS, CHECKS, type CheckId, type CheckFinding } from "#probe-agent/analysis/site/health/checks.ts";
import { CATEGORIES, type CategoryName } from "#probe-agent/analysis/site/health/definition.ts";
import { HSTS_HALF_YEAR, headerFindings, hstsMaxAge } from "#probe-agent/analysis/site/health/headers.ts";
import { performanceFindings } from "#probe-agent/analysis/site/health/performance.ts";
import { practiceFindings } from "#probe-agent/analysis/site/health/practice.ts";
import type { HealthSnapshot } from "#probe-agent/analysis/site/health/snapshot.ts";
import { isTrusted, tlsFindings } from "#probe-agent/analysis/site/health/transport.ts";

/** A check as it is published. */
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

/** Something to mend. */
interface HealthRecommendation {
  readonly type: Severity;
  readonly check: string;
  readonly message: string;
  readonly points: number;
  readonly category: string;
  readonly how: string;
}

/** The best grade still possible, and the check that shows why. */
interface GradeCap {
  readonly grade: LetterGrade;
  readonly check: CheckId;
  readonly reason: string;
}

/** The score and everything it is made of. */
export interface HealthScore {
  readonly score: number;
  readonly grade: LetterGrade;
  readonly grade_caps: GradeCap[];
  readonly categories: HealthCategory[];
  readonly recommendations: HealthRecommendation[];
  /** The same, worst first, in the shape all tools share. */
  readonly findings: Finding[];
}

/** Scores a snapshot: points by check, grade by points, caps by what visitors cannot do without. */
export function scoreHealth(snapshot: HealthSnapshot): HealthScore {
  return assemble(findingsOf(snapshot), gradeCaps(snapshot));
}

/** Every check's finding. */
export function findingsOf(snapshot: HealthSnapshot): Record<CheckId, CheckFinding> {
  return {
    ...headerFindings(snapshot),
    ...tlsFindings(snapshot),
    ...performanceFindings(snapshot),
    ...practiceFindings(snapshot),
  };
}

/** Limits on the grade that hold whatever the score: a site that visitors cannot trust is no good site. */
export function gradeCaps(snapshot: HealthSnapshot): GradeCap[] {
  const caps: GradeCap[] = [];
  const { tls, status } = snapshot;
  if (tls.known && tls.offered && !isTrusted(tls)) {
    caps.push({ grade: "F", check: "trust", reason: `The certificate is not trusted: ${tls.errors.join(", ")}` });
  }
  if (status >= 500) caps.push({ grade: "F", check: "status", reason: `The page answers ${status}` });
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
 * Puts findings together. What does not apply leaves the denominator: a category's score is its points times the share
 * earned, rounded; the score is their sum.
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

/** Most points first, then by id. */
function recommend(findings: Readonly<Record<CheckId, CheckFinding>>): HealthRecommendation[] {
  const recommendations = CHECK_IDS.flatMap((id): HealthRecommendation[] => {
    const { score, detail, severity, how } = findings[id];
    const { name, max, category, how: usually } = CHECKS[id];
    const points = score === null ? 0 : max - score;
    if (points <= 0) return [];
    const type = severity ?? (points >= WARNING_POINTS ? "warning" : "info");
    return [{ type, check: id, message: `${name}: ${detail}`, points, category, how: how ?? usually }];
  });
  return recommendations.toSorted((one, other) => other.points - one.points || (one.check < other.check ? -1 : 1));
}

/** Points whose loss costs much. */
const WARNING_POINTS = 2;

function toFinding({ type, check, message, how }: HealthRecommendation): Finding {
  const { reference } = CHECKS[check as CheckId];
  return { id: check.replaceAll("_", "-"), severity: type, message, how, reference, where: check };
}
