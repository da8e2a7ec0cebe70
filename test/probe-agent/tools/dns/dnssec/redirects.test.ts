import { describe, expect, it } from "vitest";
import { parseName, type Name } from "#probe-agent/tools/dns/dnssec/names.ts";
import { findRedirect } from "#probe-agent/tools/dns/dnssec/answer.ts";
import { groupRrsets } from "#probe-agent/tools/dns/dnssec/rrsets.ts";
import type { Reply } from "#probe-agent/tools/dns/dnssec/session.ts";
import type { DnsRecord } from "#probe-agent/port/dns.ts";
import { covering3, matching3, nsecFor, withSignatures } from "#test/servers/dnssec/answer.ts";
import { makeBranches } from "#test/servers/dnssec/branches.ts";
import { makeDnsRecord } from "#test/servers/dnssec/record.ts";
import { signRrset } from "#test/servers/dnssec/sign.ts";
import { only, renamed, without, zoneOf } from "#test/servers/dnssec/tamper.ts";
import { validateIn, type Tamper } from "#test/servers/dnssec/tree.ts";

const sound = makeBranches();
const hashed = makeBranches({ iterations: 0, salt: "", optOut: false });
const example = zoneOf(sound, "example");
const DEEP = Array.from({ length: 2 }, () => "d".repeat(60)).join(".");

function validated(name: string, type: string, tamper?: Tamper, branches = sound) {
  const { anchors } = branches;
  const { status, reasons, denial } = validateIn(
    branches.zones,
    { name, type },
    tamper === undefined ? { anchors } : { anchors, tamper },
  );
  return { status, denial, reason: reasons.join("\n") };
}

/** Returns the reply with other CNAMEs at a name. */
function otherCname(name: string, ...targets: readonly string[]): (reply: Reply) => Partial<Reply> {
  const made = targets.map((target) => makeDnsRecord(name, "CNAME", target));
  return ({ answers }) => ({
    answers: [...answers.filter((record) => !(record.type === "CNAME" && record.name === name)), ...made],
  });
}

describe.each([
  ["NSEC", sound, "nsec"],
  ["NSEC3", hashed, "nsec3"],
] as const)("below a DNAME, in a zone with %s", (_chain, branches, denial) => {
  it.each([
    ["an address", "host.old.example", "A", "secure", null, "Signed by example"],
    [
      "the alias itself, which the server made and nobody signs",
      "host.old.example",
      "CNAME",
      "secure",
      null,
      "Signed by example",
    ],
    ["the alias of a name that does not exist there", "none.old.example", "CNAME", "secure", null, "Signed by example"],
    [
      "a type that the target does not have",
      "host.old.example",
      "MX",
      "secure",
      denial,
      "host.new.example has no record",
    ],
    [
      "a name whose target does not exist",
      "none.old.example",
      "A",
      "secure",
      denial,
      "none.new.example does not exist",
    ],
    [
      "a DNAME where the target has none",
      "host.old.example",
      "DNAME",
      "secure",
      denial,
      "host.new.example has no record",
    ],
    ["the DNAME itself", "old.example", "DNAME", "secure", null, "Signed by example"],
    ["an address at the DNAME's own name", "old.example", "A", "secure", denial, "old.example has no record"],
    ["an alias at the DNAME's own name", "old.example", "CNAME", "secure", denial, "old.example has no record"],
    ["an alias behind the DNAME", "alias.old.example", "A", "secure", null, "Signed by example"],
    ["two DNAMEs in a row", "host.first.example", "A", "secure", null, "Signed by example"],
    ["the first alias of two DNAMEs", "host.first.example", "CNAME", "secure", null, "Signed by example"],
    [
      "a DNAME into another signed zone",
      "www.away.example",
      "A",
      "secure",
      null,
      "Signed by example\nA: Signed by other",
    ],
    ["a DNAME into another zone, and no such name there", "x.away.example", "A", "secure", "nsec", "none"],
    ["a DNAME into an unsigned zone", "www.plain.example", "A", "insecure", null, "unsigned.example has no DS"],
    [
      "the alias into an unsigned zone: its own zone is signed",
      "www.plain.example",
      "CNAME",
      "secure",
      null,
      "Signed by example",
    ],
    [
      "the alias into an unsigned zone, no such name there",
      "none.plain.example",
      "A",
      "insecure",
      null,
      "unsigned.example has no DS",
    ],
    [
      "a DNAME that makes the name too long",
      `${DEEP}.long.example`,
      "A",
      "secure",
      null,
      "makes a name that is too long",
    ],
    ["the same for the alias", `${DEEP}.long.example`, "CNAME", "secure", null, "makes a name that is too long"],
  ])("%s: %s %s is %s", (_what, name, type, status, kind, reason) => {
    const verdict = validated(name, type, undefined, branches);
    expect(verdict.reason).toContain(reason === "none" ? "does not exist" : reason);
    expect(verdict).toMatchObject({ status, denial: kind });
  });
});

