import { describe, expect, it } from "vitest";
import type { DnsRecord } from "#probe-agent/net/port/dns.ts";
import { answerFrom, matching3, nsecFor, withSignatures } from "#test/servers/dnssec/answer.ts";
import { grow, type Grown } from "#test/servers/dnssec/grow.ts";
import { makeDnsRecord } from "#test/servers/dnssec/record.ts";
import { signRrset, type SignatureFields } from "#test/servers/dnssec/sign.ts";
import { only, renamed, without, zoneOf, zoneSigner } from "#test/servers/dnssec/tamper.ts";
import { validateIn, type Tamper } from "#test/servers/dnssec/tree.ts";

const sound = grow();
const hashed = grow({ nsec3: { iterations: 0, salt: "03", optOut: false } });
const A = { name: "www.example", type: "A" };

/** The same records under other signatures. */
function resigned(name: string, type: string, sign: (records: readonly DnsRecord[]) => readonly DnsRecord[]): Tamper {
  return only(name, type, ({ answers }) => {
    const records = answers.filter((record) => record.type !== "RRSIG");
    return { answers: [...records, ...sign(records)] };
  });
}

function lying(fields: Partial<SignatureFields>): Tamper {
  return resigned("www.example", "A", (records) => [
    signRrset(records, zoneSigner(sound), { signer: "example", ...fields }),
  ]);
}

const absent = (name: string, authority: readonly DnsRecord[]): Tamper =>
  only(name, "A", () => ({ status: "NXDOMAIN", answers: [], authority }));
const empty = (name: string, type: string, authority: readonly DnsRecord[]): Tamper =>
  only(name, type, () => ({ status: "NOERROR", answers: [], authority }));

