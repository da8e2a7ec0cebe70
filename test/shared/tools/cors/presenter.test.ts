import { describe, expect, it } from "vitest";
import { factOf, presentExample } from "#test/shared/tools/examples.ts";
import { cors } from "#shared/tools/cors/contract.ts";

describe("the presentation of cors", () => {
  it("begins with what the tested origin and other sites can do", () => {
    const shown = presentExample(cors);
    expect(shown.verdict).toBe("good");
    expect(shown.headline).toBe("https://partner.test can read shop.test/api/stock.json; other sites cannot");
    expect(shown.facts.slice(0, 4).map(({ label, value }) => `${label}: ${value}`)).toEqual([
      "Risk: none",
      "Reads responses: yes",
      "With cookies: no",
      "Sends JSON: no",
    ]);
  });

  it("says that any site acts as the visitor, which lets attackers in", () => {
    const shown = presentExample(cors, () => ({ risk: "critical" }));
    expect(shown.verdict).toBe("bad");
    expect(shown.headline).toBe("Any site can use shop.test/api/stock.json with the cookies of its visitors");
    expect(presentExample(cors, () => ({ risk: "high" })).verdict).toBe("warning");
  });

  it("tells apart reading, sending and cookies of the tested origin, and of no origin", () => {
    const of = (change: object) => presentExample(cors, () => change).headline;
    expect(of({ preflight_allowed: true, credentialed_request_allowed: true })).toBe(
      "https://partner.test can read and send JSON to shop.test/api/stock.json with the visitor's cookies; other sites cannot",
    );
    expect(of({ simple_request_allowed: false })).toBe("Other sites cannot read shop.test/api/stock.json");
    expect(of({ origin: "null", risk: "low" })).toBe(
      "A page without an origin can read shop.test/api/stock.json; other sites can read public responses",
    );
  });

  it("does not call a target safe that answered no request", () => {
    const shown = presentExample(cors, ({ probes }) => ({
      simple_request_allowed: null,
      credentialed_request_allowed: null,
      preflight_allowed: null,
      probes: probes.map((one) => ({ ...one, code: null, acao: null, verdict: "rate_limited" })),
    }));
    expect(shown.verdict).toBe("warning");
    expect(shown.headline).toBe("shop.test/api/stock.json does not answer requests of https://partner.test");
    expect(factOf(shown, "Risk")).toBeNull();
    expect(shown.tables[0]?.rows[0]?.cells.slice(2)).toEqual(["too many requests", "too many requests"]);
  });

  it("lists each origin once, and marks a foreign one that acts as the visitor", () => {
    const shown = presentExample(cors, ({ probes }) => ({
      probes: probes.map((one) => ({ ...one, verdict: "allowed_with_credentials" })),
    }));
    expect(shown.tables[0]?.rows.map(({ cells, tone }) => [cells[1], tone])).toEqual([
      ["your origin", undefined],
      ["another site", "bad"],
      ["no site (null)", "bad"],
      ["begins like the host", "bad"],
      ["ends like the host", "bad"],
      ["made-up subdomain", "warning"],
    ]);
  });
});
