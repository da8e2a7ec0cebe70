import { describe, expect, it } from "vitest";
import { evaluateCrl, type CrlResult, MAX_ENTRIES, scanEntries } from "#probe-agent/analysis/tls/certificate/crl.ts";
import { readCrl } from "#probe-agent/analysis/tls/certificate/crl-read.ts";
import { MalformedDer } from "#probe-agent/analysis/tls/certificate/der.ts";
import {
  certificateIssuer,
  certificateList,
  crlEntry,
  crlPem,
  deltaIndicator,
  issuingDistributionPoint,
  manyEntries,
  type CrlOptions,
} from "#test/servers/crl.ts";
import { der, sequence } from "#test/servers/der.ts";
import { createPki, daysFromNow, type Issued, type KeyKind } from "#test/servers/pki.ts";
import { extension, parsed } from "#test/servers/signing.ts";
import { cpuTime } from "#test/support/cpu-time.ts";

const NOW = new Date();
const URL_OF_LIST = "http://crl.test/1.crl";
const pki = await createPki();
const leaf = await pki.issue({ dns: ["leaf.test"], serial: "00ff01", crlUrls: [URL_OF_LIST] });
const issuer = pki.intermediate;
const own = { serialNumber: parsed(leaf).serialNumber };
const other = { serialNumber: Uint8Array.of(0x01, 0xff) };

function judge(octets: Uint8Array, certificate: Issued = leaf, by: Issued = issuer): CrlResult | null {
  const crl = readCrl(octets);
  return crl && evaluateCrl(crl, { certificate: parsed(certificate), issuer: parsed(by), now: NOW });
}

function about(options: Partial<CrlOptions> = {}): CrlResult | null {
  return judge(certificateList({ issuer, entries: [other], ...options }));
}

describe("a valid list (RFC 5280 section 6.3.3)", () => {
  it("says that a certificate without an entry is good", () => {
    expect(about()).toMatchObject({ status: "good", revokedAt: null, entries: 1, authentic: true, error: null });
    expect(about({ entries: [] })).toMatchObject({ status: "good", entries: 0 });
  });

  it("says that a certificate with an entry is revoked, with date and reason", () => {
    const at = new Date("2026-02-03T04:05:06Z");
    expect(about({ entries: [other, { ...own, at, reason: 1 }, other] })).toMatchObject({
      status: "revoked",
      revokedAt: at,
      reason: "key_compromise",
      entries: 2,
      error: null,
    });
    expect(about({ entries: [own] })).toMatchObject({ status: "revoked", reason: null });
    expect(about({ entries: [{ ...own, reason: 8 }] })).toMatchObject({ status: "good", reason: null });
  });

  it("compares complete serial numbers, not their ends and not their unsigned values", () => {
    const near = ["ff01", "01", "0100ff01", "00ff0100", "00ff02"].map((hex) => ({
      serialNumber: Buffer.from(hex, "hex"),
    }));
    expect(about({ entries: near })).toMatchObject({ status: "good", entries: near.length });
  });

  it("can be PEM", () => {
    const list = crlPem(certificateList({ issuer, entries: [own] }));
    expect(judge(Buffer.from(`some words\n${list}`))).toMatchObject({ status: "revoked" });
  });

  it.each<KeyKind>(["rsa2048", "p384", "ed25519"])("can be signed with a key of type %s", async (key) => {
    const authority = await createPki({ key });
    const certificate = await authority.issue({ dns: ["leaf.test"] });
    const list = certificateList({ issuer: authority.intermediate });
    expect(judge(list, certificate, authority.intermediate)).toMatchObject({ status: "good", error: null });
  });

  it("covers its declared scope (section 5.2.5)", () => {
    const scope = (point: Parameters<typeof issuingDistributionPoint>[0]) =>
      about({ extensions: [issuingDistributionPoint(point)] });
    expect(scope({ urls: ["http://other.test/", URL_OF_LIST], onlyUsers: true })).toMatchObject({ status: "good" });
    expect(scope({ urls: ["http://crl.test/2.crl"] })).toMatchObject({ status: null, error: "other_scope" });
    expect(scope({ onlyAuthorities: true })).toMatchObject({ status: null, error: "other_scope" });
    expect(scope({ indirect: true })).toMatchObject({ status: null, error: "indirect" });
    expect(scope({ someReasons: true })).toMatchObject({ status: null, error: "some_reasons" });
  });

  it("covers authorities if it is for authorities, not if it is for users", () => {
    const scope = (point: Parameters<typeof issuingDistributionPoint>[0]) =>
      judge(
        certificateList({ issuer: pki.root, extensions: [issuingDistributionPoint(point)] }),
        pki.intermediate,
        pki.root,
      );
    expect(scope({ onlyAuthorities: true })).toMatchObject({ status: "good" });
    expect(scope({ onlyUsers: true })).toMatchObject({ error: "other_scope" });
  });

  it("for only some reasons still says that a certificate is revoked", () => {
    const extensions = [issuingDistributionPoint({ someReasons: true })];
    expect(about({ entries: [own], extensions })).toMatchObject({ status: "revoked", error: null });
  });
});

