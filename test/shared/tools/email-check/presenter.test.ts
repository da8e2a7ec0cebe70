import { describe, expect, it } from "vitest";
import { factOf, presentExample } from "#test/shared/tools/examples.ts";
import { emailCheck } from "#shared/tools/email-check/contract.ts";

const NO_DMARC = {
  id: "dmarc-present",
  severity: "critical",
  message: "No DMARC record applies.",
  how: null,
  reference: null,
  where: "dmarc",
};

describe("the presentation of email-check", () => {
  it("says what becomes of forged mail, and that mail to the domain does not arrive", () => {
    expect(presentExample(emailCheck)).toMatchObject({
      verdict: "bad",
      headline:
        "shop.test: grade A+, forged mail is refused; mail to it does not arrive: mail.shop.test has no public address",
    });
  });

  it("is good where nothing is wrong, and begins with grade, forgery, DMARC and SPF", () => {
    const shown = presentExample(emailCheck, () => ({ findings: [] }));
    expect(shown).toMatchObject({ verdict: "good", headline: "shop.test: grade A+, forged mail is refused" });
    expect(shown.facts.slice(0, 4).map(({ label, value }) => `${label}: ${value}`)).toEqual([
      "Grade: A+ (100 of 100)",
      "Can be forged: no",
      "DMARC: reject: forged mail is refused",
      "SPF: others are refused (-all)",
    ]);
  });

  it("says first that anyone can send in the domain's name", () => {
    const shown = presentExample(emailCheck, ({ dmarc, spf }) => ({
      grade: "F",
      score: 20,
      spoofable: true,
      spoofable_reason: "No DMARC record applies.",
      findings: [NO_DMARC],
      dmarc: { ...dmarc, record: null, policy_effective: null },
      spf: { ...spf, record: null, valid: false, all_qualifier: null },
    }));
    expect(shown).toMatchObject({
      verdict: "bad",
      headline: "Anyone can send mail as shop.test (grade F): no DMARC record applies",
    });
    expect([factOf(shown, "DMARC"), factOf(shown, "SPF")]).toEqual(["none", "none"]);
  });

  it("lists what costs points, the most expensive first", () => {
    const shown = presentExample(emailCheck, ({ checks }) => ({
      checks: checks.map((one) =>
        one.id === "transport"
          ? { ...one, status: "fail", score: 0, detail: "No TLS." }
          : one.id === "dmarc_policy"
            ? { ...one, status: "partial", score: 4, detail: "Policy in effect: none." }
            : one,
      ),
    }));
    expect(shown.tables[0]).toMatchObject({
      title: "What costs points",
      rows: [
        { cells: ["DMARC", "16 of 20", "Policy in effect: none."], tone: "warning" },
        { cells: ["MX/TLS", "8 of 8", "No TLS."], tone: "bad" },
      ],
    });
  });

  it("calls what could not be looked up not known, never absent", () => {
    const unknown = presentExample(emailCheck, ({ checks, dmarc, mta_sts: sts }) => ({
      checks: checks.map((one) => ({ ...one, status: "na", score: 0 })),
      spoofable: null,
      findings: [],
      dmarc: { ...dmarc, record: null, policy_effective: null },
      mta_sts: { ...sts, dns: { record: null, present: null, id: null }, policy: null, mode: null },
    }));
    expect(unknown.headline).toBe("shop.test: grade A+; whether others can send as it is not known");
    expect([factOf(unknown, "DMARC"), factOf(unknown, "MTA-STS")]).toEqual(["not known", "not known"]);
    const nothing = presentExample(emailCheck, () => ({ grade: null, score: null, findings: [] }));
    expect(nothing).toMatchObject({
      verdict: "warning",
      headline: "The mail records of shop.test cannot be looked up",
    });
  });
});
