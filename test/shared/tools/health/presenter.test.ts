import { describe, expect, it } from "vitest";
import { factOf, presentExample } from "#test/shared/tools/examples.ts";
import { health } from "#shared/tools/health/contract.ts";

describe("the presentation of health", () => {
  it("begins with the grade and what to fix first", () => {
    const shown = presentExample(health);
    expect(shown.verdict).toBe("warning");
    expect(shown.headline).toBe("shop.test: grade A, 90 of 100 points. Fix first: Content Security Policy");
    expect(factOf(shown, "SSL/TLS")).toBe("24 of 25");
    expect(shown.tables.map(({ title }) => title)).toEqual([
      "Security Headers: 24 of 30 points",
      "SSL/TLS: 24 of 25 points",
      "Performance: 24 of 25 points",
      "Best Practices: 18 of 20 points",
    ]);
  });

  it("says why the grade is limited", () => {
    const shown = presentExample(health, ({ findings }) => ({
      grade: "F",
      grade_caps: [
        { grade: "F", check: "trust", reason: "The certificate is not trusted: expired" },
        { grade: "A", check: "hsts", reason: "HSTS is missing or lasts less than six months" },
      ],
      findings: findings.map((one) => ({ ...one, severity: "critical" })),
    }));
    expect(shown.verdict).toBe("bad");
    expect(shown.headline).toBe("shop.test: grade F. The certificate is not trusted: expired");
    expect(shown.tables[0]?.rows.map(({ cells }) => cells[0])).toEqual(["F", "A"]);
  });

  it("is a warning at most where pages work, whatever the grade", () => {
    expect(presentExample(health, () => ({ grade: "F", score: 41, findings: [] })).verdict).toBe("warning");
    const best = presentExample(health, () => ({ grade: "A+", score: 100, findings: [] }));
    expect([best.verdict, best.headline]).toEqual(["good", "shop.test: grade A+, 100 of 100 points, nothing to fix"]);
  });

  it("gives no points to a check that does not apply, and says why", () => {
    const shown = presentExample(health, ({ categories }) => ({
      categories: categories.map((category) => ({
        ...category,
        checks: category.checks.map((one) => ({ ...one, status: "na", value: null, detail: "Nothing answers." })),
      })),
    }));
    expect(shown.tables[0]?.rows[0]).toEqual({
      cells: ["Content Security Policy", "9", "Nothing answers."],
      tone: "neutral",
    });
  });
});
