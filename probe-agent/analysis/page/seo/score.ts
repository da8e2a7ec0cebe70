import { letterGrade, type LetterGrade } from "#probe-agent/analysis/text/letter-grade.ts";
import { joinFacts, type SeoFacts, type SeoPage } from "#probe-agent/analysis/page/seo/audit.ts";
import { SEO_CHECKS, type SeoCheckResult } from "#probe-agent/analysis/page/seo/checks.ts";
import type { SeoCheckId } from "#probe-agent/analysis/page/seo/advice.ts";
import type { SeoSite } from "#probe-agent/analysis/page/seo/snapshot.ts";

/** A check in the result of the tool. */
export interface ScoredCheck {
  readonly id: SeoCheckId;
  /** Share of the score in percent; 0 if the check does not apply. The weights add up to 100. */
  readonly weight: number;
  readonly status: "pass" | "fail" | "na";
  readonly value: string | null;
  readonly expected: string;
  readonly recommendation: string | null;
}

/** The score, from 0 to 100, and its checks. */
interface SeoScore {
  readonly score: number;
  readonly grade: LetterGrade;
  readonly checks: ScoredCheck[];
}

/** Share of each part in the score, in percent. */
const PARTS = { lighthouse: 80, extra: 20 } as const;

/**
 * Evaluates all checks and scores the results. A check that does not apply does not count in its part. A part in which
 * no check applies does not count in the score.
 */
export function scoreSeo(facts: SeoFacts): SeoScore {
  return scoreResults(SEO_CHECKS.map((check) => check.evaluate(facts)));
}

/** Audits a page with the facts about its site. */
export function auditSeo({ page, site }: { readonly page: SeoPage; readonly site: SeoSite }): {
  readonly facts: SeoFacts;
  readonly score: SeoScore;
} {
  const facts = joinFacts(page, site);
  return { facts, score: scoreSeo(facts) };
}

/** Scores the results of the checks. `results` has one entry for each check, in the order of SEO_CHECKS. */
export function scoreResults(results: readonly SeoCheckResult[]): SeoScore {
  const applies = (index: number): boolean => (results[index] ?? null) !== null;
  const sums = { lighthouse: 0, extra: 0 };
  for (const [index, { part, weight }] of SEO_CHECKS.entries()) sums[part] += applies(index) ? weight : 0;
  const whole = (sums.lighthouse > 0 ? PARTS.lighthouse : 0) + (sums.extra > 0 ? PARTS.extra : 0);
  const shares = SEO_CHECKS.map(({ part, weight }, index) =>
    applies(index) ? ((weight / sums[part]) * PARTS[part] * 100) / whole : 0,
  );
  const earned = shares.reduce((sum, share, index) => sum + (results[index]?.pass === true ? share : 0), 0);
  const score = Math.round(earned);
  return {
    score,
    grade: letterGrade(score),
    checks: SEO_CHECKS.map(({ id, expected, recommendation }, index) => {
      const result = results[index] ?? null;
      return {
        id,
        weight: Math.round((shares[index] ?? 0) * 100) / 100,
        status: result === null ? "na" : result.pass ? "pass" : "fail",
        value: result?.value ?? null,
        expected,
        recommendation: result?.pass === false ? recommendation : null,
      };
    }),
  };
}
