import { describe, expect, it } from "vitest";
import { dsText, makeKey } from "#test/servers/dnssec/sign.ts";
import { grow } from "#test/servers/dnssec/grow.ts";
import { validateIn } from "#test/servers/dnssec/tree.ts";

const QUESTIONS: readonly (readonly [name: string, type: string, status: string])[] = [
  ["www.example", "A", "secure"],
  ["example", "MX", "secure"],
  ["alias.example", "A", "secure"],
  ["x.w.example", "TXT", "secure"],
  ["x.w.example", "A", "secure"],
  ["ent.example", "A", "secure"],
  ["nope.example", "A", "secure"],
  ["www.example", "AAAA", "secure"],
  ["www.sub.example", "A", "insecure"],
];

const ALGORITHMS: readonly (readonly [number, string])[] = [
  [5, "RSASHA1"],
  [7, "RSASHA1-NSEC3-SHA1"],
  [8, "RSASHA256"],
  [10, "RSASHA512"],
  [13, "ECDSAP256SHA256"],
  [14, "ECDSAP384SHA384"],
  [15, "ED25519"],
  [16, "ED448"],
];

const CHAINS = [
  ["NSEC", {}],
  ["NSEC3", { nsec3: { iterations: 0, salt: "", optOut: false } }],
  ["NSEC3 with salt and iterations", { nsec3: { iterations: 10, salt: "beef", optOut: false } }],
  ["NSEC3 with opt-out", { nsec3: { iterations: 0, salt: "", optOut: true } }],
] as const;

describe.each(ALGORITHMS)("algorithm %d, %s", (number, name) => {
  it.each(CHAINS)("validates positive and negative answers with %s", (_what, chain) => {
    const { zones, anchors } = grow({
      keys: [makeKey("example", number, 257), makeKey("example", number, 256)],
      ...chain,
    });
    for (const [owner, type, status] of QUESTIONS) {
      const verdict = validateIn(zones, { name: owner, type }, { anchors });
      // With opt-out, unsigned names are possible wherever something is denied.
      const loose = "nsec3" in chain && chain.nsec3.optOut && /^(nope|x\.w)/.test(owner);
      expect([owner, type, verdict.status, verdict.reasons], verdict.reasons.join("\n")).toEqual([
        owner,
        type,
        loose ? "insecure" : status,
        verdict.reasons,
      ]);
      expect(verdict.algorithms).toContain(name);
    }
  });
});

describe("algorithm status (RFC 8624)", () => {
  it("accepts SHA-1 signatures and warns that they are deprecated", () => {
    const { zones, anchors } = grow({ keys: [makeKey("example", 5, 257)] });
    const { status, reasons } = validateIn(zones, { name: "www.example", type: "A" }, { anchors });
    expect([status, reasons]).toEqual([
      "secure",
      ["A: Signed by example", "example signs with RSASHA1, which RFC 8624 and RFC 9905 deprecate"],
    ]);
  });

  it("warns about SHA-1 digests only if there is no better digest", () => {
    const key = makeKey("example", 13, 257);
    const weak = grow({ keys: [key], ds: dsText("example", key, 1) });
    expect(validateIn(weak.zones, { name: "www.example", type: "A" }, weak).reasons.join()).toContain(
      "SHA-1 digests only",
    );
    const both = grow({ keys: [key], ds: `${dsText("example", key, 1)}\n${dsText("example", key, 4)}` });
    expect(validateIn(both.zones, { name: "www.example", type: "A" }, both).reasons).toEqual(["A: Signed by example"]);
  });

  it("ignores a SHA-1 digest if a better one is present but does not match (RFC 4509)", () => {
    const key = makeKey("example", 13, 257);
    const other = dsText("example", makeKey("example", 13, 257)).replace(/DS \d+/, `DS ${key.tag}`);
    const { zones, anchors } = grow({ keys: [key], ds: `${dsText("example", key, 1)}\n${other}` });
    expect(validateIn(zones, { name: "www.example", type: "A" }, { anchors }).status).toBe("bogus");
  });

  it.each([
    ["GOST", 12],
    ["a private algorithm", 253],
    ["DSA", 3],
    ["one without a name", 200],
  ])("takes a zone with DS of %s only as not signed", (_what, shown) => {
    const { zones, anchors } = grow({ keys: [makeKey("example", 15, 257, shown)] });
    const verdict = validateIn(zones, { name: "www.example", type: "A" }, { anchors });
    expect(verdict.status).toBe("insecure");
    expect(verdict.reasons[0]).toContain("all have unsupported kinds");
    expect(verdict.chain.map(({ zone, status }) => [zone, status])).toEqual([
      [".", "secure"],
      ["example", "insecure"],
    ]);
  });

  it("treats a zone as not signed if its DS records have only unknown digest types", () => {
    const key = makeKey("example", 13, 257);
    const { zones, anchors } = grow({ keys: [key], ds: dsText("example", key).replace(" 13 2 ", " 13 99 ") });
    expect(validateIn(zones, { name: "www.example", type: "A" }, { anchors }).status).toBe("insecure");
  });
});
