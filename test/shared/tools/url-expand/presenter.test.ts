import { describe, expect, it } from "vitest";
import { factOf, presentExample } from "#test/shared/tools/examples.ts";
import { urlExpand } from "#shared/tools/url-expand/contract.ts";

describe("the presentation of url-expand", () => {
  it("begins with the destination and its title", () => {
    const shown = presentExample(urlExpand);
    expect(shown.verdict).toBe("good");
    expect(shown.headline).toBe(
      "https://go.test/spring leads to https://shop.test/new?utm_source=letter&utm_medium=mail&id=4",
    );
    expect(factOf(shown, "Title")).toBe("Oak & Lumen: hand-made lamps of oak and glass");
    expect(factOf(shown, "Without tracking")).toBe("https://shop.test/new?id=4");
  });

  it("warns of a link that hints at harm, although there is no finding, and says why", () => {
    const of = (signs: object) => presentExample(urlExpand, ({ safe }) => ({ safe: { ...safe, ...signs } }));
    const clear = of({ https: false, https_throughout: false });
    expect([clear.verdict, factOf(clear, "Encrypted")]).toEqual(["warning", "no: its page is not on trusted HTTPS"]);
    const late = of({ https_throughout: false });
    expect([late.verdict, factOf(late, "Encrypted")]).toEqual(["warning", "only at its end"]);
    const strange = of({ punycode: true, to_address: true, shortener_count: 3, downgrade: true });
    expect(["Host", "Letters", "Shorteners", "Leaves HTTPS"].map((label) => factOf(strange, label))).toEqual([
      "an IP address instead of a name",
      "not ASCII: they can look like others",
      "3: together they hide the end",
      "yes: a hop goes back to http",
    ]);
  });

  it("says that a link does not redirect, and that it is dead", () => {
    const of = (code: number) => presentExample(urlExpand, () => ({ count: 0, expanded: false, code })).headline;
    expect(of(200)).toBe("https://go.test/spring does not redirect");
    expect(of(404)).toBe("https://go.test/spring does not redirect, and answers 404");
  });

  it("cuts a URL that would hide the rest of the headline", () => {
    const shown = presentExample(urlExpand, () => ({ short_url: `https://go.test/${"a".repeat(4000)}` }));
    expect(shown.headline).toMatch(/^https:\/\/go\.test\/a{63}… leads to https:\/\/shop\.test\/new/);
  });
});
