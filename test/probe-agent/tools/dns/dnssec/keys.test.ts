import { describe, expect, it } from "vitest";
import { grow } from "#test/servers/dnssec/grow.ts";
import { fromRdata } from "#test/servers/dnssec/record.ts";
import { dsText, makeKey, signRrset } from "#test/servers/dnssec/sign.ts";
import { only, zoneSigner } from "#test/servers/dnssec/tamper.ts";
import { validateIn, type Tamper } from "#test/servers/dnssec/tree.ts";

const sound = grow();
const A = { name: "www.example", type: "A" };

describe("keys that must not count", () => {
  it("a DS record of another key", () => {
    const { zones, anchors } = grow({ ds: `example. 3600 IN DS ${sound.keys[0]?.tag} 13 2 ${"AB".repeat(32)}` });
    const verdict = validateIn(zones, A, { anchors });
    expect(verdict.status).toBe("bogus");
    expect(verdict.reasons[0]).toMatch(
      /^A: The DS records of example do not match the zone's keys: DS key tags \d+, DNSKEY key tags/,
    );
    expect(verdict.chain.at(-1)).toMatchObject({ zone: "example", status: "bogus", rrsig: null });
  });

  it.each([
    ["key tag", (text: string, tag: number) => text.replace(` DS ${tag} `, ` DS ${(tag + 1) % 65_536} `)],
    ["algorithm", (text: string) => text.replace(" 13 2 ", " 8 2 ")],
  ])("a DS with the right digest and another %s (RFC 4035 section 5.2)", (_what, change) => {
    const key = makeKey("example", 13, 257);
    const { zones, anchors } = grow({ keys: [key], ds: change(dsText("example", key), key.tag) });
    const verdict = validateIn(zones, A, { anchors });
    expect([verdict.status, verdict.reasons[0]]).toEqual([
      "bogus",
      expect.stringContaining("do not match the zone's keys"),
    ]);
  });

  it.each([
    ["revoked", 385, /is revoked/],
    ["without the zone flag", 1, /is not a zone key/],
  ])("one that is %s", (_what, flags, reason) => {
    const { zones, anchors } = grow({ keys: [makeKey("example", 13, flags), makeKey("example", 13, 256)] });
    const verdict = validateIn(zones, A, { anchors });
    expect([verdict.status, verdict.reasons[0]]).toEqual(["bogus", expect.stringMatching(reason)]);
  });

  it("a key with a protocol other than 3 (RFC 4034 section 2.1.2)", () => {
    const key = makeKey("example", 13, 257);
    const rdata = Buffer.from(key.record.raw);
    rdata[2] = 2;
    const record = fromRdata("example", "DNSKEY", rdata);
    const { zones, anchors } = grow({ keys: [{ ...key, record, tag: Number(record.typed["key_tag"]) }] });
    const verdict = validateIn(zones, A, { anchors });
    expect([verdict.status, verdict.reasons[0]]).toEqual(["bogus", expect.stringMatching(/protocol other than 3/)]);
  });

  it("a revoked zone key next to a good one", () => {
    const keys = [makeKey("example", 13, 257), makeKey("example", 13, 256 + 128)];
    const { zones, anchors } = grow({ keys });
    expect(validateIn(zones, A, { anchors }).reasons[0]).toMatch(/does not count: the key is revoked/);
  });
});

describe("cases that are no attack", () => {
  it.each<[string, Tamper]>([
    [
      "a lower TTL, as caches give it",
      only("www.example", "A", ({ answers }) => ({ answers: answers.map((record) => ({ ...record, ttl: 7 })) })),
    ],
    [
      "another order and repeated records",
      only("www.example", "A", ({ answers }) => ({ answers: [...answers.toReversed(), ...answers] })),
    ],
    [
      "another case of the owner's name",
      only("www.example", "A", ({ answers }) => ({
        answers: answers.map((record) => ({ ...record, name: "WwW.eXample" })),
      })),
    ],
    [
      "a bad signature beside a good one",
      only("www.example", "A", ({ answers }) => ({
        answers: [...answers, signRrset(answers.slice(0, 1), zoneSigner(sound), { signer: "example" })].toReversed(),
      })),
    ],
    [
      "an expired signature beside a good one",
      only("www.example", "A", ({ answers }) => ({
        answers: [
          signRrset(answers.slice(0, 2), zoneSigner(sound), { signer: "example", expiration: "20260101000000" }),
          ...answers,
        ],
      })),
    ],
  ])("%s", (_what, tamper) => {
    expect(validateIn(sound.zones, A, { anchors: sound.anchors, tamper })).toMatchObject({
      status: "secure",
      reasons: ["A: Signed by example"],
    });
  });
});
