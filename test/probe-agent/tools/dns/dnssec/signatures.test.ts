import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { Effort, MAX_KEYS_PER_TAG } from "#probe-agent/tools/dns/dnssec/effort.ts";
import { readKey } from "#probe-agent/tools/dns/dnssec/keys.ts";
import { parseName } from "#probe-agent/tools/dns/dnssec/names.ts";
import { groupRrsets } from "#probe-agent/tools/dns/dnssec/rrsets.ts";
import { verifyRrset } from "#probe-agent/tools/dns/dnssec/signatures.ts";
import type { DnsRecord } from "#probe-agent/port/dns.ts";
import { makeDnsRecord } from "#test/servers/dnssec/record.ts";
import { makeKey, signRrset, type SignatureFields } from "#test/servers/dnssec/sign.ts";

const NOW = Date.UTC(2026, 6, 1) / 1000;
const zone = parseName("example");
if (zone === null) throw new Error("no name");
const key = makeKey("example", 13, 256);
const keys = [readKey(key.record.raw)];
const address = [makeDnsRecord("www.example", "A", "192.0.2.2")];

function sign(fields: Partial<SignatureFields> = {}, records = address, by = key): DnsRecord {
  return signRrset(records, by, { signer: "example", ...fields });
}

/** Verifies one RRset and its signatures with the zone's keys. */
function check(
  signatures: readonly DnsRecord[],
  options: { records?: DnsRecord[]; with?: typeof keys; effort?: Effort } = {},
) {
  const [set] = groupRrsets([...(options.records ?? address), ...signatures]);
  if (set === undefined || zone === null) throw new Error("no RRset");
  const checked = verifyRrset({ now: NOW, effort: options.effort ?? new Effort() }, set, zone, options.with ?? keys);
  return checked.ok ? "valid" : checked.reasons.join("\n");
}

/** Returns the true signature with different octets at its end. */
function forged(): DnsRecord {
  const { data } = sign();
  return makeDnsRecord("www.example", "RRSIG", data.replace(/\S+$/, randomBytes(64).toString("base64")));
}

describe("one signature", () => {
  it("counts from its first second to its last (RFC 4035 section 5.3.1)", () => {
    expect(check([sign({ inception: "20260701000000" })])).toBe("valid");
    expect(check([sign({ inception: "20260701000001" })])).toContain("not yet valid");
    expect(check([sign({ expiration: "20260701000000" })])).toBe("valid");
    expect(check([sign({ expiration: "20260630235959" })])).toContain("expired at");
  });

  it("does not count over a name outside its zone, even if the zone's own key made it", () => {
    const records = [makeDnsRecord("www.other", "A", "192.0.2.2")];
    expect(check([sign({}, records)], { records })).toContain("covers a name outside its zone");
  });

  it("does not count if it names an algorithm other than that of its key", () => {
    // RSASHA256 uses the same hash as ECDSAP256SHA256, so the octets themselves verify.
    expect(check([sign({}, address, { ...key, algorithm: 8 })])).toContain(
      "refers to a key that example does not have",
    );
  });

  it("is reported as unsupported if its algorithm is not supported", () => {
    const { data } = sign();
    const other = makeDnsRecord("www.example", "RRSIG", data.replace("A 13 ", "A 253 "));
    expect(check([other])).toContain("has an unsupported algorithm");
    expect(check([other, sign()])).toBe("valid");
  });

  it("does not cover a record of another class", () => {
    const chaos = { ...makeDnsRecord("www.example", "A", "192.0.2.66"), class: 3 };
    expect(check([sign()], { records: [...address, chaos] })).toBe("valid");
  });

  it("covers names inside the records in any letter case (RFC 4034 section 6.2)", () => {
    const signed = [makeDnsRecord("example", "MX", "10 mail.example.")];
    const records = [makeDnsRecord("example", "MX", "10 MAIL.Example.")];
    expect(check([sign({}, signed)], { records })).toBe("valid");
  });
});

describe("an RSA key", () => {
  it("is read with the length of its exponent in one octet and in three (RFC 3110 section 2)", () => {
    const rsa = makeKey("example", 8, 256);
    const { raw } = rsa.record;
    const long = Buffer.concat([raw.subarray(0, 4), Buffer.of(0, 0, raw[4] ?? 0), raw.subarray(5)]);
    for (const octets of [raw, long]) {
      const read = readKey(octets);
      expect(read).toMatchObject({ bits: 1024, fault: null });
      expect(check([sign({ keyTag: read.tag }, address, rsa)], { with: [read] })).toBe("valid");
    }
  });
});

describe("bounds on the work for signatures and keys (CVE-2023-50387)", () => {
  it("only a limited number of keys with the same tag is tried", () => {
    const [own] = keys;
    if (own === undefined) throw new Error("no key");
    // Only the key tag is the same. Such keys cost one verification each.
    const colliding = (count: number) =>
      Array.from({ length: count }, () => ({ ...readKey(makeKey("example", 13, 256).record.raw), tag: own.tag }));
    expect(check([sign()], { with: [...colliding(MAX_KEYS_PER_TAG - 1), own] })).toBe("valid");
    expect(check([sign()], { with: [...colliding(MAX_KEYS_PER_TAG), own] })).toContain("does not verify");
  });

  it("200 signatures are checked, including those that cannot count", () => {
    const expired = Array.from({ length: 200 }, (_, index) =>
      makeDnsRecord("www.example", "RRSIG", `A 13 2 3600 20260101000000 20250101000000 ${index} example. AAAA`),
    );
    expect(check([...expired.slice(1), sign()])).toBe("valid");
    expect(check([...expired, sign()])).toContain("expired at");
  });

  it("a lookup is limited to 160 verifications and 40 failures", () => {
    const whole = new Effort();
    const verdicts = Array.from({ length: 161 }, () => check([sign()], { effort: whole }));
    expect([...new Set(verdicts.slice(0, 160))]).toEqual(["valid"]);
    expect(verdicts.at(-1)).toContain("more signatures and keys to try than any honest zone needs");
    const failing = new Effort();
    for (let set = 0; set < 5; set += 1) check(Array.from({ length: 8 }, forged), { effort: failing });
    expect(check([sign()], { effort: failing })).toContain(
      "more signatures and keys to try than any honest zone needs",
    );
  });
});
