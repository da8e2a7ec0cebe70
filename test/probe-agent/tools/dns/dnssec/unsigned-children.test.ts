import { describe, expect, it } from "vitest";
import type { Reply } from "#probe-agent/tools/dns/dnssec/session.ts";
import type { DnsRecord } from "#probe-agent/port/dns.ts";
import { answerFrom, covering3, matching3, nsecFor, withSignatures } from "#test/servers/dnssec/answer.ts";
import { makeBranches, type Branches } from "#test/servers/dnssec/branches.ts";
import { only, zoneOf } from "#test/servers/dnssec/tamper.ts";
import { validateIn, type Tamper } from "#test/servers/dnssec/tree.ts";

const byNsec = makeBranches();
const byNsec3 = makeBranches({ iterations: 0, salt: "", optOut: false });
const byOptOut = makeBranches({ iterations: 0, salt: "", optOut: true });

/** The parent's records about a delegation: the delegation's own record, or the range that contains its hash. */
type Proof = (branches: Branches, cut: string) => readonly DnsRecord[];
const nsec: Proof = (branches, cut) => nsecFor(zoneOf(branches, "example"), cut);
const nsec3: Proof = (branches, cut) => matching3(zoneOf(branches, "example"), cut);
// An opted-out delegation and the empty names above it have no record. The next closer name is below the zone itself.
const range: Proof = (branches, cut) => {
  const zone = zoneOf(branches, "example");
  const nextCloser = cut.split(".").slice(-2).join(".");
  return [...matching3(zone, "example"), ...covering3(zone, nextCloser)];
};

const soaOf = (branches: Branches): readonly DnsRecord[] =>
  withSignatures(zoneOf(branches, "example"), "example", "SOA");

/**
 * Puts the parent's records into the authority section and leaves DS questions unanswered, so that these records must
 * be enough.
 */
function parentSpeaks(branches: Branches, name: string, type: string, authority: readonly DnsRecord[]): Tamper {
  const child = only(name, type, () => ({ authority: [...soaOf(branches), ...authority] }));
  return (asked, reply) =>
    asked.type === "DS" && asked.name.endsWith(".example")
      ? { status: "SERVFAIL", answers: [], authority: [] }
      : child(asked, reply);
}

describe.each<readonly [string, Branches, Proof, RegExp]>([
  ["NSEC", byNsec, nsec, /The parent proves with NSEC that .*example has no DS record: an unsigned delegation/],
  ["NSEC3", byNsec3, nsec3, /The parent proves with NSEC3 that .*example has no DS record: an unsigned delegation/],
  ["an opt-out range", byOptOut, range, /opt-out range of NSEC3/],
])("an unsigned child, its parent's records of the delegation by %s", (_what, branches, proof, reason) => {
  it.each([
    ["no such name", "none.unsigned.example", "A", "NXDOMAIN", "unsigned.example"],
    ["no such type", "www.unsigned.example", "MX", "NOERROR", "unsigned.example"],
    ["no such type at the child's own name", "unsigned.example", "MX", "NOERROR", "unsigned.example"],
    ["no such name far below", "a.b.c.unsigned.example", "A", "NXDOMAIN", "unsigned.example"],
    ["no such name, with empty names between", "none.cut.deep.ent.example", "A", "NXDOMAIN", "cut.deep.ent.example"],
    ["an alias into it from a signed zone", "into.example", "A", "NXDOMAIN", "unsigned.example"],
    ["a wildcard alias into it", "x.w.example", "A", "NXDOMAIN", "unsigned.example"],
    ["an alias within it, that no signature is on", "alias.unsigned.example", "A", "NXDOMAIN", "unsigned.example"],
    ["a DNAME into it", "none.plain.example", "A", "NXDOMAIN", "unsigned.example"],
  ])("%s: %s %s, %s, is insecure", (_case, name, type, status, cut) => {
    const honest = answerFrom(branches.zones, name, type);
    expect(honest.status).toBe(status);
    const own = honest.authority.filter((record) => record.type !== "SOA" && record.name.endsWith("example"));
    const shown = parentSpeaks(branches, name, type, [...own, ...proof(branches, cut)]);
    const verdict = validateIn(branches.zones, { name, type }, { anchors: branches.anchors, tamper: shown });
    expect(verdict.reasons.join("\n")).toMatch(name.startsWith("x.w") ? /no DS record|opt-out range/ : reason);
    expect(verdict.status).toBe("insecure");
  });

  it.each([
    ["no such name", "none.unsigned.example", "A"],
    ["no such type", "www.unsigned.example", "MX"],
    ["no such name, with empty names between", "none.cut.deep.ent.example", "A"],
    ["a wildcard alias into it, its own proof beside", "x.w.example", "A"],
    ["an alias into it", "into.example", "A"],
  ])("%s: %s %s is insecure by the walk down where the parent's SOA is all that is there", (_case, name, type) => {
    const tamper = only(name, type, ({ authority }) => ({
      authority: [...authority.filter((record) => record.type !== "SOA"), ...soaOf(branches)],
    }));
    const verdict = validateIn(branches.zones, { name, type }, { anchors: branches.anchors, tamper });
    expect(verdict.status, verdict.reasons.join("\n")).toBe("insecure");
  });

  it("an alias into it and back into the signed zone is insecure because of the unsigned link", () => {
    const verdict = validateIn(branches.zones, { name: "round.example", type: "A" }, branches);
    expect(verdict).toMatchObject({ status: "insecure", reasons: [expect.stringMatching(reason)] });
    const none = validateIn(branches.zones, { name: "round.example", type: "MX" }, branches);
    expect(none.status).toBe("insecure");
  });

  it("is in the chain of trust, and is not looked up again for the next question", () => {
    const name = "none.unsigned.example";
    const tamper = parentSpeaks(branches, name, "A", proof(branches, "unsigned.example"));
    const verdict = validateIn(branches.zones, { name, type: "A" }, { anchors: branches.anchors, tamper });
    expect(verdict.chain.map(({ zone, status }) => [zone, status])).toEqual([
      [".", "secure"],
      ["example", "secure"],
      ["unsigned.example", "insecure"],
    ]);
  });
});

