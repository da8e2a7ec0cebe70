import { describe, expect, it } from "vitest";
import { factOf, presentExample } from "#test/shared/tools/examples.ts";
import { security } from "#shared/tools/security/contract.ts";

describe("the presentation of security", () => {
  it("begins with the grade and the failed tests in words", () => {
    const shown = presentExample(security);
    expect(shown.verdict).toBe("good");
    expect(shown.headline).toBe("shop.test: grade B+, fails 2 of 12 tests: cookies, integrity of foreign scripts");
    expect(factOf(shown, "Headers missing")).toBe("Cross-Origin-Resource-Policy, Cross-Origin-Embedder-Policy");
    expect(factOf(shown, "HTTPS enforced")).toBe("for 365 days, with subdomains");
  });

  it("names the failed tests that cost most first", () => {
    const shown = presentExample(security, ({ tests }) => ({
      grade: "F",
      tests: tests.map((test, index) => ({ ...test, pass: false, score_modifier: -index })),
    }));
    expect(shown.verdict).toBe("warning");
    expect(shown.headline).toBe(
      "shop.test: grade F, fails 12 of 12 tests: Cross-Origin-Opener-Policy, Cross-Origin-Embedder-Policy, Cross-Origin-Resource-Policy and 9 more",
    );
    expect(shown.facts[0]).toEqual({ label: "Grade", value: "F", tone: "bad" });
  });

  it("says that every test passes", () => {
    const shown = presentExample(security, ({ tests }) => ({
      grade: "A+",
      tests: tests.map((test) => ({ ...test, pass: true })),
    }));
    expect(shown.headline).toBe("shop.test: grade A+, passes all 12 tests");
  });

  it("says why there is no grade", () => {
    const none = { grade: null, score: null, raw_score: null, mdn: null, tests: [], findings: [] };
    const shown = presentExample(security, () => ({ ...none, code: 404 }));
    expect([shown.verdict, shown.headline]).toEqual(["warning", "shop.test was not graded: it answers 404"]);
    expect(presentExample(security, () => none).headline).toBe(
      "shop.test was not graded: its page could not be examined",
    );
  });

  it("tells HTTPS that is not enforced from a host that is in browsers' list", () => {
    const of = (change: object) => {
      const shown = presentExample(security, ({ hsts }) => ({
        hsts: { ...hsts, value: null, max_age_s: null, ...change },
      }));
      return shown.facts.find(({ label }) => label === "HTTPS enforced");
    };
    expect(of({})).toMatchObject({ value: "no: no Strict-Transport-Security", tone: "warning" });
    expect(of({ value: "max-age=0", max_age_s: 0 })).toMatchObject({
      value: "no: Strict-Transport-Security is off or invalid",
    });
    expect(of({ preloaded: true })).toMatchObject({ value: "by browsers' list", tone: "good" });
  });
});
