import { describe, expect, it } from "vitest";
import type { DnsRecord } from "#probe-agent/port/dns.ts";
import { answerFrom, covering3, matching3, nsecFor, withSignatures } from "#test/servers/dnssec/answer.ts";
import { grow, type Grown } from "#test/servers/dnssec/grow.ts";
import { makeDnsRecord } from "#test/servers/dnssec/record.ts";
import { signRrset } from "#test/servers/dnssec/sign.ts";
import { only, renamed, without, zoneOf, zoneSigner } from "#test/servers/dnssec/tamper.ts";
import { validateIn, type Tamper } from "#test/servers/dnssec/tree.ts";

const sound = grow();
const hashed = grow({ nsec3: { iterations: 0, salt: "03", optOut: false } });
const A = { name: "www.example", type: "A" };

const absent = (name: string, authority: readonly DnsRecord[]): Tamper =>
  only(name, "A", () => ({ status: "NXDOMAIN", answers: [], authority }));
const empty = (name: string, type: string, authority: readonly DnsRecord[]): Tamper =>
  only(name, type, () => ({ status: "NOERROR", answers: [], authority }));

const exampleZone = zoneOf(sound, "example");
const hashedZone = zoneOf(hashed, "example");
// With this salt, the proof for the name takes three different records. Otherwise one record could cover several
// hashes.
const nope = "nope0.example";
const nopeReply = answerFrom(hashed.zones, nope, "A");

type Row = readonly [
  what: string,
  grown: Grown,
  question: { name: string; type: string },
  tamper: Tamper,
  status: string,
  reason: RegExp,
];

const ROWS: readonly Row[] = [
  [
    "signatures and keys taken away",
    sound,
    A,
    (_asked, reply) => ({ ...reply, ...without("RRSIG", "DNSKEY", "NSEC")(reply) }),
    "indeterminate",
    /does not pass DNSSEC records on/,
  ],
  [
    "an existing name denied by its neighbour",
    sound,
    A,
    absent("www.example", nsecFor(exampleZone, "ns1.example")),
    "bogus",
    /No NSEC record proves that/,
  ],
  [
    "an existing name denied by itself",
    sound,
    A,
    absent("www.example", nsecFor(exampleZone, "www.example")),
    "bogus",
    /shows that it exists/,
  ],
  [
    "an existing type denied",
    sound,
    A,
    empty("www.example", "A", nsecFor(exampleZone, "www.example")),
    "bogus",
    /the zone's own list of types contains/,
  ],
  [
    "a name denied by its parent zone",
    sound,
    A,
    absent("www.example", nsecFor(zoneOf(sound, "."), "example")),
    "bogus",
    /record proves that/,
  ],
  [
    "an empty non-terminal denied",
    sound,
    { name: "ent.example", type: "A" },
    absent("ent.example", answerFrom(sound.zones, "ent.example", "A").authority),
    "bogus",
    /shows that it exists/,
  ],
  [
    "a name denied without its wildcard",
    sound,
    { name: "x.w.example", type: "A" },
    absent("x.w.example", nsecFor(exampleZone, "x.w.example")),
    "bogus",
    /denies the wildcard/,
  ],
  [
    "a name denied without any proof",
    sound,
    { name: "nope.example", type: "A" },
    only("nope.example", "A", without("NSEC")),
    "bogus",
    /No NSEC or NSEC3 record/,
  ],
  [
    "a wildcard for a name that exists",
    sound,
    { name: "real.w.example", type: "TXT" },
    wildcardReplay("real.w.example", answerFrom(sound.zones, "x.w.example", "TXT").authority),
    "bogus",
    /no record proves that no closer name exists/,
  ],
  [
    "a wildcard without proof",
    sound,
    { name: "x.w.example", type: "TXT" },
    only("x.w.example", "TXT", without("NSEC")),
    "bogus",
    /no record proves that no closer name exists/,
  ],
  [
    "an NSEC made from a wildcard",
    sound,
    { name: "real.w.example", type: "A" },
    empty("real.w.example", "A", renamed(nsecFor(exampleZone, "*.w.example"), "real.w.example")),
    "bogus",
    /expanded from a wildcard, which proves nothing/,
  ],
  [
    "an existing name denied, NSEC3",
    hashed,
    A,
    absent("www.example", nopeReply.authority),
    "bogus",
    /closest encloser|next closer|shows that it exists/,
  ],
  [
    "NSEC3 without closest encloser",
    hashed,
    { name: nope, type: "A" },
    absent(nope, dropOwner(nopeReply.authority, matching3(hashedZone, "example"))),
    "bogus",
    /closest encloser/,
  ],
  [
    "NSEC3 of the closest encloser only",
    hashed,
    { name: nope, type: "A" },
    absent(nope, matching3(hashedZone, "example")),
    "bogus",
    /next closer name|denies the wildcard/,
  ],
  [
    "an existing type denied, NSEC3",
    hashed,
    A,
    empty("www.example", "A", matching3(hashedZone, "www.example")),
    "bogus",
    /the zone's own list of types contains/,
  ],
  [
    "a name below a delegation denied by the parent's NSEC3",
    hashed,
    { name: "www.sub.example", type: "A" },
    absent("www.sub.example", [...matching3(hashedZone, "sub.example"), ...nopeReply.authority]),
    // The record proves only that the child is not signed.
    "insecure",
    /The parent proves with NSEC3 that sub\.example has no DS record/,
  ],
  [
    "NSEC3 in a zone with NSEC",
    sound,
    { name: nope, type: "A" },
    absent(nope, nopeReply.authority),
    "bogus",
    /record proves that/,
  ],
  [
    "the child's data denied by its parent's record",
    sound,
    { name: "example", type: "MX" },
    empty("example", "MX", nsecFor(zoneOf(sound, "."), "example")),
    "bogus",
    /not by example, the zone of the name/,
  ],
  [
    "an alias denied by its own record",
    sound,
    { name: "alias.example", type: "A" },
    empty("alias.example", "A", nsecFor(exampleZone, "alias.example")),
    "bogus",
    /the zone's own list of types contains/,
  ],
  [
    "a wildcard below a closer name",
    sound,
    { name: "x.real.w.example", type: "TXT" },
    wildcardReplay("x.real.w.example", nsecFor(exampleZone, "x.real.w.example")),
    "bogus",
    /no record proves that no closer name exists/,
  ],
  [
    "NSEC3 with unknown flags",
    hashed,
    { name: nope, type: "A" },
    absent(
      nope,
      resigned3(({ data }) => data.replace(/^1 0/, "1 2")),
    ),
    "bogus",
    /record proves that/,
  ],
  [
    "NSEC3 of another hash",
    hashed,
    { name: nope, type: "A" },
    absent(
      nope,
      resigned3(({ data }) => data.replace(/^1 0/, "9 0")),
    ),
    "bogus",
    /record proves that/,
  ],
  [
    "NSEC3 with different parameters",
    hashed,
    { name: nope, type: "A" },
    absent(nope, [...nopeReply.authority, ...resigned3(({ data }) => data.replace(" 0 03 ", " 1 03 "))]),
    "bogus",
    /different parameters/,
  ],
];

