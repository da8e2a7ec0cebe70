import { describe, expect, it } from "vitest";
import { factOf, presentExample } from "#test/shared/tools/examples.ts";
import { asn } from "#shared/tools/asn/contract.ts";

describe("the presentation of asn", () => {
  it("says who holds a number", () => {
    const shown = presentExample(asn);
    expect(shown).toMatchObject({ verdict: "neutral", headline: "AS15169 belongs to Google LLC (GOOGLE)" });
    expect(factOf(shown, "Allocated")).toBe("2000-03-30 (26 years ago)");
  });

  it("says which network an address is in, with the others that announce it", () => {
    const shown = presentExample(asn, () => ({
      query: "dns.google",
      host: "dns.google",
      ip: "8.8.8.8",
      prefix: "8.8.8.0/24",
      origins: [15_169, 64_500],
    }));
    expect(shown.headline).toBe("dns.google (8.8.8.8) is in AS15169, Google LLC (GOOGLE)");
    expect(factOf(shown, "Also announced by")).toBe("AS64500");
  });

  it("says that nobody announces an address, and what a number is for that no network has", () => {
    const none = { asn: null, use: null, org: null, name: null, rdap: null, allocated: null };
    const quiet = presentExample(asn, () => ({ ...none, query: "192.0.2.1", ip: "192.0.2.1" }));
    expect(quiet.headline).toBe("No network is known to announce 192.0.2.1");
    expect(factOf(quiet, "Network")).toBe("none");
    const special = presentExample(asn, () => ({ ...none, query: "AS64512", asn: 64_512, use: "private" }));
    expect(special.headline).toBe("AS64512 is for private use: any network can have it inside");
    const unknown = presentExample(asn, () => ({ ...none, query: "AS99", asn: 99, use: "public" }));
    expect(unknown.headline).toBe("The holder of AS99 is not known");
  });
});
