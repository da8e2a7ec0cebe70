import { describe, expect, it } from "vitest";
import { factOf, presentExample } from "#test/shared/tools/examples.ts";
import { redirects } from "#shared/tools/redirects/contract.ts";

const FINDING = { id: "x", severity: "critical", message: "It fails.", how: null, reference: null, where: null };
const FAILURE = {
  url: "https://gone.test/",
  stage: "dns",
  source: "target",
  reason: "nxdomain",
  message: "The name does not exist (NXDOMAIN)",
  ms: 3,
};

describe("the presentation of redirects", () => {
  it("begins with the end of the chain, and lists every hop with its time", () => {
    const shown = presentExample(redirects);
    expect(shown.verdict).toBe("good");
    expect(shown.headline).toBe("http://shop.test/old leads to https://shop.test/new (2 redirects, 16 ms)");
    expect(shown.facts.slice(0, 4).map(({ label }) => label)).toEqual(["Ends at", "Status", "Redirects", "Total time"]);
    expect(shown.series[0]?.bars.map(({ label, start, length }) => [label, start, length])).toEqual([
      ["1. 301", 0, 4],
      ["2. 301", 4, 6],
      ["3. 200", 10, 6],
    ]);
  });

  it("says that a chain does not arrive: in a circle, too long, at a URL that does not answer", () => {
    const of = (change: object) => presentExample(redirects, () => ({ findings: [FINDING], ...change }));
    expect(of({ loop: true }).headline).toBe(
      "http://shop.test/old redirects in a circle after 2 redirects and never arrives",
    );
    expect(of({ truncated: true }).headline).toBe(
      "http://shop.test/old does not arrive: 2 redirects followed, and there are more",
    );
    const dead = of({ failure: FAILURE });
    expect(dead.headline).toBe(
      "http://shop.test/old leads to https://gone.test/, which does not answer: The name does not exist (NXDOMAIN)",
    );
    expect([dead.verdict, factOf(dead, "Ends at"), factOf(dead, "Status")]).toEqual([
      "bad",
      "https://gone.test/",
      "no answer",
    ]);
  });

  it("names the status of an error page and of a redirect without a target", () => {
    const of = (code: number) => presentExample(redirects, () => ({ final_code: code })).headline;
    expect(of(404)).toContain("leads to https://shop.test/new, which answers 404");
    expect(of(302)).toContain("which answers 302, a redirect that cannot be followed");
  });

  it("shows no waterfall for a URL that does not redirect", () => {
    const shown = presentExample(redirects, ({ hops }) => ({
      hops: hops.slice(2),
      count: 0,
      url: "https://shop.test/new",
      https_upgrade: false,
    }));
    expect(shown.headline).toBe("https://shop.test/new does not redirect");
    expect(shown.series).toEqual([]);
  });

  it("says how a page redirects without a status for it, and which hop browsers skip", () => {
    const shown = presentExample(redirects, ({ hops }) => ({
      hops: hops.map((hop) => ({ ...hop, type: "meta", delay_s: 5, hsts: "preloaded", set_cookie_count: 0 })),
    }));
    expect(shown.tables[0]?.rows[0]?.cells.at(-1)).toBe(
      "by meta element after 5 s; browsers skip it: the host is in their HSTS list",
    );
  });
});
