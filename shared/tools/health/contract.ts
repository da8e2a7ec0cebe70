import { Type } from "typebox";
import { defineTool } from "#shared/tools/define.ts";
import { Limitations, Nullable, Url } from "#shared/tools/fields.ts";
import { elapsed, findings } from "#shared/tools/shapes.ts";

function text(description: string) {
  return Type.String({ description });
}

function points(description: string) {
  return Type.Integer({ minimum: 0, maximum: 100, description });
}

function words<const W extends string>(list: readonly W[], description: string) {
  return Type.Unsafe<W>({ type: "string", enum: list, description });
}

const GRADES = ["A+", "A", "B", "C", "D", "F"] as const;

const Check = Type.Object({
  id: text("Stable name, e.g. hsts"),
  name: text("Heading"),
  status: words(["pass", "warn", "fail", "info", "na"], "na: does not apply or is unknown, left out of the score"),
  score: points("Points earned; 0 if the status is na"),
  max: points("Maximum points"),
  value: Nullable(text("Value found; null if there is none")),
  expected: text("Value that earns all points"),
  detail: text("Meaning of the value"),
  reference: text("URL of the specification or guide"),
});

const Category = Type.Object({
  name: words(["Security Headers", "SSL/TLS", "Performance", "Best Practices"], "Heading"),
  score: points("Points of the category times the share earned in the checks that apply, rounded"),
  max: points("Maximum points of the category"),
  checks: Type.Array(Check, { description: "Checks of the category, in a fixed order" }),
});

const Recommendation = Type.Object({
  type: words(
    ["critical", "warning", "info"],
    "Same scale as the severity of findings: critical: visitors do not arrive, or an attacker gets in; warning: that will happen, or it costs much; info: good to know",
  ),
  check: text("id of the check"),
  message: text("What is wrong"),
  points: points("Points lost in the check"),
  category: text("Name of the check's category"),
  how: text("What to change"),
});

const GradeCap = Type.Object({
  grade: words(GRADES, "Best grade still possible"),
  check: text("id of the check that causes the limit"),
  reason: text("Reason for the limit"),
});

/** The health tool: scores the state of a site, and reports everything that makes up the score. */
export const health = defineTool({
  name: "health",
  title: "Website health",
  summary: "A score of 0 to 100 for security headers, TLS, performance and best practices, and what to fix first",
  scope: "check",
  toolset: "web",
  target: { param: "url", kind: "url", connects: true },
  example: { url: "https://example.com" },
  deadlineMs: () => 45_000,
  cacheMs: 120_000,
  params: Type.Object({ url: Url({ description: "Page to check; redirects are followed" }) }),
  result: Type.Object({
    url: text("URL as requested"),
    final_url: text("URL of the checked page, after redirects"),
    score: points("Sum of the categories' scores"),
    grade: words(
      GRADES,
      "Grade of the score, limited by caps: A+ from 95, A from 90, B from 80, C from 70, D from 60, else F",
    ),
    grade_caps: Type.Array(GradeCap, {
      description: "Limits on the grade, regardless of the score; the lowest counts",
    }),
    categories: Type.Array(Category, { description: "The four categories: 30, 25, 25 and 20 points" }),
    recommendations: Type.Array(Recommendation, { description: "What to fix, most lost points first" }),
    findings: findings("Recommendations as findings, worst first; where: id of the check"),
    ttfb_ms: Type.Integer({ minimum: 0, description: "Time to first byte of the page, median of the samples, ms" }),
    ttfb_samples_ms: Type.Array(Type.Integer({ minimum: 0 }), { description: "The one to three samples, ms" }),
    total_ms: Type.Integer({ minimum: 0, description: "Time for redirects and the page until its last byte, ms" }),
    observed_at: text("When the check began, ISO 8601 UTC"),
    elapsed_ms: elapsed(),
    limitations: Limitations(),
  }),
  across: {
    agreeOn: ({ grade }) => grade,
    measure: ({ ttfb_ms }) => ({ ttfb_ms }),
  },
});
