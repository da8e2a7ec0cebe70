import { describe, expect, it } from "vitest";
import { factOf, presentExample } from "#test/shared/tools/examples.ts";
import { dkim } from "#shared/tools/dkim/contract.ts";

describe("the presentation of dkim", () => {
  it("says whether receivers can verify with the key, and shows none of its data", () => {
    const shown = presentExample(dkim);
    expect(shown).toMatchObject({
      verdict: "good",
      headline: "The DKIM key default of shop.test is valid: RSA, 2048 bits",
    });
    expect(JSON.stringify(shown)).not.toContain("MIIB");
  });

  it("is bad where the key is missing or cannot be used, with the reason", () => {
    const broken = (change: object) => presentExample(dkim, () => ({ valid: false, ...change }));
    const missing = broken({ record: null, key: null, selectors: [], invalid_reason: "There is no TXT record." });
    expect(missing).toMatchObject({ verdict: "bad", headline: "shop.test has no DKIM key default" });
    expect(factOf(missing, "Usable")).toBe("no: There is no TXT record");
    expect(broken({ invalid_reason: "The key is cut short." }).headline).toBe(
      "The DKIM key default of shop.test cannot be used: The key is cut short",
    );
  });

  it("says that a key works, but is too short or in test mode", () => {
    const shown = presentExample(dkim, () => ({
      key: { type: "rsa", bits: 1024, encoding: "spki" },
      testing: true,
    }));
    expect(shown.headline).toBe(
      "The DKIM key default of shop.test works, but is too short and in test mode (RSA, 1024 bits)",
    );
    expect(shown.facts.find(({ label }) => label === "Key")).toMatchObject({ tone: "warning" });
  });

  it("judges neither a revoked key nor that none was found by trying", () => {
    const revoked = presentExample(dkim, () => ({ valid: false, revoked: true, key: null, p: "" }));
    expect(revoked).toMatchObject({ verdict: "neutral", headline: "The DKIM key default of shop.test is revoked" });
    const nothing = { selector: null, record: null, valid: null, key: null, selectors: [], records_found: null };
    expect(presentExample(dkim, () => nothing)).toMatchObject({
      verdict: "neutral",
      headline: "No DKIM key of shop.test was found under well-known selectors; there may be others",
      tables: [],
    });
  });

  it("lists the keys found by trying, the broken ones marked", () => {
    const shown = presentExample(dkim, ({ selectors: [one] }) => ({
      discovered_selectors: ["default", "s1"],
      selectors: [
        { ...one, used_by: "cPanel" },
        { ...one, selector: "s1", valid: false, invalid_reason: "The key is no key.", key: null },
      ],
    }));
    expect(shown.headline).toBe("shop.test has 2 DKIM keys, 1 of them usable; best: default (RSA, 2048 bits)");
    expect(shown.tables[0]?.rows).toEqual([
      { cells: ["default", "RSA, 2048 bits", "yes", "cPanel"] },
      { cells: ["s1", "", "The key is no key.", ""], tone: "bad" },
    ]);
  });
});
