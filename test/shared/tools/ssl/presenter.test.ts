import { describe, expect, it } from "vitest";
import { factOf, presentExample } from "#test/shared/tools/examples.ts";
import { ssl } from "#shared/tools/ssl/contract.ts";

describe("the presentation of ssl", () => {
  it("begins with grade, trust and end of a good certificate", () => {
    const shown = presentExample(ssl);
    expect(shown.verdict).toBe("good");
    expect(shown.headline).toBe("shop.test: grade A+, trusted, ends in 84 days");
    expect(shown.facts.slice(0, 3).map(({ label, value }) => `${label}: ${value}`)).toEqual([
      "Grade: A+",
      "Trusted: yes",
      "Valid until: 2027-02-20 (in 84 days)",
    ]);
  });

  it("says first that a certificate has expired, and when", () => {
    const shown = presentExample(ssl, ({ certificate }) => ({
      trusted: false,
      trust_error: "expired",
      grade: "T",
      certificate: { ...certificate, not_after: "2026-11-15T00:00:00.000Z", days_left: -13 },
    }));
    expect(shown.verdict).toBe("bad");
    expect(shown.headline).toBe("The certificate of shop.test expired 12 days ago");
    expect(factOf(shown, "Trusted")).toBe("no: it has expired");
  });

  it("names the reason not to trust, and a reason that it does not know as it is", () => {
    const of = (error: string) => presentExample(ssl, () => ({ trusted: false, trust_error: error })).headline;
    expect(of("hostname_mismatch")).toBe("The certificate of shop.test is not trusted: it is for other names");
    expect(of("path_too_long")).toBe("The certificate of shop.test is not trusted: path_too_long");
  });

  it("is a warning where the grade is C or a version is forbidden", () => {
    const shown = presentExample(ssl, ({ protocols }) => ({ grade: "C", protocols: { ...protocols, tls1_0: true } }));
    expect(shown.verdict).toBe("warning");
    expect(shown.facts.find(({ label }) => label === "Protocols")).toMatchObject({ tone: "warning" });
  });
});
