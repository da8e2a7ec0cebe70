import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { Effort } from "#probe-agent/tools/dns/dnssec/effort.ts";
import { keyTag } from "#probe-agent/dns-codec/rdata/dnssec-fields.ts";
import type { DnsRecord } from "#probe-agent/port/dns.ts";
import { grow } from "#test/servers/dnssec/grow.ts";
import { fromRdata, makeDnsRecord } from "#test/servers/dnssec/record.ts";
import { signRrset } from "#test/servers/dnssec/sign.ts";
import { only, zoneSigner } from "#test/servers/dnssec/tamper.ts";
import { validateIn, type Tamper } from "#test/servers/dnssec/tree.ts";
import { cpuTime } from "#test/support/cpu-time.ts";

const sound = grow();
const A = { name: "www.example", type: "A" };
// Time limit for a whole lookup. Without bounds, these cases take minutes.
const DEADLINE_MS = 10_000;

function timed(tamper: Tamper, grown = sound, question = A) {
  const startedAt = cpuTime();
  const verdict = validateIn(grown.zones, question, { anchors: grown.anchors, tamper });
  expect(cpuTime() - startedAt).toBeLessThan(DEADLINE_MS);
  return verdict;
}

/** Returns an RRSIG like the true one, but with random octets as the signature. */
function forged(record: DnsRecord): DnsRecord {
  return makeDnsRecord(record.name, "RRSIG", record.data.replace(/\S+$/, randomBytes(64).toString("base64")));
}

/** Creates Ed25519 keys that all have the same key tag. Two octets are free, so that the checksum can be adjusted. */
function sameTag(count: number, tag: number): DnsRecord[] {
  const keys: DnsRecord[] = [];
  while (keys.length < count) {
    const rdata = Buffer.concat([Buffer.of(1, 0, 3, 13), randomBytes(64)]);
    rdata.writeUInt16BE((rdata.readUInt16BE(66) + tag - keyTag(rdata) + 0x1_0000) & 0xffff, 66);
    if (keyTag(rdata) === tag) keys.push(fromRdata("example", "DNSKEY", rdata));
  }
  return keys;
}

