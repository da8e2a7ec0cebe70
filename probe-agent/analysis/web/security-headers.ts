import { classifyCsp, cspPasses } from "#probe-agent/analysis/web/csp/observatory.ts";
import { readHtml, type Page } from "#probe-agent/analysis/html/read-page.ts";
import { metaPragmas } from "#probe-agent/analysis/html/page.ts";
import { cookiesTest } from "#probe-agent/analysis/web/security/cookies-test.ts";
import {
  contentTypeOptionsTest,
  corsTest,
  embedderPolicyTest,
  frameOptionsTest,
  openerPolicyTest,
  referrerPolicyTest,
  resourcePolicyTest,
} from "#probe-agent/analysis/web/security/header-tests.ts";
import { outcome, type SecurityView, type TestOutcome } from "#probe-agent/analysis/web/security/outcome.ts";
import { BONUS_FROM, SCORES, securityGrade, type SecurityLetter } from "#probe-agent/analysis/web/security/scores.ts";
import type { SecuritySnapshot } from "#probe-agent/analysis/web/security/snapshot.ts";
import { headerValues } from "#probe-agent/analysis/http/header-list.ts";
import { sriTest } from "#probe-agent/analysis/web/security/sri-test.ts";
import { hstsTest, redirectionTest } from "#probe-agent/analysis/web/security/transport-tests.ts";

/** One test of the grade, with MDN's names. */
export interface SecurityTest {
  readonly name: string;
  readonly result: string;
  readonly pass: boolean;
  readonly score_modifier: number;
  /** The tested value; null if nothing was sent. */
  readonly value: string | null;
  /** Advice; null if there is nothing to improve. */
  readonly recommendation: string | null;
}

/** A site's security grade by the method of MDN HTTP Observatory. */
interface SecurityGrade {
  /** 0 to 100. */
  readonly score: number;
  /** MDN's score, which can exceed 100 with bonus points. */
  readonly raw_score: number;
  readonly grade: SecurityLetter;
  readonly algorithm_version: number;
  readonly tests: readonly SecurityTest[];
  /** Directives that the policy repeats. MDN calls such a policy invalid; browsers use the first. */
  readonly duplicate_directives: readonly string[];
}

/** Version of MDN's algorithm for these results and points. */
export const ALGORITHM_VERSION = 6;

/**
 * Grades a snapshot. `compat: "mdn"` reproduces MDN's published grade even if MDN's parser reads policies differently
 * from browsers. `now` affects only cookie dates, which the grade does not use. `page` is the snapshot's HTML if it is
 * already parsed.
 */
export function gradeSecurity(
  snapshot: SecuritySnapshot,
  options: { readonly compat?: "mdn"; readonly now?: Date; readonly page?: Page } = {},
): SecurityGrade {
  const { headers } = snapshot;
  const page = options.page ?? readHtml(snapshot.html);
  const view: SecurityView = { snapshot, headers, page, now: options.now ?? new Date(0) };
  const csp = classifyCsp({
    headers: headerValues(headers, "content-security-policy"),
    reportOnlyHeaders: headerValues(headers, "content-security-policy-report-only"),
    meta: metaPragmas(view.page.facts, "content-security-policy"),
    https: snapshot.url.startsWith("https:"),
    ...(options.compat === undefined ? {} : { compat: options.compat }),
  });
  const policy = headerValues(headers, "content-security-policy").join(", ") || null;
  const hsts = hstsTest(view);
  const outcomes: readonly (readonly [string, TestOutcome])[] = [
    ["content-security-policy", outcome(csp.result, cspPasses(csp.result), policy)],
    ["cookies", cookiesTest(headerValues(headers, "set-cookie"), snapshot.url, hsts.pass, view.now)],
    ["cross-origin-resource-sharing", corsTest(view)],
    ["redirection", redirectionTest(view)],
    ["referrer-policy", referrerPolicyTest(view)],
    ["strict-transport-security", hsts],
    ["subresource-integrity", sriTest(view)],
    ["x-content-type-options", contentTypeOptionsTest(view)],
    ["x-frame-options", frameOptionsTest(view, csp.frameAncestors)],
    ["cross-origin-resource-policy", resourcePolicyTest(view)],
    ["cross-origin-embedder-policy", embedderPolicyTest(view)],
    ["cross-origin-opener-policy", openerPolicyTest(view)],
  ];
  const tests = outcomes.map(([name, found]) => scoreTest(name, found));
  const rawScore = totalOf(tests.map((test) => test.score_modifier));
  return {
    score: Math.min(100, rawScore),
    raw_score: rawScore,
    grade: securityGrade(rawScore),
    algorithm_version: ALGORITHM_VERSION,
    tests,
    duplicate_directives: csp.duplicates,
  };
}

/** Reports whether MDN grades a response with this status: a page or a request to sign in. */
export function isGradable(status: number): boolean {
  return (status >= 200 && status < 400) || status === 401 || status === 403;
}

function scoreTest(name: string, found: TestOutcome): SecurityTest {
  const { modifier, advice } = SCORES[found.result] ?? { modifier: 0, advice: null };
  return { name, ...found, score_modifier: modifier, recommendation: advice };
}

/** Computes the total score. Penalties always count; bonuses count only if the score without them is an A. */
function totalOf(modifiers: readonly number[]): number {
  const withoutBonus = modifiers.reduce((sum, one) => sum + Math.min(0, one), 100);
  const bonus = modifiers.reduce((sum, one) => sum + Math.max(0, one), 0);
  return Math.max(0, withoutBonus >= BONUS_FROM ? withoutBonus + bonus : withoutBonus);
}