const exampleZone = zoneOf(sound, "example");
const hashedZone = zoneOf(hashed, "example");
// With this salt the proof for the name takes three different records; one may cover several hashes.
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
  ["a signature by a sibling zone", sound, A, lying({ signer: "evil" }), "bogus", /not by the zone the name is in/],
  [
    "a signature by the name itself, which is no zone",
    sound,
    A,
    lying({ signer: "www.example" }),
    "bogus",
    /not by the zone the name is in/,
  ],
  ["a signature over another type", sound, A, lying({ typeCovered: "MX" }), "bogus", /RRSIG missing/],
  [
    "an expired signature",
    sound,
    A,
    lying({ expiration: "20260630235959" }),
    "bogus",
    /has expired 2026-06-30T23:59:59Z/,
  ],
  [
    "a signature that is not yet valid",
    sound,
    A,
    lying({ inception: "20260701000001" }),
    "bogus",
    /not yet valid: it begins 2026-07-01T00:00:01Z/,
  ],
  [
    "a signature that ends before it begins",
    sound,
    A,
    lying({ inception: "20270101000000", expiration: "20260101000000" }),
    "bogus",
    /ends before it begins/,
  ],
  ["more labels than the name has", sound, A, lying({ labels: 3 }), "bogus", /more labels than the name has/],
  ["fewer labels than the zone has", sound, A, lying({ labels: 0 }), "bogus", /fewer labels than its zone has/],
  [
    "another original TTL than was signed",
    sound,
    A,
    only("www.example", "A", ({ answers }) => ({ answers: answers.map(otherTtl) })),
    "bogus",
    /does not verify/,
  ],
  ["a signature by a key the zone does not have", sound, A, lying({ keyTag: 1 }), "bogus", /DNSKEY missing/],
  [
    "a changed record",
    sound,
    A,
    only("www.example", "A", ({ answers }) => ({
      answers: [makeDnsRecord("www.example", "A", "192.0.2.66"), ...answers.slice(1)],
    })),
    "bogus",
    /does not verify: data or signature were changed/,
  ],
  [
    "an added record",
    sound,
    A,
    only("www.example", "A", ({ answers }) => ({
      answers: [makeDnsRecord("www.example", "A", "192.0.2.66"), ...answers],
    })),
    "bogus",
    /does not verify/,
  ],
  ["signatures taken away", sound, A, only("www.example", "A", without("RRSIG")), "bogus", /RRSIG missing/],
  [
    "signatures and keys taken away",
    sound,
    A,
    (_asked, reply) => ({ ...reply, ...without("RRSIG", "DNSKEY", "NSEC")(reply) }),
    "indeterminate",
    /does not pass DNSSEC records on/,
  ],
  [
    "the DS taken away without proof",
    sound,
    A,
    only("example", "DS", without("DS", "RRSIG")),
    "bogus",
    /proves that example has no DS/,
  ],
  [
    "the DS denied by the record that lists it",
    sound,
    A,
    empty("example", "DS", nsecFor(zoneOf(sound, "."), "example")),
    "bogus",
    /the NSEC record lists it/,
  ],
  [
    "the DS denied by the child's own apex",
    sound,
    A,
    empty("example", "DS", nsecFor(exampleZone, "example")),
    "bogus",
    /not by the zone|proves that example has no DS/,
  ],
  ["the keys taken away", sound, A, only("example", "DNSKEY", without("DNSKEY", "RRSIG")), "bogus", /DNSKEY missing/],
  ["keys not signed", sound, A, only("example", "DNSKEY", without("RRSIG")), "bogus", /RRSIG missing/],
  [
    "keys signed by the zone key only",
    sound,
    A,
    resigned("example", "DNSKEY", (records) => [signRrset(records, zoneSigner(sound), { signer: "example" })]),
    "bogus",
    /No trusted key/,
  ],
  [
    "an existing name denied by its neighbour",
    sound,
    A,
    absent("www.example", nsecFor(exampleZone, "ns1.example")),
    "bogus",
    /not proven: no NSEC record covers it/,
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
    /contradicted/,
  ],
  [
    "a name denied by its parent zone",
    sound,
    A,
    absent("www.example", nsecFor(zoneOf(sound, "."), "example")),
    "bogus",
    /not proven/,
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
    /no NSEC or NSEC3 record/,
  ],
  [
    "a wildcard for a name that exists",
    sound,
    { name: "real.w.example", type: "TXT" },
    wildcardReplay("real.w.example", answerFrom(sound.zones, "x.w.example", "TXT").authority),
    "bogus",
    /no closer name exists is not proven/,
  ],
  [
    "a wildcard without proof",
    sound,
    { name: "x.w.example", type: "TXT" },
    only("x.w.example", "TXT", without("NSEC")),
    "bogus",
    /no closer name exists is not proven/,
  ],
  [
    "an NSEC made from a wildcard",
    sound,
    { name: "real.w.example", type: "A" },
    empty("real.w.example", "A", renamed(nsecFor(exampleZone, "*.w.example"), "real.w.example")),
    "bogus",
    /made from a wildcard, which proves nothing/,
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
    /contradicted/,
  ],
  [
    "the DS denied by the child's own apex, NSEC3",
    hashed,
    A,
    empty("example", "DS", matching3(hashedZone, "example")),
    "bogus",
    /proves that example has no DS/,
  ],
  [
    "a name below a delegation denied by the parent's NSEC3",
    hashed,
    { name: "www.sub.example", type: "A" },
    absent("www.sub.example", [...matching3(hashedZone, "sub.example"), ...nopeReply.authority]),
    "bogus",
    /closest encloser/,
  ],
  [
    "NSEC3 in a zone with NSEC",
    sound,
    { name: nope, type: "A" },
    absent(nope, nopeReply.authority),
    "bogus",
    /not proven/,
  ],
  [
    "the child's data denied by its parent's record",
    sound,
    { name: "example", type: "MX" },
    empty("example", "MX", nsecFor(zoneOf(sound, "."), "example")),
    "bogus",
    /contradicted/,
  ],
  [
    "an alias denied by its own record",
    sound,
    { name: "alias.example", type: "A" },
    empty("alias.example", "A", nsecFor(exampleZone, "alias.example")),
    "bogus",
    /contradicted/,
  ],
  [
    "a wildcard below a closer name",
    sound,
    { name: "x.real.w.example", type: "TXT" },
    wildcardReplay("x.real.w.example", nsecFor(exampleZone, "x.real.w.example")),
    "bogus",
    /no closer name exists is not proven/,
  ],
  [
    "a DS made from a wildcard",
    sound,
    A,
    only("example", "DS", ({ answers }) => ({ answers: fromWildcard(answers) })),
    "bogus",
    /DS records of example are made from a wildcard/,
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
    /not proven/,
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
    /not proven/,
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

function fromWildcard(answers: readonly DnsRecord[]): readonly DnsRecord[] {
  const ds = renamed(
    answers.filter(({ type }) => type === "DS"),
    "*",
  );
  return renamed([...ds, signRrset(ds, sound.rootKey, { signer: "." })], "example");
}

/** The denial for `nope` with other fields, each record signed anew by the zone. */
function resigned3(change: (record: DnsRecord) => string): readonly DnsRecord[] {
  const records = nopeReply.authority.filter(({ type }) => type === "NSEC3");
  return records.flatMap((record, index) => {
    // Owners that differ from the true ones: an RRset has one NSEC3.
    const owner = record.name.replace(/^./, String(index));
    const changed = makeDnsRecord(owner, "NSEC3", change(record), record.ttl);
    return [changed, signRrset([changed], zoneSigner(hashed), { signer: "example" })];
  });
}

function otherTtl(record: DnsRecord): DnsRecord {
  return record.type === "RRSIG"
    ? makeDnsRecord(record.name, "RRSIG", record.data.replace(" 3600 ", " 7200 "))
    : record;
}

function wildcardReplay(name: string, authority: readonly DnsRecord[]): Tamper {
  const answers = renamed(withSignatures(exampleZone, "*.w.example", "TXT"), name);
  return only(name, "TXT", () => ({ status: "NOERROR", answers, authority }));
}

function dropOwner(records: readonly DnsRecord[], those: readonly DnsRecord[]): readonly DnsRecord[] {
  return records.filter(({ name }) => !those.some((one) => one.name === name));
}

describe("attacks", () => {
  it.each(ROWS)("%s", (_what, grown, question, tamper, status, reason) => {
    const honest = validateIn(grown.zones, question, grown);
    const verdict = validateIn(grown.zones, question, { anchors: grown.anchors, tamper });
    expect(verdict.reasons.join("\n")).toMatch(reason);
    expect(verdict.status).toBe(status);
    expect(honest.status).not.toBe("bogus");
  });
});
