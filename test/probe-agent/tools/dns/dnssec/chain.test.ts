import { validateRecords } from "#test/entry-points.ts";
import { describe, expect, it } from "vitest";
import { answerFrom } from "#test/servers/dnssec/answer.ts";
import { grow } from "#test/servers/dnssec/grow.ts";
import { makeDnsRecord } from "#test/servers/dnssec/record.ts";
import { makeKey } from "#test/servers/dnssec/sign.ts";
import { only } from "#test/servers/dnssec/tamper.ts";
import { anchorsOf, BIND_ZONES, NOW, validateIn } from "#test/servers/dnssec/tree.ts";
import { fixtureZone } from "#test/servers/dnssec/zone.ts";

const A = { name: "web.rsa.test", type: "A" };

describe("the chain of trust", () => {
  it("lists every zone with its DS, its keys and the signature over them", () => {
    const { chain, algorithms, expires_at } = validateIn(BIND_ZONES, A);
    expect(chain.map(({ zone, status, reason }) => [zone, status, reason])).toEqual([
      [".", "secure", null],
      ["test", "secure", null],
      ["rsa.test", "secure", null],
    ]);
    const [, test] = chain;
    const ksk = test?.dnskeys.find(({ flags }) => flags === 257);
    expect(test?.ds).toEqual([expect.objectContaining({ key_tag: ksk?.key_tag, algorithm: 13, digest_type: 2 })]);
    expect(test?.dnskeys.map(({ flags, bits }) => [flags, bits]).toSorted()).toEqual([
      [256, 256],
      [257, 256],
    ]);
    expect(test?.rrsig).toEqual({
      signer: "test",
      algorithm: 13,
      inception: "2025-01-01T00:00:00Z",
      expiration: "2045-01-01T00:00:00Z",
      key_tag: ksk?.key_tag,
    });
    expect(algorithms).toEqual(["RSASHA256", "ECDSAP256SHA256"]);
    expect(expires_at).toBe("2045-01-01T00:00:00Z");
  });

  it("ends where the parent proves that there is no DS", () => {
    const { chain } = validateIn(BIND_ZONES, { name: "www.sub.ed.test", type: "A" });
    expect(chain.at(-1)).toMatchObject({
      zone: "sub.ed.test",
      status: "insecure",
      reason: "The parent proves with NSEC3 that sub.ed.test has no DS record: an unsigned delegation",
    });
  });

  it("follows aliases into the zones they lead to, and the weakest link decides", () => {
    const { status, chain } = validateIn(BIND_ZONES, { name: "out.rsa.test", type: "A" });
    expect([status, chain.map(({ zone }) => zone)]).toEqual(["insecure", [".", "test", "rsa.test", "unsigned.test"]]);
  });

  it("begins at the closest trust anchor: an island of trust below an unsigned parent", () => {
    const island = { anchors: anchorsOf(fixtureZone("rsa.test")) };
    const verdict = validateIn(BIND_ZONES, A, island);
    expect([verdict.status, verdict.chain.map(({ zone }) => zone)]).toEqual(["secure", ["rsa.test"]]);
    const outside = validateIn(BIND_ZONES, { name: "mail.ed.test", type: "A" }, island);
    expect(outside).toMatchObject({
      status: "indeterminate",
      reasons: ["A: No trust anchor is at or above ed.test"],
    });
  });

  it("is bogus below an anchor with another key", () => {
    const anchors = [{ zone: ".", type: "DNSKEY" as const, raw: makeKey(".", 13, 257).record.raw }];
    expect(validateIn(BIND_ZONES, A, { anchors })).toMatchObject({ status: "bogus" });
  });

  it.each(["DS", "DNSKEY"])("is indeterminate if the %s records are not available", (type) => {
    const tamper = only("rsa.test", type, () => ({ status: "SERVFAIL", answers: [], authority: [] }));
    const verdict = validateIn(BIND_ZONES, A, { tamper });
    expect(verdict).toMatchObject({
      status: "indeterminate",
      reasons: [`A: The ${type} records of rsa.test are not available: SERVFAIL`],
    });
  });

  it("is indeterminate if there is no answer, or if a needed record was not looked up", () => {
    const reply = answerFrom(BIND_ZONES, A.name, A.type);
    const none = validateRecords([{ ...A, reply }], () => null, anchorsOf(fixtureZone("root")), NOW);
    expect(none).toMatchObject({ status: "indeterminate", chain: [{ zone: ".", status: "indeterminate" }] });
    const refused = { status: "REFUSED", answers: [], authority: [] };
    expect(validateRecords([{ ...A, reply: refused }], () => null, [], NOW).status).toBe("indeterminate");
  });

  it("ends if aliases lead in a circle", () => {
    const circle = {
      status: "NOERROR",
      answers: [makeDnsRecord("a.example", "CNAME", "b.example."), makeDnsRecord("b.example", "CNAME", "a.example.")],
      authority: [],
    };
    const { zones, anchors } = grow();
    const lookup = (asked: { name: string; type: string }) => answerFrom(zones, asked.name, asked.type);
    const verdict = validateRecords([{ name: "a.example", type: "A", reply: circle }], lookup, anchors, NOW);
    expect(verdict.status).toBe("bogus");
  });

  it("reads times with serial arithmetic, also after 2106 (RFC 4034 section 3.1.5)", () => {
    const grown = grow({ inception: "21060101000000", expiration: "21070101000000" });
    const at = (time: string) =>
      validateIn(grown.zones, { name: "www.example", type: "A" }, { anchors: grown.anchors, now: new Date(time) });
    expect(at("2105-12-31T23:59:59Z").reasons.join()).toMatch(/not yet valid|expired/);
    const keys = validateIn(
      grown.zones,
      { name: "www.example", type: "A" },
      {
        anchors: [{ zone: "example", type: "DNSKEY", raw: grown.keys[0]?.record.raw ?? new Uint8Array() }],
        now: new Date("2106-06-01T00:00:00Z"),
      },
    );
    expect(keys).toMatchObject({ status: "secure", expires_at: "2107-01-01T00:00:00Z" });
  });
});
