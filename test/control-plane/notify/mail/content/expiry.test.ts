import { describe, expect, it } from "vitest";
import { writeDigest } from "#control-plane/notify/mail/content/digest.ts";
import { readNotice } from "#control-plane/notify/mail/content/event-body.ts";
import { writeNotice } from "#control-plane/notify/mail/content/notice.ts";

const monitor = { id: 7, name: "Shop", url: "https://shop.example/", check_type: "http" };
const certificate = {
  host: "shop.example",
  port: 443,
  subject: "CN=shop.example",
  issuer: "CN=R1",
  fingerprint_sha256: "a".repeat(64),
  not_before: "2026-01-01T00:00:00.000Z",
  not_after: "2026-04-01T00:00:00.000Z",
};
const domain = { name: "shop.example", registrar: "R", expires_at: "2026-04-01T00:00:00.000Z", status: ["active"] };

function notice(type: string, data: object) {
  const body = { id: "evt_1", type, created_at: "2026-03-25T00:00:00Z", data: { monitor, threshold: null, ...data } };
  return readNotice({ id: "evt_1", type, body: JSON.stringify(body) });
}
const letter = (type: string, data: object) => writeNotice(notice(type, data), "https://v.example");

describe("a mail about an expiry", () => {
  it.each([
    ["ssl.expiring", { certificate, days_left: 7 }, "Certificate expires in 7 days", "expires in 7 days."],
    ["ssl.expiring", { certificate, days_left: 1 }, "Certificate expires in 1 day", "expires in 1 day."],
    ["ssl.expiring", { certificate, days_left: 0 }, "Certificate expires within a day", "expires within a day."],
    ["ssl.expiring", { certificate, days_left: -665 }, "Certificate expired 664 days ago", "expired 664 days ago."],
    ["ssl.expired", { certificate, days_left: -1 }, "Certificate expired", "has expired."],
    ["domain.expiring", { domain, days_left: 14 }, "Domain expires in 14 days", "expires in 14 days."],
    ["domain.expired", { domain, days_left: -1 }, "Domain lapsed", "has lapsed."],
  ])("of type %s says what happens and when", (type, data, subject, headline) => {
    const written = letter(type, data);
    expect(written.subject).toBe(`${subject}: Shop`);
    expect(written.headline.endsWith(headline)).toBe(true);
    expect(written.facts.map(([label]) => label)).toContain("Target");
  });

  it("about another certificate names the one before, and whether it looks like a renewal", () => {
    const previous = { issuer: "CN=R0", fingerprint_sha256: "b".repeat(64), not_after: "2026-03-26T00:00:00Z" };
    const renewed = letter("ssl.chain_changed", { certificate, previous, looks_like_renewal: true, days_left: 80 });
    expect(renewed.subject).toBe("Certificate renewed: Shop");
    expect(renewed.facts).toContainEqual(["Issuer before", "CN=R0"]);
    const changed = letter("ssl.chain_changed", { certificate, previous, looks_like_renewal: false, days_left: 80 });
    expect(changed.headline).toBe("The certificate of Shop changed, and it does not look like a renewal.");
  });

  it("about a certificate above the server's own one names it", () => {
    const intermediate = { ...certificate, role: "intermediate", subject: "CN=Intermediate 1" };
    const written = letter("ssl.expiring", { certificate: intermediate, days_left: 5 });
    expect(written.subject).toBe("Intermediate certificate expires in 5 days: Shop");
    expect(written.headline).toBe("An intermediate certificate of Shop expires in 5 days.");
    expect(written.facts).toContainEqual(["Certificate", "CN=Intermediate 1"]);
  });

  it("has lines of bounded length, whatever the names in the certificate contain", () => {
    const hostile = { ...certificate, issuer: `CN=\u202eevil\r\nBcc: x@example.com${"x".repeat(5_000)}` };
    const { facts } = letter("ssl.expired", { certificate: hostile, days_left: -1 });
    const issuer = facts.find(([label]) => label === "Issuer")?.[1] ?? "";
    expect(issuer).toMatch(/^CN= ?evil Bcc: x@example.com/);
    expect(issuer.length).toBeLessThanOrEqual(200);
  });

  it("counts several of them", () => {
    const several = [notice("ssl.expired", { certificate }), notice("domain.expired", { domain })] as const;
    const links = { baseUrl: "https://v.example", linkOf: () => "https://v.example/i/token" };
    expect(writeDigest([...several], 2, links).subject).toMatch(/certificates expired|Flapping/);
  });
});
