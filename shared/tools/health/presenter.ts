import { existing, fact, table } from "#shared/presentation/build.ts";
import type { Table, Verdict } from "#shared/presentation/presentation.ts";
import { definePresenter } from "#shared/tools/define-presenter.ts";
import { milliseconds, shortUrl } from "#shared/presentation/values.ts";
import { verdictOfGrade, verdictOfPractice } from "#shared/presentation/verdict.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { health as contract } from "#shared/tools/health/contract.ts";

type Health = ResultOf<typeof contract>;
type Category = Health["categories"][number];

const MOST_PARTS = 4;

const TONES: Readonly<Record<Category["checks"][number]["status"], Verdict | null>> = {
  pass: null,
  warn: "warning",
  fail: "bad",
  info: null,
  na: "neutral",
};

/** health: the grade and what to fix first, then every part with the points of its checks. */
export const health = definePresenter(contract, (data) => {
  const { grade, score, findings, url, final_url: finalUrl } = data;
  const parts = data.categories.slice(0, MOST_PARTS);
  return {
    verdict: verdictOfPractice(grade, findings),
    headline: headlineOf(data),
    facts: existing(
      fact("Grade", grade, { tone: verdictOfGrade(grade) }),
      fact("Score", `${score} of 100`),
      fact("First byte", milliseconds(data.ttfb_ms), { unit: "ms" }),
      fact("Page loaded in", milliseconds(data.total_ms), { unit: "ms" }),
      ...parts.map(({ name, score: points, max }) => fact(name, `${points} of ${max}`)),
      fact("Final URL", finalUrl === url ? null : finalUrl),
    ),
    tables: existing(
      table(
        "Grade limits",
        ["Grade", "Reason"],
        data.grade_caps.map((cap) => [cap.grade, cap.reason]),
      ),
      ...parts.map(tableOf),
    ),
  };
});

/** Says the grade, and its limit if there is one that counts, else what to fix first. */
function headlineOf({ url, grade, score, grade_caps: caps, categories, findings }: Health): string {
  const limit = caps.find((cap) => cap.grade === grade);
  if (limit !== undefined) return `${shortUrl(url)}: grade ${grade}. ${limit.reason}`;
  const graded = `${shortUrl(url)}: grade ${grade}, ${score} of 100 points`;
  const [first] = findings;
  if (first === undefined) return `${graded}, nothing to fix`;
  const checks = categories.flatMap(({ checks: ofOne }) => ofOne);
  const name = checks.find(({ id }) => id === first.where)?.name ?? first.message;
  return `${graded}. Fix first: ${name}`;
}

function tableOf({ name, score, max, checks }: Category): Table | null {
  return table(
    `${name}: ${score} of ${max} points`,
    ["Check", "#Points", "#Of", "Found"],
    checks.map((check) => ({
      cells: [
        check.name,
        check.status === "na" ? null : check.score,
        check.max,
        check.value ?? (check.status === "na" ? check.detail : "none"),
      ],
      tone: TONES[check.status],
    })),
  );
}