describe("cases that are no attack on a DNAME", () => {
  it.each<[string, string, Tamper]>([
    ["a CNAME with TTL 0, as servers of RFC 2672 make it", "CNAME", ttlOf(0)],
    ["a CNAME with a TTL that a cache has lowered", "A", ttlOf(17)],
    [
      "a CNAME in another case",
      "CNAME",
      only("host.old.example", "CNAME", otherCname("host.old.example", "HOST.New.Example.")),
    ],
    ["an answer without the CNAME", "A", only("host.old.example", "A", without("CNAME"))],
    ["an answer to CNAME without the CNAME", "CNAME", only("host.old.example", "CNAME", without("CNAME"))],
  ])("%s", (_what, type, tamper) => {
    expect(validated("host.old.example", type, tamper)).toMatchObject({ status: "secure" });
  });

  it("a question for ANY gets everything at the name, and the alias below a DNAME", () => {
    const any = (name: string, answers: readonly DnsRecord[]) =>
      validated(
        name,
        "ANY",
        only(name, "ANY", () => ({ status: "NOERROR", answers, authority: [] })),
      );
    const apex = ["SOA", "NS"].flatMap((type) => withSignatures(example, "example", type));
    expect(any("example", apex).status).toBe("secure");
    expect(any("example", [...apex, makeDnsRecord("example", "TXT", '"forged"')]).status).toBe("bogus");
    const below = [
      ...withSignatures(example, "old.example", "DNAME"),
      makeDnsRecord("x.old.example", "CNAME", "x.new.example."),
    ];
    expect(any("x.old.example", below).status).toBe("secure");
  });

  it("the closest DNAME above the name counts, in any order of the records", () => {
    const dnames = ["example", "old.example"].map((owner) => makeDnsRecord(owner, "DNAME", `to.${owner}.test.`));
    for (const records of [dnames, dnames.toReversed()]) {
      const found = findRedirect(groupRrsets(records), nameOf("a.old.example"));
      expect(found?.set.owner.text).toBe("old.example");
      expect(found?.target?.text).toBe("a.to.old.example.test");
    }
  });

  it("a DNAME expanded from a wildcard, with the proof that no closer name exists", () => {
    const tamper = fromWildcard(nsecFor(example, "x.wild.example"));
    expect(validated("host.x.wild.example", "A", tamper)).toMatchObject({ status: "secure", denial: "nsec" });
    expect(validated("host.x.wild.example", "A", fromWildcard([]))).toMatchObject({ status: "bogus" });
  });
});

function nameOf(text: string): Name {
  const name = parseName(text);
  if (name === null) throw new Error(`${text} is no name`);
  return name;
}

function ttlOf(ttl: number): Tamper {
  return (_asked, reply) => ({
    ...reply,
    answers: reply.answers.map((record) => (record.type === "CNAME" ? { ...record, ttl } : record)),
  });
}

function fromWildcard(authority: readonly DnsRecord[]): Tamper {
  return only("host.x.wild.example", "A", () => ({
    status: "NOERROR",
    answers: [
      ...renamed(withSignatures(example, "*.wild.example", "DNAME"), "x.wild.example"),
      makeDnsRecord("host.x.wild.example", "CNAME", "host.new.example."),
      ...withSignatures(example, "host.new.example", "A"),
    ],
    authority,
  }));
}

