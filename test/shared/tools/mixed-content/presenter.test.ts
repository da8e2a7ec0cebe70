import { describe, expect, it } from "vitest";
import { factOf, presentExample } from "#test/shared/tools/examples.ts";
import { mixedContent } from "#shared/tools/mixed-content/contract.ts";

const SCRIPT = { tag: "script", attr: "src", url: "http://cdn.test/a.js", line: 7 };
const FORM = { tag: "form", attr: "action", url: "http://shop.test/pay", line: 30 };
const CLEAN = {
  verdict: "clean",
  active: [],
  passive: [],
  forms: [],
  css_urls: [],
  counts: { active: 0, passive: 0, forms: 0, css: 0 },
  findings: [],
};

describe("the presentation of mixed-content", () => {
  it("says that browsers load images over https instead", () => {
    const shown = presentExample(mixedContent);
    expect(shown.verdict).toBe("good");
    expect(shown.headline).toBe("shop.test: browsers load 1 insecure reference over https instead");
    expect(shown.tables[0]?.rows[0]?.cells).toEqual([
      "99",
      "loaded over https",
      "img src",
      "http://img.shop.test/assets/reading.jpg",
    ]);
  });

  it("names what browsers block before what they upgrade, and forms that send data over http", () => {
    const shown = presentExample(mixedContent, ({ counts }) => ({
      verdict: "active",
      active: [SCRIPT],
      forms: [FORM],
      counts: { ...counts, active: 1, forms: 1 },
    }));
    expect(shown.headline).toBe(
      "shop.test: browsers block 1 insecure reference, browsers load 1 insecure reference over https instead " +
        "and 1 form can be read on the way, sent over http",
    );
    expect(shown.tables[0]?.rows.map(({ cells, tone }) => [cells[1], tone])).toEqual([
      ["blocked", "warning"],
      ["loaded over https", undefined],
      ["sent over http", "warning"],
    ]);
  });

  it("counts nothing as blocked if the policy upgrades all, and all as blocked if it blocks all", () => {
    const upgraded = presentExample(mixedContent, ({ counts }) => ({
      active: [SCRIPT],
      counts: { ...counts, active: 1 },
      upgrade_insecure_requests: true,
    }));
    expect([factOf(upgraded, "Blocked"), factOf(upgraded, "Loaded over https")]).toEqual(["0", "2"]);
    const blocked = presentExample(mixedContent, () => ({ verdict: "blocked", block_all: true }));
    expect([factOf(blocked, "Blocked"), factOf(blocked, "Loaded over https")]).toEqual(["1", "0"]);
    expect(blocked.tables[0]?.rows[0]?.cells[1]).toBe("blocked");
  });

  it("has headlines of their own for a clean page, a page without encryption and one that did not come whole", () => {
    const clean = presentExample(mixedContent, () => CLEAN);
    expect([clean.verdict, clean.headline, clean.tables]).toEqual(["good", "shop.test: no mixed content", []]);
    const cut = presentExample(mixedContent, () => ({ ...CLEAN, verdict: null }));
    expect([cut.verdict, cut.headline]).toEqual(["neutral", "shop.test: not checked, no complete HTML page came"]);
    const plain = presentExample(mixedContent, ({ findings }) => ({
      ...CLEAN,
      https: false,
      findings: findings.map((one) => ({ ...one, severity: "warning" })),
    }));
    expect([plain.verdict, plain.headline]).toEqual(["warning", "shop.test is not encrypted: it is served over http"]);
  });

  it("says that the page is an error page, and where redirects led", () => {
    const shown = presentExample(mixedContent, () => ({ ...CLEAN, code: 503, final_url: "https://shop.test/down" }));
    expect(shown.verdict).toBe("bad");
    expect(shown.headline).toBe("shop.test/down (an error page, status 503): no mixed content");
    expect(factOf(shown, "Final URL")).toBe("https://shop.test/down");
  });
});
