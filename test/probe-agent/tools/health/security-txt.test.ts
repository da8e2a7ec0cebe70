import { describe, expect, it } from "vitest";
import { parseSecurityTxt } from "#probe-agent/tools/health/security-txt.ts";

const NOW = new Date("2026-03-01T00:00:00Z");
const HERE = "https://example.com/.well-known/security.txt";
const parse = (text: string) => parseSecurityTxt(text, HERE, NOW);
const GOOD = "Contact: mailto:security@example.com\nExpires: 2026-12-31T18:37:07z\n";

describe("security.txt (RFC 9116)", () => {
  it("reads the fields of section 2.5", () => {
    const file = parse(
      `# Our policy\r\nContact: mailto:security%2Buri@example.com\r\nCONTACT: tel:+1-201-555-0123\r\nExpires: 2026-12-31T18:37:07z\r\n` +
        `Canonical: ${HERE}\r\nEncryption: dns:5d2d37ab76d47d36._openpgpkey.example.com?type=OPENPGPKEY\r\nPreferred-Languages: en, es,fr\r\n`,
    );
    expect(file).toMatchObject({
      valid: true,
      expired: false,
      expires: new Date("2026-12-31T18:37:07Z"),
      contact: ["mailto:security%2Buri@example.com", "tel:+1-201-555-0123"],
      preferredLanguages: ["en", "es", "fr"],
      errors: [],
      warnings: [],
    });
  });

  it("accepts the example of a signed file", () => {
    const file = parse(
      `-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\n# x\n${GOOD}- -----\n-----BEGIN PGP SIGNATURE-----\n\nabc\n-----END PGP SIGNATURE-----\n`,
    );
    expect(file).toMatchObject({ signed: true, contact: ["mailto:security@example.com"] });
    expect(file.errors).toEqual(["not a field: -----"]);
  });

  const faults: readonly (readonly [text: string, error: RegExp])[] = [
    ["Expires: 2026-12-31T18:37:07z\n", /contact: missing/],
    ["Contact: mailto:a@b.c\n", /expires: missing/],
    [`${GOOD}Expires: 2026-12-30T18:37:07z\n`, /expires: allowed only once/],
    ["Contact: mailto:a@b.c\nExpires: Thu, 31 Dec 2026 18:37:07 GMT\n", /RFC 3339/],
    ["Contact: mailto:a@b.c\nExpires: 2026-02-30T00:00:00Z\n", /RFC 3339/],
    ["Contact: mailto:a@b.c\nExpires: 2026-12-31\n", /RFC 3339/],
    ["Contact: security@example.com\nExpires: 2026-12-31T18:37:07z\n", /contact: not a URI/],
    ["Contact: http://example.com/\nExpires: 2026-12-31T18:37:07z\n", /must use https/],
    [`${GOOD}Policy: /policy\n`, /policy: not a URI/],
    [`${GOOD}Preferred-Languages: en\nPreferred-Languages: de\n`, /preferred-languages/],
    [`${GOOD}<!doctype html>\n`, /not a field/],
  ];
  for (const [text, error] of faults) {
    it(`rejects ${JSON.stringify(text)}`, () => {
      const file = parse(text);
      expect(file.valid).toBe(false);
      expect(file.errors.join("\n")).toMatch(error);
    });
  }

  it("is not valid after its expiry, in any time zone", () => {
    expect(parse("Contact: tel:+1\nExpires: 2026-03-01T00:00:00Z\n")).toMatchObject({
      valid: false,
      expired: true,
      errors: [],
    });
    expect(parse("Contact: tel:+1\nExpires: 2026-03-01T01:00:00+02:00\n")).toMatchObject({ expired: true });
    expect(parse("Contact: tel:+1\nExpires: 2026-03-01T00:00:00-02:00\n")).toMatchObject({ valid: true });
  });

  it("warns about what is allowed but not recommended", () => {
    const file = parse(`${GOOD.replace("2026-12", "2028-12")}Canonical: https://other.example/\nX-Own:1\n`);
    expect(file.valid).toBe(true);
    expect(file.warnings).toHaveLength(4);
  });

  it("reads junk quickly", () => {
    for (const text of ["a\n", "contact: x\n", ":\n", "-----BEGIN PGP SIGNED MESSAGE-----\n"]) {
      expect(parse(text.repeat(1_000_000)).valid).toBe(false);
    }
  });
});
