import { existing, fact, table } from "#shared/presentation/build.ts";
import { definePresenter } from "#shared/tools/define-presenter.ts";
import type { Verdict } from "#shared/presentation/presentation.ts";
import { pageFacts } from "#shared/presentation/page.ts";
import { counted, shortUrl, yesNo } from "#shared/presentation/values.ts";
import { verdictOf, verdictOfGrade, verdictOfPractice, worst } from "#shared/presentation/verdict.ts";
import { describeDuration } from "#shared/text/duration.ts";
import { listFirst } from "#shared/text/list.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { security as contract } from "#shared/tools/security/contract.ts";

type Security = ResultOf<typeof contract>;

const MOST_NAMED = 3;

/** MDN's tests in words. Others are shown by MDN's name. */
const TESTS: Readonly<Record<string, string>> = {
  "content-security-policy": "Content-Security-Policy",
  cookies: "cookies",
  "cross-origin-resource-sharing": "access of other sites (CORS)",
  redirection: "redirect to HTTPS",
  "referrer-policy": "Referrer-Policy",
  "strict-transport-security": "Strict-Transport-Security",
  "subresource-integrity": "integrity of foreign scripts",
  "x-content-type-options": "X-Content-Type-Options",
  "x-frame-options": "framing",
  "cross-origin-resource-policy": "Cross-Origin-Resource-Policy",
  "cross-origin-embedder-policy": "Cross-Origin-Embedder-Policy",
  "cross-origin-opener-policy": "Cross-Origin-Opener-Policy",
};

/** security: the grade and the failed tests, then which security headers are sent and which are missing. */
export const security = definePresenter(contract, (data) => {
  const { grade, score, tests, headers, hsts, findings } = data;
  const isListed = hsts.preloaded === true;
  return {
    verdict: grade === null ? worst([verdictOf(findings), "warning"]) : verdictOfPractice(grade, findings),
    headline: headlineOf(data),
    facts: existing(
      fact("Grade", grade, { tone: grade === null ? null : verdictOfGrade(grade) }),
      fact("Score", score === null ? null : `${score} of 100`),
      fact("Headers missing", headers.missing.length === 0 ? "none" : headers.missing.join(", ")),
      fact("HTTPS enforced", describeHsts(hsts), { tone: hsts.max_age_s || isListed ? "good" : "warning" }),
      fact("In browsers' HTTPS list", yesNo(hsts.preloaded), { tone: isListed ? "good" : null }),
      fact("Can join the list", isListed || hsts.preload_eligible !== true ? null : hsts.preload_domain),
      fact("Written twice", listFirst(data.duplicate_directives, MOST_NAMED), { tone: "warning" }),
      fact("Grade of MDN", data.mdn === null || data.mdn.grade === grade ? null : data.mdn.grade),
      ...pageFacts(data),
    ),
    tables: existing(
      table(
        "Tests",
        ["Test", "Result", "#Points"],
        tests.map(({ name, pass, score_modifier: points }) => ({
          cells: [TESTS[name] ?? name, pass ? "pass" : "fail", signed(points)],
          tone: toneOf(pass, points),
        })),
      ),
      table(
        "Advice on passed tests",
        ["Test", "Advice"],
        tests.flatMap(({ name, pass, recommendation }) =>
          pass && recommendation !== null ? [[TESTS[name] ?? name, recommendation]] : [],
        ),
      ),
      table(
        "Security headers",
        ["Header", "Value"],
        [
          ...headers.missing.map((name) => ({ cells: [name, "not sent"], tone: "warning" as const })),
          ...headers.present.map(({ name, value }) => [name, value]),
        ],
      ),
    ),
  };
});

function headlineOf({ url, code, grade, tests }: Security): string {
  const page = shortUrl(url);
  if (grade === null) {
    return `${page} was not graded: ${code >= 400 ? `it answers ${code}` : "its page could not be examined"}`;
  }
  const failed = tests.filter(({ pass }) => !pass).toSorted((a, b) => a.score_modifier - b.score_modifier);
  if (failed.length === 0) return `${page}: grade ${grade}, passes all ${counted(tests.length, "test")}`;
  const names = failed.map(({ name }) => TESTS[name] ?? name);
  return `${page}: grade ${grade}, fails ${failed.length} of ${counted(tests.length, "test")}: ${listFirst(names, MOST_NAMED)}`;
}

function describeHsts(hsts: Security["hsts"]): string {
  if (hsts.max_age_s) {
    return `for ${describeDuration(hsts.max_age_s * 1_000)}${hsts.include_subdomains ? ", with subdomains" : ""}`;
  }
  if (hsts.preloaded === true) return "by browsers' list";
  return hsts.value === null ? "no: no Strict-Transport-Security" : "no: Strict-Transport-Security is off or invalid";
}

function toneOf(pass: boolean, points: number): Verdict | null {
  if (pass) return points > 0 ? "good" : null;
  return points <= -20 ? "bad" : "warning";
}

function signed(points: number): string {
  return points > 0 ? `+${points}` : String(points);
}