describe("attacks on a DNAME", () => {
  const CASES: readonly (readonly [what: string, name: string, type: string, tamper: Tamper, reason: RegExp])[] = [
    [
      "a synthesised CNAME to another name",
      "host.old.example",
      "CNAME",
      only("host.old.example", "CNAME", otherCname("host.old.example", "www.other.")),
      /CNAME of host\.old\.example points to www\.other, but the DNAME of old\.example makes it host\.new\.example/,
    ],
    [
      "the same on the way to an address that is signed",
      "host.old.example",
      "A",
      only("host.old.example", "A", () => ({
        answers: [
          ...withSignatures(example, "old.example", "DNAME"),
          makeDnsRecord("host.old.example", "CNAME", "www.example."),
          ...withSignatures(example, "www.example", "A"),
        ],
      })),
      /points to www\.example, but the DNAME/,
    ],
    [
      "a second CNAME beside the right one",
      "host.old.example",
      "CNAME",
      only("host.old.example", "CNAME", otherCname("host.old.example", "host.new.example.", "www.other.")),
      /points to www\.other, but the DNAME/,
    ],
    [
      "the CNAME without its DNAME",
      "host.old.example",
      "CNAME",
      only("host.old.example", "CNAME", without("DNAME", "RRSIG")),
      /CNAME of host\.old\.example has no signature/,
    ],
    [
      "the DNAME without its signature",
      "host.old.example",
      "CNAME",
      only("host.old.example", "CNAME", without("RRSIG")),
      /DNAME of old\.example has no signature/,
    ],
    [
      "the DNAME of another name with a CNAME that follows from it",
      "host.www.example",
      "CNAME",
      only("host.www.example", "CNAME", () => ({
        status: "NOERROR",
        answers: [
          ...renamed(withSignatures(example, "old.example", "DNAME"), "www.example"),
          makeDnsRecord("host.www.example", "CNAME", "host.new.example."),
        ],
        authority: [],
      })),
      /does not verify/,
    ],
    [
      "two DNAMEs at one name, though signed",
      "host.old.example",
      "A",
      only("host.old.example", "A", () => {
        const both = ["new.example.", "other."].map((target) => makeDnsRecord("old.example", "DNAME", target));
        return { answers: [...both, signRrset(both, sound.key, { signer: "example" })] };
      }),
      /redirected to an unreadable name/,
    ],
    [
      "YXDOMAIN for a name that is not too long",
      "host.old.example",
      "A",
      only("host.old.example", "A", () => ({ status: "YXDOMAIN", answers: [], authority: [] })),
      /YXDOMAIN.*no such DNAME/,
    ],
    [
      "a name that is too long without YXDOMAIN",
      `${DEEP}.long.example`,
      "A",
      only(`${DEEP}.long.example`, "A", () => ({ status: "NOERROR" })),
      /too long, but the server does not report YXDOMAIN/,
    ],
    [
      "a CNAME where the name is too long",
      `${DEEP}.long.example`,
      "A",
      only(`${DEEP}.long.example`, "A", (reply) => ({
        status: "NOERROR",
        ...otherCname(`${DEEP}.long.example`, "www.example.")(reply),
      })),
      /but the DNAME of long\.example makes it no valid name/,
    ],
    [
      "a name below a DNAME denied by the DNAME's own NSEC (RFC 6672 section 5.3.4)",
      "host.old.example",
      "A",
      only("host.old.example", "A", () => ({
        status: "NXDOMAIN",
        answers: [],
        authority: nsecFor(example, "old.example"),
      })),
      /No NSEC record proves that/,
    ],
  ];

  it.each(CASES)("%s", (_what, name, type, tamper, reason) => {
    const verdict = validated(name, type, tamper);
    expect(verdict.reason).toMatch(reason);
    expect(verdict.status).toBe("bogus");
  });

  it("a name below a DNAME denied by the DNAME's own NSEC3 and the gaps of the name and its wildcard", () => {
    const zone = zoneOf(hashed, "example");
    const gaps = ["host.old.example", "*.old.example"].flatMap((name) => covering3(zone, name));
    const authority = [...matching3(zone, "old.example"), ...gaps];
    const tamper = only("host.old.example", "A", () => ({ status: "NXDOMAIN", answers: [], authority }));
    const verdict = validated("host.old.example", "A", tamper, hashed);
    expect(verdict.reason).toContain("no NSEC3 record shows its closest encloser");
    expect(verdict.status).toBe("bogus");
  });

  it("a chain with too many aliases is not validated to its end, and a reason says so", () => {
    const links = Array.from({ length: 17 }, (_, index) => {
      const alias = [makeDnsRecord(`c${index}.example`, "CNAME", `c${index + 1}.example.`)];
      return [...alias, signRrset(alias, sound.key, { signer: "example" })];
    });
    const answered = (count: number) =>
      validated(
        "c0.example",
        "A",
        only("c0.example", "A", () => ({
          status: "NOERROR",
          answers: [...links.slice(0, count).flat(), makeDnsRecord(`c${count}.example`, "A", "192.0.2.66")],
          authority: [],
        })),
      );
    expect(answered(15).status).toBe("bogus");
    expect(answered(17)).toMatchObject({
      status: "indeterminate",
      reason: expect.stringContaining("more than 16 aliases"),
    });
  });
});
