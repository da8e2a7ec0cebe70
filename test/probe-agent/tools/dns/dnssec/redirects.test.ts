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
import { validateIn } from "#test/servers/dnssec/tree.ts";

const sound = makeBranches();
const hashed = makeBranches({ iterations: 0, salt: "", optOut: false });
const example = zoneOf(sound, "example");
type Change = (reply: Reply) => Partial<Reply>;
const DEEP = Array.from({ length: 2 }, () => "d".repeat(60)).join(".");

/** Validates a question ("name type") in a tree whose answer to it is changed. */
function validated(question: string, change: Change = () => ({}), { zones, anchors } = sound) {
  const [name = "", type = ""] = question.split(" ");
  const { status, reasons, denial } = validateIn(zones, { name, type }, { anchors, tamper: only(name, type, change) });
  return { status, denial, reason: reasons.join("\n") };
}

/** Returns the reply with other CNAMEs at a name. */
function otherCname(name: string, ...targets: readonly string[]): Change {
  const made = targets.map((target) => makeDnsRecord(name, "CNAME", target));
  return ({ answers }) => ({
    answers: [...answers.filter((record) => !(record.type === "CNAME" && record.name === name)), ...made],
  });
}

describe.each([
  ["NSEC", sound, "nsec"],
  ["NSEC3", hashed, "nsec3"],
] as const)("below a DNAME, in a zone with %s", (_chain, branches, denial) => {
  it.each<[what: string, question: string, reason: string, denial?: string | null]>([
    ["an address", "host.old.example A", "Signed by example"],
    ["the alias itself, which the server made and nobody signs", "host.old.example CNAME", "Signed by example"],
    ["the alias of a name that does not exist there", "none.old.example CNAME", "Signed by example"],
    ["a type that the target does not have", "host.old.example MX", "host.new.example has no record", denial],
    ["a name whose target does not exist", "none.old.example A", "none.new.example does not exist", denial],
    ["a DNAME where the target has none", "host.old.example DNAME", "host.new.example has no record", denial],
    ["the DNAME itself", "old.example DNAME", "Signed by example"],
    ["an address at the DNAME's own name", "old.example A", "old.example has no record", denial],
    ["an alias at the DNAME's own name", "old.example CNAME", "old.example has no record", denial],
    ["an alias behind the DNAME", "alias.old.example A", "Signed by example"],
    ["two DNAMEs in a row", "host.first.example A", "Signed by example"],
    ["the first alias of two DNAMEs", "host.first.example CNAME", "Signed by example"],
    ["a DNAME into another signed zone", "www.away.example A", "Signed by example\nA: Signed by other"],
    ["a DNAME into another zone, and no such name there", "x.away.example A", "does not exist", "nsec"],
    ["the alias into an unsigned zone: its own zone is signed", "www.plain.example CNAME", "Signed by example"],
    ["a DNAME that makes the name too long", `${DEEP}.long.example A`, "makes a name that is too long"],
    ["the same for the alias", `${DEEP}.long.example CNAME`, "makes a name that is too long"],
  ])("%s is secure: %s", (_what, question, reason, kind = null) => {
    const verdict = validated(question, undefined, branches);
    expect(verdict.reason).toContain(reason);
    expect(verdict).toMatchObject({ status: "secure", denial: kind });
  });

  it.each(["www.plain.example A", "none.plain.example A"])("%s is insecure, in an unsigned zone", (question) => {
    const verdict = validated(question, undefined, branches);
    expect(verdict.reason).toContain("unsigned.example has no DS");
    expect(verdict).toMatchObject({ status: "insecure", denial: null });
  });
});

describe("cases that are no attack on a DNAME", () => {
  it.each<[what: string, type: string, change: Change]>([
    ["a CNAME with TTL 0, as servers of RFC 2672 make it", "CNAME", ttlOf(0)],
    ["a CNAME with a TTL that a cache has lowered", "A", ttlOf(17)],
    ["a CNAME in another case", "CNAME", otherCname("host.old.example", "HOST.New.Example.")],
    ["an answer without the CNAME", "A", without("CNAME")],
    ["an answer to CNAME without the CNAME", "CNAME", without("CNAME")],
  ])("%s", (_what, type, change) => {
    expect(validated(`host.old.example ${type}`, change)).toMatchObject({ status: "secure" });
  });

  it("a question for ANY gets everything at the name, and the alias below a DNAME", () => {
    const any = (name: string, answers: readonly DnsRecord[]) =>
      validated(`${name} ANY`, () => ({ status: "NOERROR", answers, authority: [] }));
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
    const question = "host.x.wild.example A";
    const proof = nsecFor(example, "x.wild.example");
    expect(validated(question, fromWildcard(proof))).toMatchObject({ status: "secure", denial: "nsec" });
    expect(validated(question, fromWildcard([]))).toMatchObject({ status: "bogus" });
  });
});

function nameOf(text: string): Name {
  const name = parseName(text);
  if (name === null) throw new Error(`${text} is no name`);
  return name;
}

