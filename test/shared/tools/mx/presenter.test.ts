import { describe, expect, it } from "vitest";
import { factOf, presentExample } from "#test/shared/tools/examples.ts";
import { mx } from "#shared/tools/mx/contract.ts";

describe("the presentation of mx", () => {
  it("says first that mail does not arrive, and why", () => {
    const shown = presentExample(mx);
    expect(shown).toMatchObject({
      verdict: "bad",
      headline: "Mail to shop.test does not arrive: mail.shop.test has no public address",
    });
    expect(factOf(shown, "TLS reports to")).toBe("tls@shop.test");
  });

  it("names the mail host, or the provider, of a domain that receives mail", () => {
    const findings: never[] = [];
    const shown = presentExample(mx, () => ({ findings }));
    expect(shown).toMatchObject({ verdict: "good", headline: "Mail to shop.test goes to mail.shop.test" });
    const provided = presentExample(mx, () => ({ findings, provider: "Google Workspace" }));
    expect(provided.headline).toBe("Mail to shop.test goes to Google Workspace (1 mail host)");
  });

  it("judges a domain that declares to accept no mail as little as one whose lookup failed", () => {
    const none = { findings: [], records: [], provider: null, ipv6: null };
    const refusing = presentExample(mx, () => ({ ...none, null_mx: true }));
    expect(refusing).toMatchObject({
      verdict: "neutral",
      headline: "shop.test accepts no mail, as its DNS declares",
    });
    expect(factOf(refusing, "Mail hosts")).toBe("none: accepts no mail");
    const failed = presentExample(mx, () => ({ ...none, null_mx: null, implicit_mx: null, status: "SERVFAIL" }));
    expect(failed).toMatchObject({
      verdict: "warning",
      headline: "The mail hosts of shop.test cannot be looked up: SERVFAIL",
    });
  });

  it("marks a mail host without an address, and an address without a reverse name", () => {
    const shown = presentExample(mx, ({ records: [host] }) => ({
      records: [
        { ...host, addresses: [] },
        { ...host, addresses: [{ ip: "192.0.2.25", ptr: null, has_ptr: false, fcrdns: null, asn: 64500 }] },
      ],
    }));
    expect(shown.tables[0]?.rows).toEqual([
      { cells: ["10", "mail.shop.test", "no address", "", "", "valid"], tone: "bad" },
      { cells: ["10", "mail.shop.test", "192.0.2.25", "none", "AS64500", "valid"], tone: "warning" },
    ]);
  });
});
