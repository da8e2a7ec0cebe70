import { describe, expect, it } from "vitest";
import { factOf, presentExample } from "#test/shared/tools/examples.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { propagation } from "#shared/tools/propagation/contract.ts";

type Result = ResultOf<typeof propagation>;
type Resolver = Result["resolvers"][number];

/** Presents the example with some resolvers and a verdict. */
function presentSpread(verdict: Result["verdict"], change: (row: Resolver) => object, more: object = {}) {
  return presentExample(propagation, ({ resolvers }) => ({
    verdict,
    failures: [],
    findings: [],
    expected_in_s: null,
    resolvers: resolvers.map((row) => ({ ...row, cause: null, ...change(row) })),
    ...more,
  }));
}

describe("the presentation of propagation", () => {
  it("counts who has the current answer, and lists first who has not", () => {
    const shown = presentExample(propagation);
    expect(shown.verdict).toBe("warning");
    expect(shown.headline).toBe(
      "shop.test A: 3 of 5 resolvers have the current answer, 1 has an older one and 1 refuses the query; " +
        "the last older one expires in 2 min",
    );
    expect(shown.tables[0]?.rows.map(({ cells }) => cells[1])).toEqual([
      "refuses the query",
      "older answer",
      "current",
      "current",
      "current",
    ]);
  });

  it("is good where all resolvers have the current answer, also if that is none", () => {
    const all = (more: object) => presentSpread("propagated", () => ({ verdict: "match" }), more);
    expect(all({})).toMatchObject({ verdict: "good", headline: "shop.test A: all 5 resolvers answer 127.80.0.1" });
    const { authoritative } = none();
    expect(all({ authoritative }).headline).toBe("shop.test A: all 5 resolvers say that the name does not exist");
  });

  it("does not count a resolver without an answer, or one that refuses, against the domain", () => {
    const shown = presentSpread("propagated", ({ id }) =>
      id === "closed" ? { verdict: "error", status: "TIMEOUT", error: "timeout" } : { verdict: "match" },
    );
    expect(shown).toMatchObject({ verdict: "good", headline: "shop.test A: all 4 resolvers answer 127.80.0.1" });
    expect(factOf(shown, "No answer")).toBe("1 resolver");
  });

  it("says why all resolvers fail", () => {
    const failures = [{ cause: "dnssec", detail: "", resolvers: ["north"] }];
    const broken = { verdict: "broken", cause: "dnssec", status: "SERVFAIL", answers: [] };
    const shown = presentSpread("broken", () => broken, { failures });
    expect(shown).toMatchObject({
      verdict: "bad",
      headline: "shop.test A fails at all 5 resolvers: DNSSEC validation fails",
    });
  });

  it("compares nothing where the domain's servers cannot be asked or no resolver answers", () => {
    const alone = presentSpread("inconsistent", () => ({ verdict: "unknown" }), { authoritative: null });
    expect(alone.headline).toBe("shop.test A: the domain's own servers cannot be asked, so nothing can be compared");
    const silent = presentSpread("unknown", () => ({ verdict: "error" }), { authoritative: null });
    expect(silent).toMatchObject({ verdict: "warning", headline: "shop.test A: no resolver answers" });
  });
});

function none(): Pick<Result, "authoritative"> {
  const name = { zone: "test", name: "shop.test", ns: [], answers: [], status: "NXDOMAIN", ttl: 300 };
  return { authoritative: { ...name, servers: [], serials: [], consistent: true } };
}
