import { describe, expect, it } from "vitest";
import { factOf, presentExample } from "#test/shared/tools/examples.ts";
import { resolveUrl } from "#shared/tools/resolve-url/contract.ts";

describe("the presentation of resolve-url", () => {
  it("begins with the final URL and the one that search engines list", () => {
    const shown = presentExample(resolveUrl);
    expect(shown.verdict).toBe("good");
    expect(shown.headline).toBe(
      "https://shop.test/old?utm_source=letter leads to https://shop.test/new; search engines list https://shop.test/",
    );
    expect(factOf(shown, "URL to share")).toBe("https://shop.test/");
  });

  it("does not repeat a canonical URL that is the final one, and says that there is none or more than one", () => {
    const of = (change: object) => presentExample(resolveUrl, () => change);
    const same = of({ canonical_url: "https://shop.test/new", canonical_matches: true });
    expect(same.headline).toBe("https://shop.test/old?utm_source=letter leads to https://shop.test/new");
    expect(factOf(same, "Canonical URL")).toBe("the final URL");
    const none = { canonical_url: null, canonical_source: null, canonical_matches: null };
    expect(factOf(of({ ...none, canonical_candidates: [] }), "Canonical URL")).toBe("none declared");
    expect(factOf(of({ ...none, canonical_candidates: ["https://a.test/", "https://b.test/"] }), "Canonical URL")).toBe(
      "several: https://a.test/, https://b.test/",
    );
  });

  it("says that the last URL does not answer", () => {
    const shown = presentExample(resolveUrl, () => ({
      code: null,
      canonical_url: null,
      canonical_source: null,
      canonical_matches: null,
      canonical_candidates: [],
      failure: {
        url: "https://shop.test/new",
        stage: "connect",
        source: "target",
        reason: "refused",
        message: "The connection was refused.",
        ms: 3,
      },
    }));
    expect(shown.headline).toBe(
      "https://shop.test/old?utm_source=letter leads to https://shop.test/new, which does not answer: The connection was refused",
    );
    expect([factOf(shown, "Status"), factOf(shown, "Canonical URL")]).toEqual(["no answer", null]);
  });

  it("lists parameters that track visitors with their users", () => {
    const shown = presentExample(resolveUrl, () => ({ tracking_params: [{ name: "gclid", vendor: "Google Ads" }] }));
    expect(shown.tables.map(({ title, rows }) => [title, rows[0]?.cells])).toEqual([
      ["Tracking parameters", ["gclid", "Google Ads"]],
    ]);
  });
});