describe("a list does not determine the status", () => {
  it("because of its dates", () => {
    expect(about({ thisUpdate: daysFromNow(-9), nextUpdate: daysFromNow(-1) })).toMatchObject({
      status: null,
      authentic: true,
      error: "stale",
    });
    expect(about({ thisUpdate: daysFromNow(1) })).toMatchObject({ error: "not_yet_valid" });
    expect(about({ nextUpdate: null })).toMatchObject({ status: "good" });
    expect(about({ nextUpdate: null, thisUpdate: daysFromNow(-2) })).toMatchObject({ error: "stale" });
  });

  it("because of its signer", async () => {
    const stranger = await createPki({ name: "Stranger" });
    const namesake = await createPki();
    expect(about({ issuer: stranger.intermediate })).toMatchObject({ error: "other_issuer", authentic: false });
    expect(about({ issuer: pki.root })).toMatchObject({ error: "other_issuer" });
    expect(about({ signer: namesake.intermediate })).toMatchObject({ error: "bad_signature", authentic: false });
    const mute = await pki.issue({ issuer: pki.root, subject: "Mute", ca: true, keyUsage: 4 });
    const certificate = await pki.issue({ dns: ["leaf.test"], issuer: mute });
    expect(judge(certificateList({ issuer: mute }), certificate, mute)).toMatchObject({ error: "unauthorized_signer" });
  });

  it("because of unknown critical extensions of the list or of an entry", () => {
    const critical = extension("1.2.3.4", der(0x05), true);
    expect(about({ extensions: [critical] })).toMatchObject({ error: "unknown_critical_extension" });
    expect(about({ extensions: [extension("1.2.3.4", der(0x05))] })).toMatchObject({ status: "good" });
    expect(about({ extensions: [deltaIndicator(7)] })).toMatchObject({ error: "delta" });
    const elsewhere = { ...other, extensions: [certificateIssuer(parsed(pki.root).subject)] };
    expect(about({ entries: [elsewhere] })).toMatchObject({ status: null, error: "unknown_critical_extension" });
  });

  it("because it is not a list", () => {
    const good = certificateList({ issuer });
    for (const octets of [new Uint8Array(), Buffer.from("<html>"), Buffer.alloc(4000, 0x30), good.subarray(1)]) {
      expect(readCrl(octets)).toBeNull();
    }
    for (let length = 0; length < good.length; length += 1) {
      expect(readCrl(good.subarray(0, length)), `${length} octets`).toBeNull();
    }
  });

  it("if any bit is changed, and never throws", () => {
    const good = certificateList({ issuer, entries: [own] });
    for (let at = 0; at < good.length * 8; at += 3) {
      const changed = Uint8Array.from(good);
      changed[at >> 3] = (changed[at >> 3] ?? 0) ^ (1 << (at & 7));
      expect(judge(changed)?.status ?? null, `bit ${at}`).toBeNull();
    }
  });
});

describe("entries", () => {
  it.each([
    ["that are not sequences", der(0x31, der(0x02, Uint8Array.of(1)))],
    ["without a serial number", sequence(der(0x04, Uint8Array.of(1)))],
    ["that end after the list", Buffer.from("30100201", "hex")],
    ["whose serial number ends after them", Buffer.from("3003020501", "hex")],
    ["of indefinite length", Buffer.from("3080020101", "hex")],
    ["of more than 16 MB", Buffer.from("3084010000000201", "hex")],
  ])("%s are malformed", (_what, entries) => {
    expect(() => scanEntries(entries, own.serialNumber)).toThrow(MalformedDer);
    expect(judge(certificateList({ issuer, rawEntries: entries }))).toMatchObject({ status: null, error: "malformed" });
  });

  it("of ten megabytes, 300,000 of them, are searched with little work and without objects", () => {
    const rawEntries = manyEntries(300_000);
    const list = certificateList({ issuer, rawEntries: Buffer.concat([rawEntries, crlEntry({ ...own, reason: 4 })]) });
    expect(list.length).toBeGreaterThan(9_500_000);
    const before = cpuTime();
    expect(judge(list)).toMatchObject({ status: "revoked", reason: "superseded", entries: 300_001 });
    expect(cpuTime() - before).toBeLessThan(5000);
    expect(judge(certificateList({ issuer, rawEntries }))).toMatchObject({ status: "good", entries: 300_000 });
  });

  it("beyond a million are not read", () => {
    const tiny = Buffer.from("3003020101", "hex");
    const entries = Buffer.alloc(tiny.length * (MAX_ENTRIES + 1), tiny);
    expect(scanEntries(entries, own.serialNumber)).toMatchObject({
      found: null,
      complete: false,
      entries: MAX_ENTRIES,
    });
    const whole = entries.subarray(tiny.length);
    expect(scanEntries(whole, own.serialNumber)).toMatchObject({ complete: true, entries: MAX_ENTRIES });
  });
});
