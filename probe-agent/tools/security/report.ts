import { leadingText } from "#probe-agent/analysis/text/json-size.ts";
import { definePageAnalysis, readHtml, type ReadPage } from "#probe-agent/analysis/html/read-page.ts";
import { gradeSecurity } from "#probe-agent/analysis/web/security-headers.ts";
import { describeFailedTests, GUIDE } from "#probe-agent/analysis/web/security/described-findings.ts";
import type { SecuritySnapshot } from "#probe-agent/analysis/web/security/snapshot.ts";

/** Facts about a site other than the page itself. */
interface SecurityFacts {
  readonly now: Date;
  readonly snapshot: Pick<SecuritySnapshot, "https" | "verified" | "redirects" | "cors" | "hsts_preloaded">;
  /** Whether the response of http:// is known. If not, the test redirection is left out. */
  readonly redirectionKnown: boolean;
}

const VALUE_BYTES = 1024;

/** Grades a page by our reading and as MDN publishes it, and fits the report into a result. */
export function securityReport(
  { page, url, status, headers }: ReadPage,
  { now, snapshot: siteFacts, redirectionKnown }: SecurityFacts,
) {
  const parsed = page ?? readHtml("");
  const snapshot: SecuritySnapshot = { ...siteFacts, url, status, headers, html: parsed.text };
  const found = gradeSecurity(snapshot, { now, page: parsed });
  const published = gradeSecurity(snapshot, { now, page: parsed, compat: "mdn" });
  const tests = found.tests.filter((test) => redirectionKnown || test.name !== "redirection");
  return {
    score: found.score,
    raw_score: found.raw_score,
    grade: found.grade,
    mdn: { raw_score: published.raw_score, grade: published.grade },
    failed: describeFailedTests(tests),
    tests: tests.map((test) => ({
      name: test.name,
      pass: test.pass,
      result: test.result,
      score_modifier: test.score_modifier,
      expectation: GUIDE[test.name]?.expectation ?? "",
      value: test.value === null ? null : leadingText(test.value, VALUE_BYTES),
      recommendation: test.recommendation,
      link: GUIDE[test.name]?.link ?? "",
    })),
    duplicate_directives: found.duplicate_directives.slice(0, 50).map((name) => name.slice(0, 200).toWellFormed()),
  };
}

/** Security headers of a page, with their grade. */
export const securityAnalysis = definePageAnalysis("security", securityReport);