function ttlOf(ttl: number): Change {
  return ({ answers }) => ({ answers: answers.map((one) => (one.type === "CNAME" ? { ...one, ttl } : one)) });
}

function fromWildcard(authority: readonly DnsRecord[]): Change {
  return () => ({
    status: "NOERROR",
    answers: [
      ...renamed(withSignatures(example, "*.wild.example", "DNAME"), "x.wild.example"),
      makeDnsRecord("host.x.wild.example", "CNAME", "host.new.example."),
      ...withSignatures(example, "host.new.example", "A"),
    ],
    authority,
  });
}

describe("attacks on a DNAME", () => {
  const host = "host.old.example";
  const LONG = `${DEEP}.long.example`;
  it.each<[what: string, question: string, change: Change, reason: RegExp]>([
    [
      "a synthesised CNAME to another name",
      `${host} CNAME`,
      otherCname(host, "www.other."),
      /CNAME of host\.old\.example points to www\.other, but the DNAME of old\.example makes it host\.new\.example/,
    ],
    [
      "the same on the way to an address that is signed",
      `${host} A`,
      () => ({
        answers: [
          ...withSignatures(example, "old.example", "DNAME"),
          makeDnsRecord(host, "CNAME", "www.example."),
          ...withSignatures(example, "www.example", "A"),
        ],
      }),
      /points to www\.example, but the DNAME/,
    ],
    [
      "a second CNAME beside the right one",
      `${host} CNAME`,
      otherCname(host, "host.new.example.", "www.other."),
      /points to www\.other, but the DNAME/,
    ],
    [
      "the CNAME without its DNAME",
      `${host} CNAME`,
      without("DNAME", "RRSIG"),
      /CNAME of host\.old\.example has no signature/,
    ],
    ["the DNAME without its signature", `${host} CNAME`, without("RRSIG"), /DNAME of old\.example has no signature/],
    [
      "the DNAME of another name with a CNAME that follows from it",
      "host.www.example CNAME",
      () => ({
        status: "NOERROR",
        answers: [
          ...renamed(withSignatures(example, "old.example", "DNAME"), "www.example"),
          makeDnsRecord("host.www.example", "CNAME", "host.new.example."),
        ],
        authority: [],
      }),
      /does not verify/,
    ],
    [
      "two DNAMEs at one name, though signed",
      `${host} A`,
      () => {
        const both = ["new.example.", "other."].map((target) => makeDnsRecord("old.example", "DNAME", target));
        return { answers: [...both, signRrset(both, sound.key, { signer: "example" })] };
      },
      /redirected to an unreadable name/,
    ],
    [
      "YXDOMAIN for a name that is not too long",
      `${host} A`,
      () => ({ status: "YXDOMAIN", answers: [], authority: [] }),
      /YXDOMAIN.*no such DNAME/,
    ],
    [
      "a name that is too long without YXDOMAIN",
      `${LONG} A`,
      () => ({ status: "NOERROR" }),
      /too long, but the server does not report YXDOMAIN/,
    ],
    [
      "a CNAME where the name is too long",
      `${LONG} A`,
      (reply) => ({ status: "NOERROR", ...otherCname(LONG, "www.example.")(reply) }),
      /but the DNAME of long\.example makes it no valid name/,
    ],
    [
      "a name below a DNAME denied by the DNAME's own NSEC (RFC 6672 section 5.3.4)",
      `${host} A`,
      () => ({ status: "NXDOMAIN", answers: [], authority: nsecFor(example, "old.example") }),
      /No NSEC record proves that/,
    ],
  ])("%s", (_what, question, change, reason) => {
    const verdict = validated(question, change);
    expect(verdict.reason).toMatch(reason);
    expect(verdict.status).toBe("bogus");
  });

  it("a name below a DNAME denied by the DNAME's own NSEC3 and the gaps of the name and its wildcard", () => {
    const zone = zoneOf(hashed, "example");
    const gaps = ["host.old.example", "*.old.example"].flatMap((name) => covering3(zone, name));
    const authority = [...matching3(zone, "old.example"), ...gaps];
    const verdict = validated(`${host} A`, () => ({ status: "NXDOMAIN", answers: [], authority }), hashed);
    expect(verdict.reason).toContain("no NSEC3 record shows its closest encloser");
    expect(verdict.status).toBe("bogus");
  });

  it("a chain with too many aliases is not validated to its end, and a reason says so", () => {
    const links = Array.from({ length: 17 }, (_, index) => {
      const alias = [makeDnsRecord(`c${index}.example`, "CNAME", `c${index + 1}.example.`)];
      return [...alias, signRrset(alias, sound.key, { signer: "example" })];
    });
    const answered = (count: number) =>
      validated("c0.example A", () => ({
        status: "NOERROR",
        answers: [...links.slice(0, count).flat(), makeDnsRecord(`c${count}.example`, "A", "192.0.2.66")],
        authority: [],
      }));
    expect(answered(15).status).toBe("bogus");
    expect(answered(17)).toMatchObject({
      status: "indeterminate",
      reason: expect.stringContaining("more than 16 aliases"),
    });
  });
});