describe("a child that is signed", () => {
  const BRANCHES: readonly (readonly [string, Branches, Proof])[] = [
    ["NSEC", byNsec, nsec],
    ["NSEC3", byNsec3, nsec3],
    ["NSEC3 with opt-out", byOptOut, nsec3],
  ];
  const said = (status: string, authority: readonly DnsRecord[]) => (): Partial<Reply> => ({
    status,
    answers: [],
    authority,
  });

  it.each(BRANCHES)("cannot be denied by its delegation's record in the parent, %s", (_what, branches, proof) => {
    const zone = zoneOf(branches, "example");
    for (const [name, type, status] of [
      ["www.safe.example", "A", "NXDOMAIN"],
      ["www.safe.example", "A", "NOERROR"],
      ["safe.example", "SOA", "NOERROR"],
      ["a.b.safe.example", "A", "NXDOMAIN"],
    ] as const) {
      // A complete proof if the delegation's record counted, with the gaps of the name and of its wildcard.
      const child = name.split(".").slice(-3).join(".");
      const gaps = ["*.example", child, "*.safe.example"].flatMap((one) =>
        branches === byNsec ? nsecFor(zone, one) : covering3(zone, one),
      );
      const records = [...soaOf(branches), ...proof(branches, "safe.example"), ...gaps];
      const tamper = only(name, type, said(status, records));
      const verdict = validateIn(branches.zones, { name, type }, { anchors: branches.anchors, tamper });
      expect([name, type, status, verdict.status], verdict.reasons.join("\n")).toEqual([name, type, status, "bogus"]);
    }
  });

  it.each(BRANCHES)(
    "is not treated as unsigned because of a record of its unsigned sibling, %s",
    (_what, branches, proof) => {
      const records = [...soaOf(branches), ...proof(branches, "unsigned.example")];
      for (const name of ["none.safe.example", "none.example"]) {
        const tamper = only(name, "A", said("NXDOMAIN", records));
        const verdict = validateIn(branches.zones, { name, type: "A" }, { anchors: branches.anchors, tamper });
        expect([name, verdict.status], verdict.reasons.join("\n")).toEqual([name, "bogus"]);
      }
    },
  );

  it("is indeterminate, not bogus, if it is unknown whether the name is in an unsigned child", () => {
    const tamper = parentSpeaks(byNsec, "none.unsigned.example", "A", []);
    const verdict = validateIn(byNsec.zones, { name: "none.unsigned.example", type: "A" }, { ...byNsec, tamper });
    expect(verdict).toMatchObject({
      status: "indeterminate",
      reasons: ["A: The DS records of unsigned.example are not available: SERVFAIL"],
    });
  });
});

describe("a name that an opt-out zone denies", () => {
  // Of the three records of a proof (RFC 5155 section 7.2.2) the one that denies the wildcard is taken away. The names are
  // those whose proofs have it apart.
  const zone = zoneOf(byOptOut, "example");
  const hashOf = ({ name }: DnsRecord): string => name.split(".")[0] ?? "";
  const wildcard = new Set(
    covering3(zone, "*.example")
      .filter(({ type }) => type === "NSEC3")
      .map(hashOf),
  );
  const NAMES = Array.from({ length: 40 }, (_, n) => `none${n}.example`).filter((name) => {
    const needed = [...matching3(zone, "example"), ...covering3(zone, name)];
    return needed.every((record) => !wildcard.has(hashOf(record)));
  });
  const withoutWildcard = ({ authority }: Reply): Partial<Reply> => ({
    authority: authority.filter((record) => !wildcard.has(hashOf(record))),
  });

  it.each(NAMES.slice(0, 3).flatMap((name) => [name, `a.b.${name}`]))(
    "is bogus if the wildcard is not denied: %s",
    (name) => {
      const question = { name, type: "A" };
      const honest = validateIn(byOptOut.zones, question, byOptOut);
      expect([honest.status, honest.denial], honest.reasons.join("\n")).toEqual(["insecure", "nsec3"]);
      // A server that leaves the record out does so in every answer.
      const tamper: Tamper = (_asked, reply) => ({ ...reply, ...withoutWildcard(reply) });
      const verdict = validateIn(byOptOut.zones, question, { anchors: byOptOut.anchors, tamper });
      expect([verdict.status, verdict.denial], verdict.reasons.join("\n")).toEqual(["bogus", "nsec3"]);
      expect(verdict.reasons.join("\n")).toContain("No NSEC3 record denies the wildcard *.example");
    },
  );

  it("stays insecure if an unsigned zone there says so", () => {
    for (const name of ["none.unsigned.example", "a.b.c.unsigned.example"]) {
      const verdict = validateIn(byOptOut.zones, { name, type: "A" }, byOptOut);
      expect([name, verdict.status]).toEqual([name, "insecure"]);
    }
  });
});