const MORE: readonly Row[] = [
  [
    "a type that the wildcard has, denied by the wildcard's own record",
    sound,
    { name: "x.w.example", type: "TXT" },
    empty("x.w.example", "TXT", [...nsecFor(exampleZone, "x.w.example"), ...nsecFor(exampleZone, "*.w.example")]),
    "bogus",
    /record proves that/,
  ],
  [
    "the same by NSEC3",
    hashed,
    { name: "x.w.example", type: "TXT" },
    empty("x.w.example", "TXT", [
      ...matching3(hashedZone, "w.example"),
      ...matching3(hashedZone, "*.w.example"),
      ...covering3(hashedZone, "x.w.example"),
    ]),
    "bogus",
    /record proves that/,
  ],
  [
    "a type of a name that exists, denied by the wildcard beside it",
    hashed,
    { name: "real.w.example", type: "A" },
    empty("real.w.example", "A", [...matching3(hashedZone, "w.example"), ...matching3(hashedZone, "*.w.example")]),
    "bogus",
    /next closer/,
  ],
  [
    "a name that exists, denied beside its own NSEC3",
    hashed,
    A,
    absent("www.example", [...matching3(hashedZone, "www.example"), ...nopeReply.authority]),
    "bogus",
    /shows that it exists/,
  ],
  [
    "a wildcard for a name that exists, with a gap that holds another name, NSEC3",
    hashed,
    { name: "a.real.w.example", type: "TXT" },
    // The name itself does not exist, but its next closer name, real.w.example, does.
    only("a.real.w.example", "TXT", () => ({
      status: "NOERROR",
      answers: renamed(withSignatures(hashedZone, "*.w.example", "TXT"), "a.real.w.example"),
      authority: covering3(hashedZone, "a.real.w.example"),
    })),
    "bogus",
    /no record proves that no closer name exists/,
  ],
  [
    "a wildcard without proof, NSEC3",
    hashed,
    { name: "x.w.example", type: "TXT" },
    only("x.w.example", "TXT", without("NSEC3")),
    "bogus",
    /no record proves that no closer name exists/,
  ],
  [
    "a name denied without its wildcard, NSEC3",
    hashed,
    { name: "x.w.example", type: "A" },
    absent("x.w.example", [...matching3(hashedZone, "w.example"), ...covering3(hashedZone, "x.w.example")]),
    "bogus",
    /denies the wildcard/,
  ],
];

/** Returns the denial for `nope` with other fields. The zone signs each changed record again. */
function resigned3(change: (record: DnsRecord) => string): readonly DnsRecord[] {
  const records = nopeReply.authority.filter(({ type }) => type === "NSEC3");
  return records.flatMap((record, index) => {
    // The owners differ from the true ones, because an RRset has one NSEC3 record.
    const owner = record.name.replace(/^./, String(index));
    const changed = makeDnsRecord(owner, "NSEC3", change(record), record.ttl);
    return [changed, signRrset([changed], zoneSigner(hashed), { signer: "example" })];
  });
}

function wildcardReplay(name: string, authority: readonly DnsRecord[]): Tamper {
  const answers = renamed(withSignatures(exampleZone, "*.w.example", "TXT"), name);
  return only(name, "TXT", () => ({ status: "NOERROR", answers, authority }));
}

function dropOwner(records: readonly DnsRecord[], those: readonly DnsRecord[]): readonly DnsRecord[] {
  return records.filter(({ name }) => !those.some((one) => one.name === name));
}

describe("attacks on denial", () => {
  it.each([...ROWS, ...MORE])("%s", (_what, grown, question, tamper, status, reason) => {
    const honest = validateIn(grown.zones, question, grown);
    const verdict = validateIn(grown.zones, question, { anchors: grown.anchors, tamper });
    expect(verdict.reasons.join("\n")).toMatch(reason);
    expect(verdict.status).toBe(status);
    expect(honest.status).not.toBe("bogus");
  });
});
