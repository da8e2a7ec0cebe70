import { describe, expect, it } from "vitest";
import { factOf, presentExample } from "#test/shared/tools/examples.ts";
import { csp } from "#shared/tools/csp/contract.ts";

const NO_POLICY = { grade: "F", score: 0, score_steps: [], enforced: false, policies: [] };

describe("the presentation of csp", () => {
  it("begins with the grade and the weakness that costs most", () => {
    const shown = presentExample(csp);
    expect(shown.verdict).toBe("warning");
    expect(shown.headline).toBe("shop.test: grade A+. Images or media can load over HTTP");
    const inline = presentExample(csp, ({ score_steps: steps }) => ({
      grade: "D",
      score_steps: [
        ...steps,
        { id: "script-unsafe-inline", points: -40, message: "Inline scripts or event handlers run." },
        { id: "trusted-types", points: 5, message: "Trusted Types are required." },
      ],
    }));
    expect(inline.headline).toBe("shop.test: grade D. Inline scripts or event handlers run");
    expect(inline.tables[0]?.rows.map(({ cells }) => cells[1])).toEqual(["-5", "-40", "+5"]);
  });

  it("says that there is no policy, and shows no sources", () => {
    const shown = presentExample(csp, () => NO_POLICY);
    expect(shown.headline).toBe("shop.test sends no Content-Security-Policy: injected scripts run");
    expect([shown.verdict, factOf(shown, "Enforced"), factOf(shown, "Scripts")]).toEqual([
      "warning",
      "no policy",
      null,
    ]);
    expect(shown.tables).toEqual([]);
  });

  it("says that a policy only reports", () => {
    const shown = presentExample(csp, ({ policies }) => ({
      grade: "F",
      enforced: false,
      policies: policies.map((one) => ({ ...one, source: "report-only" })),
    }));
    expect(shown.headline).toBe("The Content-Security-Policy of shop.test only reports: it blocks nothing");
    expect(factOf(shown, "Policies")).toBe("1 report-only header");
  });

  it("shows what may load from where, without the letters of nonces and hashes", () => {
    const shown = presentExample(csp, ({ effective }) => ({
      effective: {
        ...effective,
        script_src: ["'sha256-abc='", "'nonce-one'", "'nonce-two'"],
        script_src_elem: ["'self'"],
        img_src: null,
      },
    }));
    const rows = new Map(shown.tables.at(-1)?.rows.map(({ cells: [what, , allowed] }) => [what, allowed]));
    expect(["Scripts", "Script elements", "Images", "Plugins"].map((what) => rows.get(what))).toEqual([
      "'sha256-…', 'nonce-…'",
      "'self'",
      "any",
      "none",
    ]);
  });

  it("has good news where nothing costs points", () => {
    const shown = presentExample(csp, () => ({ score: 100, score_steps: [], findings: [], strict_csp: true }));
    expect([shown.verdict, shown.headline]).toEqual(["good", "shop.test: grade A+, no weakness found"]);
    expect(factOf(shown, "Strict")).toBe("yes: only nonces or hashes allow scripts");
  });
});
