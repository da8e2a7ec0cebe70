import { describe, expect, it } from "vitest";
import type { DnsRecord } from "#probe-agent/port/dns.ts";
import { covering3, matching3, nsecFor, withSignatures } from "#test/servers/dnssec/answer.ts";
import { makeBranches, type Branches } from "#test/servers/dnssec/branches.ts";
import { makeDnsRecord } from "#test/servers/dnssec/record.ts";
import { dsText, makeKey, signRrset } from "#test/servers/dnssec/sign.ts";
import { only, without, zoneOf } from "#test/servers/dnssec/tamper.ts";
import { validateIn, type Tamper } from "#test/servers/dnssec/tree.ts";
import { recordsOf } from "#test/servers/dnssec/zone.ts";

const KINDS: readonly (readonly [string, Branches])[] = [
  ["NSEC", makeBranches()],
  ["NSEC3", makeBranches({ iterations: 0, salt: "", optOut: false })],
  ["NSEC3 with opt-out", makeBranches({ iterations: 0, salt: "", optOut: true })],
];

/** The parent's signed proof that there is no DS record. */
function delegationOf(branches: Branches): readonly DnsRecord[] {
  const zone = zoneOf(branches, "example");
  const soa = withSignatures(zone, "example", "SOA");
  if (!zone.records.some(({ type }) => type === "NSEC3")) return [...soa, ...nsecFor(zone, "island.example")];
  const own = matching3(zone, "island.example");
  return [...soa, ...matching3(zone, "example"), ...(own.length > 0 ? own : covering3(zone, "island.example"))];
}

describe.each(KINDS)("a signed zone whose parent has no DS record, by %s", (kind, branches) => {
  const both = [...branches.anchors, branches.islandAnchor];
  const island = zoneOf(branches, "island.example");
  const verdictOn = (name: string, type: string, anchors = both, tamper?: Tamper) =>
    validateIn(branches.zones, { name, type }, tamper === undefined ? { anchors } : { anchors, tamper });

  it("is insecure without its own trust anchor", () => {
    expect(verdictOn("www.island.example", "A", [...branches.anchors]).status).toBe("insecure");
    expect(verdictOn("none.island.example", "A", [...branches.anchors]).status).toBe("insecure");
  });

  it.each([
    ["an address", "www.island.example", "A", null],
    ["no such name", "none.island.example", "A", "nsec"],
    ["no such type", "www.island.example", "MX", "nsec"],
    ["an alias to no such name", "alias.island.example", "A", "nsec"],
    ["the zone's own name", "island.example", "NS", null],
  ])("is secure with the operator's anchor: %s", (_what, name, type, denial) => {
    const verdict = verdictOn(name, type);
    expect(verdict).toMatchObject({ status: "secure", denial });
    expect(verdict.chain.map(({ zone }) => zone)).toEqual(["island.example"]);
    expect(verdictOn(name, type, [branches.islandAnchor])).toMatchObject({ status: "secure", denial });
  });

  const onWww = (change: Parameters<typeof only>[2]) => only("www.island.example", "A", change);
  const onNone = (change: Parameters<typeof only>[2]) => only("none.island.example", "A", change);
  const forged = [makeDnsRecord("www.island.example", "A", "192.0.2.66")];

  it.each<[what: string, tamper: Tamper, name?: string]>([
    ["signatures taken off an address", onWww(without("RRSIG"))],
    ["signatures taken off a denial", onNone(without("RRSIG")), "none.island.example"],
    [
      "a denial with nothing but the parent's word that there is no DS",
      onNone(() => ({ authority: delegationOf(branches) })),
      "none.island.example",
    ],
    [
      "an address denied with the parent's word that there is no DS",
      onWww(() => ({
        status: "NXDOMAIN",
        answers: [],
        authority: [...delegationOf(branches), ...island.records.filter(({ type }) => type === "SOA")],
      })),
    ],
    [
      "an address without signatures beside the parent's word",
      onWww(() => ({ answers: forged, authority: delegationOf(branches) })),
    ],
    [
      "an address signed by the parent in the island's place",
      onWww(() => ({ answers: [...forged, signRrset(forged, branches.key, { signer: "example" })] })),
    ],
    ["signatures taken off the keys", only("island.example", "DNSKEY", without("RRSIG"))],
    [
      "the keys and all signatures taken away",
      (asked, reply) =>
        asked.name.endsWith("island.example") ? { ...reply, ...without("DNSKEY", "RRSIG", "NSEC")(reply) } : reply,
    ],
  ])("%s: bogus, whatever the parent says", (_what, tamper, name = "www.island.example") => {
    for (const anchors of [both, [branches.islandAnchor]]) {
      const verdict = verdictOn(name, "A", anchors, tamper);
      expect(verdict.status, verdict.reasons.join("\n")).toBe("bogus");
    }
  });

  it("has no DS in its parent, which the parent's records prove: the island's anchor is not used there", () => {
    const verdict = verdictOn("island.example", "DS");
    expect(verdict.status).toBe(kind === "NSEC3 with opt-out" ? "insecure" : "secure");
  });

  it("is bogus at the end of an alias if its signatures are removed", () => {
    const alias = [makeDnsRecord("to-island.example", "CNAME", "www.island.example.")];
    const signed = [...alias, signRrset(alias, branches.key, { signer: "example" })];
    const answer = (records: readonly DnsRecord[]): Tamper =>
      only("to-island.example", "A", () => ({ status: "NOERROR", answers: [...signed, ...records], authority: [] }));
    const address = withSignatures(island, "www.island.example", "A");
    const bare = address.filter(({ type }) => type !== "RRSIG");
    expect(verdictOn("to-island.example", "A", both, answer(address)).status).toBe("secure");
    expect(verdictOn("to-island.example", "A", both, answer(bare)).status).toBe("bogus");
    expect(verdictOn("to-island.example", "A", [...branches.anchors], answer(bare)).status).toBe("insecure");
  });

  it("is indeterminate if the resolver passes no signatures on at all, not even those of the root", () => {
    const tamper: Tamper = (_asked, reply) => ({ ...reply, ...without("RRSIG", "NSEC", "NSEC3")(reply) });
    const verdict = verdictOn("www.island.example", "A", both, tamper);
    expect(verdict.reasons.join()).toContain("The resolver does not pass DNSSEC records on");
    expect(verdict.status).toBe("indeterminate");
  });
});

describe("trust anchors of unsupported kinds", () => {
  const [, branches] = KINDS[0] ?? ["", makeBranches()];
  const key = makeKey("island.example", 13, 257, 253);
  const ds = recordsOf(dsText("island.example", key))[0]?.raw ?? new Uint8Array();

  it.each([
    ["DNSKEY", key.record.raw],
    ["DS", ds],
  ] as const)("leave the zone as not signed: %s", (type, raw) => {
    const anchors = [{ zone: "island.example", type, raw }];
    const verdict = validateIn(branches.zones, { name: "www.island.example", type: "A" }, { anchors });
    expect(verdict.reasons[0]).toMatch(/island\.example all have unsupported kinds \(PRIVATEDNS/);
    expect(verdict.status).toBe("insecure");
  });
});