describe("a hostile zone costs bounded work", () => {
  it("with 1,000 signatures that do not verify", () => {
    const verdict = timed(
      only("www.example", "A", ({ answers }) => {
        const signature = answers.find(({ type }) => type === "RRSIG");
        const records = answers.filter(({ type }) => type !== "RRSIG");
        return {
          answers: [
            ...records,
            ...Array.from({ length: 1_000 }, () => forged(signature ?? makeDnsRecord("x", "A", "192.0.2.1"))),
          ],
        };
      }),
    );
    expect(verdict.status).toBe("bogus");
    expect(verdict.reasons[0]).toContain("more signatures and keys to try than any honest zone needs (CVE-2023-50387)");
  });

  it("accepts a good signature after seven bad ones, and stops searching after eight", () => {
    const behind = (count: number): Tamper =>
      only("www.example", "A", ({ answers }) => {
        const records = answers.filter(({ type }) => type !== "RRSIG");
        const signatures = answers.filter(({ type }) => type === "RRSIG");
        const bad = Array.from({ length: count }, () => signatures.map(forged)).flat();
        return { answers: [...records, ...bad, ...signatures] };
      });
    expect([7, 8].map((count) => timed(behind(count)).status)).toEqual(["secure", "bogus"]);
  });

  it("limits the verifications, failures and hash rounds of a lookup", () => {
    const spend = (effort: Effort) =>
      Array.from({ length: 1_000 }, () => effort.takeVerification()).filter(Boolean).length;
    expect(spend(new Effort())).toBe(160);
    const failing = new Effort();
    for (let count = 0; count < 40; count += 1) failing.noteFailure();
    expect(failing.takeVerification()).toBe(false);
    const hashing = new Effort();
    expect([hashing.takeHashRounds(40_000), hashing.takeHashRounds(1)]).toEqual([true, false]);
  });

  it("with 1,000 keys of one key tag beside 1,000 signatures", () => {
    const key = zoneSigner(sound);
    const [ksk] = sound.keys;
    if (ksk === undefined) throw new Error("no key");
    const keys = [...sound.keys.map(({ record }) => record), ...sameTag(1_000, key.tag)];
    const verdict = timed((asked, reply) => {
      if (asked.type === "DNSKEY" && asked.name === "example") {
        return { ...reply, answers: [...keys, signRrset(keys, ksk, { signer: "example" })] };
      }
      if (asked.type !== "A") return reply;
      const first = reply.answers.find(({ type }) => type === "RRSIG");
      const records = reply.answers.filter(({ type }) => type !== "RRSIG");
      return {
        ...reply,
        answers: [...records, ...Array.from({ length: 1_000 }, () => forged(first ?? records[0] ?? key.record))],
      };
    });
    expect(verdict.status).toBe("bogus");
    expect(verdict.chain.at(-1)?.dnskeys.length).toBeLessThanOrEqual(16);
  });

  it("with 1,000 DS records for 1,000 keys of one key tag", () => {
    const [ksk] = sound.keys;
    const tag = ksk?.tag ?? 0;
    const keys = sameTag(1_000, tag);
    const verdict = timed((asked, reply) => {
      if (asked.name !== "example") return reply;
      if (asked.type === "DNSKEY") return { ...reply, answers: [...keys, ...reply.answers] };
      if (asked.type !== "DS") return reply;
      const ds = Array.from({ length: 1_000 }, () =>
        makeDnsRecord("example", "DS", `${tag} 13 2 ${randomBytes(32).toString("hex")}`),
      );
      return { ...reply, answers: [...ds, signRrset(ds, sound.rootKey, { signer: "." })] };
    });
    expect(verdict.status).toBe("bogus");
    expect(verdict.reasons[0]).toContain("do not match the zone's keys");
  });

  it("finds a zone's key after three keys with its tag or 62 others, and stops searching after more", () => {
    const [ksk] = sound.keys;
    if (ksk === undefined) throw new Error("no key");
    const others = Array.from({ length: 63 }, () =>
      fromRdata("example", "DNSKEY", Buffer.concat([Buffer.of(1, 0, 3, 13), randomBytes(64)])),
    );
    const behind = (before: readonly DnsRecord[]) => {
      const keys = [...before, ...sound.keys.map(({ record }) => record)];
      const signed = [...keys, signRrset(keys, ksk, { signer: "example" })];
      return timed(only("example", "DNSKEY", () => ({ answers: signed }))).status;
    };
    const colliding = sameTag(4, ksk.tag);
    expect([behind(colliding.slice(1)), behind(colliding)]).toEqual(["secure", "bogus"]);
    // The key that signs the records is the 64th key, then the 65th.
    expect([behind(others.slice(1)), behind(others)]).toEqual(["secure", "bogus"]);
  });

  it("with the most iterations that are computed, for the longest name", () => {
    const deep = `${"a.".repeat(120)}example`;
    const grown = grow({ nsec3: { iterations: 150, salt: "aa".repeat(255), optOut: false } });
    const verdict = timed((_asked, reply) => reply, grown, { name: deep, type: "A" });
    expect(["secure", "bogus"]).toContain(verdict.status);
  });

  it("with 500 denial records", () => {
    const verdict = timed(
      only("nope.example", "A", ({ authority }) => ({
        authority: Array.from({ length: 500 }, (_, index) =>
          authority.map((record) => ({ ...record, name: `n${index}.example` })),
        ).flat(),
      })),
      sound,
      { name: "nope.example", type: "A" },
    );
    expect(verdict.status).toBe("bogus");
  });

  it("finds a proof after some records that prove nothing, and stops searching after twelve records", () => {
    const behind = (count: number) => {
      const others = Array.from({ length: count }, (_, index) =>
        makeDnsRecord(`n${index}.example`, "NSEC", `n${index}z.example. A`),
      );
      const tamper = only("nope.example", "A", ({ authority }) => ({ authority: [...others, ...authority] }));
      return timed(tamper, sound, { name: "nope.example", type: "A" }).status;
    };
    // The proof itself consists of two records.
    expect([behind(10), behind(12)]).toEqual(["secure", "bogus"]);
  });

  it("treats a zone with more than 150 iterations as not signed, and warns about any iterations (RFC 9276)", () => {
    for (const [iterations, status, reason] of [
      [0, "secure", "A: example proves that nope.example does not exist"],
      [1, "secure", "example asks for 1 extra NSEC3 iterations; RFC 9276 requires 0"],
      [150, "secure", "150 extra NSEC3 iterations"],
      [151, "insecure", "NSEC3 with 151 iterations, more than 150"],
    ] as const) {
      const { zones, anchors } = grow({ nsec3: { iterations, salt: "", optOut: false } });
      const verdict = validateIn(zones, { name: "nope.example", type: "A" }, { anchors });
      expect([iterations, verdict.status]).toEqual([iterations, status]);
      expect(verdict.reasons.join("\n")).toContain(reason);
    }
  });

  it("refuses RSA keys beyond 4096 bits or below 512, with huge exponents or none", () => {
    const shapes = [
      Buffer.concat([Buffer.of(3, 1, 0, 1), Buffer.alloc(600, 0xff)]),
      Buffer.concat([Buffer.of(64), Buffer.alloc(64, 0xff), Buffer.alloc(128, 0xff)]),
      Buffer.concat([Buffer.of(0), Buffer.alloc(128, 0xff)]),
      // 504 bits. RSA begins at 512 bits.
      Buffer.concat([Buffer.of(3, 1, 0, 1), Buffer.alloc(63, 0xff)]),
      Buffer.of(),
    ];
    for (const octets of shapes) {
      const record = fromRdata("example", "DNSKEY", Buffer.concat([Buffer.of(1, 1, 3, 8), octets]));
      const tag = Number(record.typed["key_tag"]);
      const lie = { ...zoneSigner(sound), algorithm: 8, tag, record, privateKey: grow().rootKey.privateKey };
      const { zones, anchors } = grow({ keys: [...sound.keys.slice(0, 1), lie] });
      const verdict = validateIn(zones, A, { anchors });
      expect([verdict.status, verdict.reasons.join()]).toEqual(["bogus", expect.stringContaining("unusable size")]);
    }
  });
});
