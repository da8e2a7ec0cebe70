import { getCACertificates } from "node:tls";
import { X509Certificate } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createPki, daysFromNow, issue } from "#test/servers/pki.ts";
import { der } from "#test/servers/der.ts";
import { verifyChain } from "#probe-agent/analysis/tls/certificate.ts";
import { describeCertificate } from "#probe-agent/analysis/tls/certificate/describe.ts";
import { formFaults } from "#probe-agent/analysis/tls/certificate/form.ts";
import { parseCertificate } from "#probe-agent/analysis/tls/certificate/parse.ts";
import { cpuTime } from "#test/support/cpu-time.ts";

const pki = await createPki();
const now = daysFromNow(0);

describe("hostile certificates", () => {
  it("truncated anywhere are refused without a throw", async () => {
    const { der: whole } = await pki.issue({ dns: ["a.example"] });
    for (let length = 0; length < whole.length; length += 1) {
      expect(parseCertificate(whole.subarray(0, length))).toBeNull();
    }
  });

  it("with any octet changed never make verification fail and never become trusted", async () => {
    const { der: whole } = await pki.issue({ dns: ["a.example"], mustStaple: true, ocspUrls: ["http://o.example"] });
    for (let at = 0; at < whole.length; at += 1) {
      const changed = Buffer.from(whole);
      changed[at] = (changed[at] ?? 0) ^ 0xff;
      const intermediates = [pki.intermediate.pem];
      const verification = verifyChain({ leaf: changed, intermediates, roots: [pki.root.pem], host: "a.example", now });
      expect(verification.trusted).toBe(false);
      const parsed = parseCertificate(changed);
      if (parsed) expect(describeCertificate(parsed, now).fingerprint_sha256).toHaveLength(64);
    }
  });

  it("with ten thousand names are verified and described within limits", async () => {
    const dns = Array.from({ length: 10_000 }, (_, index) => `host-${index}.example.com`);
    const large = await pki.issue({ subject: "many", dns });
    const request = { leaf: large.der, intermediates: [pki.intermediate.pem], roots: [pki.root.pem], now };
    expect(verifyChain({ ...request, host: "host-9999.example.com" })).toMatchObject({ trusted: true, errors: [] });
    const parsed = parseCertificate(large.der);
    if (!parsed) throw new Error("it is a certificate");
    const described = describeCertificate(parsed, now);
    expect(described.san_total).toBe(10_000);
    expect(JSON.stringify(described).length).toBeLessThan(100_000);
  });

  it("of a megabyte are not parsed", async () => {
    const extra = [{ oid: "1.3.6.1.4.1.55555.1", value: der(0x04, Buffer.alloc(1_000_000)) }];
    const huge = await issue({ dns: ["a.example"], extra });
    const verification = verifyChain({ leaf: huge.der, intermediates: [], roots: [huge.der], host: "a.example", now });
    expect(verification.errors).toEqual(["malformed"]);
  });

  it("that all cross-sign each other are searched with little work, and the only path is found", async () => {
    const authorities = await Promise.all(
      Array.from({ length: 9 }, (_, index) => issue({ subject: `M${index}`, ca: true })),
    );
    const crossed = await Promise.all(
      authorities.flatMap((issuer) =>
        authorities.map((to) => issue({ subject: to.name, ca: true, key: to.keys, issuer })),
      ),
    );
    const [first] = authorities;
    const last = authorities.at(-1);
    if (!first || !last) throw new Error("there are nine");
    const leaf = await issue({ dns: ["a.example"], issuer: first });
    const exit = await issue({ subject: last.name, ca: true, key: last.keys, issuer: pki.root });
    const before = cpuTime();
    const judge = (intermediates: readonly string[]): boolean =>
      verifyChain({ leaf: leaf.pem, intermediates, roots: [pki.root.pem], host: "a.example", now }).trusted;
    expect(judge(crossed.map(({ pem }) => pem))).toBe(false);
    expect(judge([...crossed, exit].map(({ pem }) => pem))).toBe(true);
    expect(cpuTime() - before).toBeLessThan(10_000);
  });
});

describe("Node's bundled roots", () => {
  it("are all parsed as OpenSSL parses them", () => {
    const roots = getCACertificates("bundled");
    expect(roots.length).toBeGreaterThan(100);
    for (const pem of roots) {
      const reference = new X509Certificate(pem);
      const parsed = parseCertificate(reference.raw);
      if (!parsed) throw new Error(`unreadable: ${reference.subject}`);
      const described = describeCertificate(parsed, now);
      expect(described.fingerprint_sha256).toBe(reference.fingerprint256.replaceAll(":", "").toLowerCase());
      expect(described.serial.replace(/^0+/, "")).toBe(reference.serialNumber.toLowerCase().replace(/^0+/, ""));
      expect(described.not_after).toBe(new Date(reference.validTo).toISOString());
    }
  });

  it("break no form rule", () => {
    const faulty = getCACertificates("bundled").filter((pem) => {
      const parsed = parseCertificate(new X509Certificate(pem).raw);
      return parsed === null || formFaults(parsed, { isLeaf: false, isAnchor: true }).length > 0;
    });
    expect(faulty).toEqual([]);
  });

  it("verify themselves", () => {
    const roots = getCACertificates("bundled");
    const host = "unused.example";
    const trusted = roots.filter((leaf) => verifyChain({ leaf, intermediates: [], roots, host, now }).trusted);
    expect(trusted.length).toBeGreaterThan(0);
  });
});
