import { describe, expect, it } from "vitest";
import { discoverPolicy, effectivePolicy, walkDomains } from "#probe-agent/tools/email-check/dmarc-tree-walk.ts";

/** Runs a tree walk over records by domain. null means that the lookup fails. */
function walk(domain: string, records: Readonly<Record<string, string | readonly string[] | null>>) {
  return discoverPolicy(
    walkDomains(domain).map((at) => {
      const found = records[at];
      return { domain: at, texts: found === undefined ? [] : found === null ? null : [found].flat() };
    }),
  );
}

describe("the tree walk (RFC 9989 section 4.10)", () => {
  it("queries up to eight names, as in the RFC's example of twelve labels", () => {
    expect(walkDomains("a.b.c.d.e.f.g.h.i.j.mail.example.com")).toEqual([
      "a.b.c.d.e.f.g.h.i.j.mail.example.com",
      "g.h.i.j.mail.example.com",
      "h.i.j.mail.example.com",
      "i.j.mail.example.com",
      "j.mail.example.com",
      "mail.example.com",
      "example.com",
      "com",
    ]);
  });

  it("skips the zone cut in the RFC's example of a decentralised organization", () => {
    const names = walkDomains("mail.a.b.c.d.e.f.g.example.com");
    expect(names).toHaveLength(8);
    expect(names[1]).toBe("c.d.e.f.g.example.com");
    expect(names).not.toContain("b.c.d.e.f.g.example.com");
  });

  it.each([
    ["example.com", ["example.com", "com"]],
    ["com", ["com"]],
    [
      "a.b.c.d.e.f.g.h",
      ["a.b.c.d.e.f.g.h", "b.c.d.e.f.g.h", "c.d.e.f.g.h", "d.e.f.g.h", "e.f.g.h", "f.g.h", "g.h", "h"],
    ],
    [
      "1.2.3.4.5.6.7.8.9",
      ["1.2.3.4.5.6.7.8.9", "3.4.5.6.7.8.9", "4.5.6.7.8.9", "5.6.7.8.9", "6.7.8.9", "7.8.9", "8.9", "9"],
    ],
  ])("of %s queries its ancestors", (domain, names) => {
    expect(walkDomains(domain)).toEqual(names);
  });

  it("ignores several records of one name and other texts", () => {
    const found = walk("mail.example.com", {
      "mail.example.com": ["v=DMARC1; p=reject", "v=DMARC1; p=none"],
      "example.com": ["v=spf1 -all", "v=DMARC1; p=quarantine"],
    });
    expect(found.steps[0]?.state).toBe("several");
    expect(found.policy?.domain).toBe("example.com");
  });

  it("stops at psd=y and psd=n", () => {
    const above = "v=DMARC1; p=none";
    expect(walk("a.b.example", { b: null, "b.example": "v=DMARC1; p=none; psd=n", example: above }).steps).toHaveLength(
      2,
    );
    expect(walk("b.example", { "b.example": "v=DMARC1; p=none; psd=y", example: above }).steps).toHaveLength(1);
    expect(walk("b.example", { "b.example": "v=DMARC1; p=none; psd=u", example: above }).steps).toHaveLength(2);
  });
});

describe("the organizational domain (section 4.10.2)", () => {
  it("is the highest domain with a record (the RFC's first example)", () => {
    const found = walk("a.mail.example.com", {
      "mail.example.com": "v=DMARC1; p=none",
      "example.com": "v=DMARC1; p=none",
    });
    expect(found.orgDomain).toBe("example.com");
  });

  it("is the domain with psd=n (the RFC's second example)", () => {
    const found = walk("a.mail.example.com", {
      "mail.example.com": "v=DMARC1; p=none; psd=n",
      "example.com": "v=DMARC1; p=none",
    });
    expect(found.orgDomain).toBe("mail.example.com");
  });

  it("is one label below the domain with psd=y (the RFC's third example)", () => {
    expect(walk("a.mail.example.com", { com: "v=DMARC1; p=none; psd=y" }).orgDomain).toBe("example.com");
    const middle = walk("x.mail.example.com", { "example.com": "v=DMARC1; p=none; psd=y" });
    expect(middle.orgDomain).toBe("mail.example.com");
  });

  it("is the domain itself if there is no record or it is a public suffix", () => {
    expect(walk("a.example.com", {}).orgDomain).toBe("a.example.com");
    expect(walk("gov.example", { "gov.example": "v=DMARC1; p=reject; psd=y" }).orgDomain).toBe("gov.example");
  });
});

describe("the policy (section 4.10.1)", () => {
  const policyOf = (domain: string, records: Parameters<typeof walk>[1], exists = true) =>
    effectivePolicy(walk(domain, records), domain, exists);

  it("is that of the domain, otherwise of the organizational domain, otherwise of the public suffix", () => {
    const own = { "a.example.com": "v=DMARC1; p=quarantine", "example.com": "v=DMARC1; p=reject" };
    expect(policyOf("a.example.com", own)).toEqual({ policy: "quarantine", from: "p" });
    expect(policyOf("b.a.example.com", own)).toEqual({ policy: "reject", from: "p" });
    expect(policyOf("b.example.net", { net: "v=DMARC1; p=reject; psd=y" })).toEqual({ policy: "reject", from: "p" });
    const both = { "example.net": "v=DMARC1; p=none", net: "v=DMARC1; p=reject; psd=y" };
    expect(policyOf("b.example.net", both)).toEqual({ policy: "none", from: "p" });
    expect(policyOf("b.example.net", {})).toBeNull();
  });

  it("is sp for subdomains and np for subdomains that do not exist", () => {
    const records = { "example.com": "v=DMARC1; p=reject; sp=quarantine; np=none" };
    expect(policyOf("example.com", records, false)).toEqual({ policy: "reject", from: "p" });
    expect(policyOf("a.example.com", records)).toEqual({ policy: "quarantine", from: "sp" });
    expect(policyOf("a.example.com", records, false)).toEqual({ policy: "none", from: "np" });
    const without = { "example.com": "v=DMARC1; p=reject; sp=quarantine" };
    expect(policyOf("a.example.com", without, false)).toEqual({ policy: "quarantine", from: "sp" });
  });

  it("is one step weaker with t=y (section 4.7)", () => {
    expect(policyOf("example.com", { "example.com": "v=DMARC1; p=reject; t=y" })?.policy).toBe("quarantine");
    expect(policyOf("example.com", { "example.com": "v=DMARC1; p=quarantine; t=y" })?.policy).toBe("none");
    expect(policyOf("example.com", { "example.com": "v=DMARC1; p=none; t=y" })?.policy).toBe("none");
  });

  it("is none with an invalid policy and a usable rua, and absent without a usable rua", () => {
    expect(policyOf("example.com", { "example.com": "v=DMARC1; p=x; rua=mailto:a@b.example" })).toEqual({
      policy: "none",
      from: "default",
    });
    expect(policyOf("example.com", { "example.com": "v=DMARC1; p=x" })).toBeNull();
    expect(policyOf("example.com", { "example.com": "v=DMARC1" })).toEqual({ policy: "none", from: "default" });
  });

  it("is uncertain if the lookup of a relevant step failed", () => {
    expect(walk("a.example.com", { "a.example.com": null, "example.com": "v=DMARC1; p=none" }).uncertain).toBe(true);
    expect(walk("a.example.com", { "example.com": null }).uncertain).toBe(true);
    expect(walk("a.example.com", { "a.example.com": "v=DMARC1; p=none", com: null }).uncertain).toBe(false);
  });
});
