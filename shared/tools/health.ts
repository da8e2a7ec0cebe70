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
  status: words(
    ["pass", "warn", "fail", "info", "na"],
    "na: does not apply or could not be told, left out of the score",
  ),
  score: points("Points earned; 0 where na"),
  max: points("Points to be had"),
  value: Nullable(text("What was found, null where nothing was")),
  expected: text("What earns all points"),
  detail: text("What the finding means"),
  reference: text("Address of the specification or guide"),
});

const Category = Type.Object({
  name: words(["Security Headers", "SSL/TLS", "Performance", "Best Practices"], "Heading"),
  score: points("Share of max earned in the checks that apply, rounded"),
  max: points("Points of the category"),
  checks: Type.Array(Check, { description: "Its checks in fixed order" }),
});

const Recommendation = Type.Object({
  type: words(
    ["critical", "warning", "info"],
    "As the severity of findings: critical: visitors do not arrive, or an attacker gets in; warning: that will happen, or it costs much; info: good to know",
  ),
  check: text("id of the check"),
  message: text("What is wrong"),
  points: points("Points lost in that check"),
  category: text("Name of its category"),
  how: text("What to do"),
});

const GradeCap = Type.Object({
  grade: words(GRADES, "The best grade still possible"),
  check: text("id of the check that shows why"),
  reason: text("Why"),
});

/** One figure for the state of a site, with everything it is made of. */
export const health = defineTool({
  name: "health",
  title: "Website health",
  summary: "A score of 0 to 100 for security headers, TLS, performance and good practice, and what to mend first",
  scope: "check",
  toolset: "web",
  target: { param: "url", kind: "url", connects: true },
  example: { url: "https://example.com" },
  deadlineMs: () => 45_000,
  cacheMs: 120_000,
  params: Type.Object({ url: Url({ description: "Page to judge; redirects are followed" }) }),
  result: Type.Object({
    url: text("URL as requested"),
    final_url: text("URL of the page judged, after redirects"),
    score: points("Sum of the categories' scores"),
    grade: words(GRADES, "By score (95, 90, 80, 70, 60), lowered by caps"),
    grade_caps: Type.Array(GradeCap, {
      description: "Limits on the grade that apply, whatever the score; the lowest counts",
    }),
    categories: Type.Array(Category, { description: "The four categories: 30, 25, 25 and 20 points" }),
    recommendations: Type.Array(Recommendation, { description: "What to mend, most points first" }),
    findings: findings("The recommendations worst first, in the shape all tools share; where: id of the check"),
    ttfb_ms: Type.Integer({ minimum: 0, description: "Time to first byte of the page, median of the samples, ms" }),
    ttfb_samples_ms: Type.Array(Type.Integer({ minimum: 0 }), { description: "The one to three samples, ms" }),
    total_ms: Type.Integer({ minimum: 0, description: "Redirects and page until its last byte, ms" }),
    observed_at: text("When the check began, ISO 8601 UTC"),
    elapsed_ms: elapsed(),
    limitations: Limitations(),
  }),
  across: {
    agreeOn: ({ grade }) => grade,
    measure: ({ ttfb_ms }) => ({ ttfb_ms }),
  },
});
