import { describe, expect, it } from "vitest";
import { verdictOf, verdictOfGrade, verdictOfPractice, worst } from "#shared/presentation/verdict.ts";

describe("a verdict", () => {
  it("is the worst of several, and neutral without any", () => {
    expect(worst([])).toBe("neutral");
    expect(worst(["good", "neutral"])).toBe("neutral");
    expect(worst(["good", "warning", "neutral"])).toBe("warning");
    expect(worst(["warning", "bad", "good"])).toBe("bad");
  });

  it("follows the most severe finding, and is good without any", () => {
    const of = (...severities: readonly ("critical" | "warning" | "info")[]) =>
      verdictOf(severities.map((severity) => ({ severity })));
    expect([of(), of("info"), of("info", "warning"), of("info", "critical", "warning")]).toEqual([
      "good",
      "good",
      "warning",
      "bad",
    ]);
  });

  it.each([
    ["A+", "good"],
    ["A", "good"],
    ["A-", "good"],
    ["B+", "good"],
    ["B", "good"],
    ["B-", "good"],
    ["C+", "warning"],
    ["C", "warning"],
    ["D-", "warning"],
    ["E", "warning"],
    ["F", "bad"],
    ["T", "bad"],
    ["M", "bad"],
  ])("of the grade %s is %s", (grade, verdict) => {
    expect(verdictOfGrade(grade)).toBe(verdict);
  });

  it("of a grade for good practice is a warning at most, and bad only by a finding", () => {
    expect(["A+", "B-", "C", "F"].map((grade) => verdictOfPractice(grade, []))).toEqual([
      "good",
      "good",
      "warning",
      "warning",
    ]);
    expect(verdictOfPractice("A", [{ severity: "warning" }])).toBe("warning");
    expect(verdictOfPractice("A", [{ severity: "critical" }])).toBe("bad");
  });
});
