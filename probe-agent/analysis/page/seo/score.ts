import { letterGrade, type LetterGrade } from "#probe-agent/analysis/text/letter-grade.ts";
import { joinFacts, type SeoFacts, type SeoPage } from "#probe-agent/analysis/page/seo/audit.ts";
import { SEO_CHECKS, type SeoVerdict } from "#probe-agent/analysis/page/seo/checks.ts";
import type { SeoBeside } from "#probe-agent/analysis/page/seo/snapshot.ts";

/** A check as it is published. */
export interface JudgedCheck {
  readonly id: string;
  /** Share of the score in percent, 0 where the check does not apply; all add up to 100. */
  readonly weight: number;
  readonly status: "pass" | "fail" | "na";
  readonly value: string | null;
  readonly expected: string;
  readonly recommendation: string | null;
}

/** The score with what it is made of. */
interface SeoScore {
  readonly score: number;
  readonly grade: LetterGrade;
  readonly checks: JudgedCheck[];
}

/** Percent of the score by part. */
const PARTS = { lighthouse: 80, extra: 20 } as const;

/** Scores what was read. Checks that do not apply leave the denominator of their part; an empty part leaves the score. */
export function scoreSeo(facts: SeoFacts): SeoScore {
  return scoreVerdicts(SEO_CHECKS.map((check) => check.judge(facts)));
}

/** The audit of a page that is read, and of what stands beside it. */
export function auditSeo({ page, beside }: { readonly page: SeoPage; readonly beside: SeoBeside }): {
  readonly facts: SeoFacts;
  readonly score: SeoScore;
} {
  const facts = joinFacts(page, beside);
  return { facts, score: scoreSeo(facts) };
}

/** Scores verdicts, one for each check in their order. */
export function scoreVerdicts(verdicts: readonly SeoVerdict[]): SeoScore {
  const applies = (index: number): boolean => (verdicts[index] ?? null) !== null;
  const sums = { lighthouse: 0, extra: 0 };
  for (const [index, { part, weight }] of SEO_CHECKS.entries()) sums[part] += applies(index) ? weight : 0;
  const whole = (sums.lighthouse > 0 ? PARTS.lighthouse : 0) + (sums.extra > 0 ? PARTS.extra : 0);
  const shares = SEO_CHECKS.map(({ part, weight }, index) =>
    applies(index) ? ((weight / sums[part]) * PARTS[part] * 100) / whole : 0,
  );
  const earned = shares.reduce((sum, share, index) => sum + (verdicts[index]?.pass === true ? share : 0), 0);
  const score = Math.round(earned);
  return {
    score,
    grade: letterGrade(score),
    checks: SEO_CHECKS.map(({ id, expected, recommendation }, index) => {
      const verdict = verdicts[index] ?? null;
      return {
        id,
        weight: Math.round((shares[index] ?? 0) * 100) / 100,
        status: verdict === null ? "na" : verdict.pass ? "pass" : "fail",
        value: verdict?.value ?? null,
        expected,
        recommendation: verdict?.pass === false ? recommendation : null,
      };
    }),
  };
}
