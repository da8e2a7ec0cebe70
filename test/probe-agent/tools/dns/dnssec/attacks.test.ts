import { describe, expect, it } from "vitest";
import type { DnsRecord } from "#probe-agent/port/dns.ts";
import { answerFrom, matching3, nsecFor } from "#test/servers/dnssec/answer.ts";
import { grow, type Grown } from "#test/servers/dnssec/grow.ts";
import { makeDnsRecord } from "#test/servers/dnssec/record.ts";
import { signRrset, type SignatureFields } from "#test/servers/dnssec/sign.ts";
import { only, renamed, without, zoneOf, zoneSigner } from "#test/servers/dnssec/tamper.ts";
import { validateIn, type Tamper } from "#test/servers/dnssec/tree.ts";

const sound = grow();
const hashed = grow({ nsec3: { iterations: 0, salt: "", optOut: false } });
const A = { name: "www.example", type: "A" };

/** Returns the same records with other signatures. */
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

const empty = (name: string, type: string, authority: readonly DnsRecord[]): Tamper =>
  only(name, type, () => ({ status: "NOERROR", answers: [], authority }));

const exampleZone = zoneOf(sound, "example");
const hashedZone = zoneOf(hashed, "example");
/** A case that must be bogus. Its tree is `sound` and its question `A` unless stated. */
type Row = [what: string, tamper: Tamper, reason: RegExp, question?: typeof A, grown?: Grown];

const other = makeDnsRecord("www.example", "A", "192.0.2.66");

const ROWS: readonly Row[] = [
  ["a signature by a sibling zone", lying({ signer: "evil" }), /not by \S+, the zone of the name/],
  [
    "a signature by the name itself, which is no zone",
    lying({ signer: "www.example" }),
    /not by \S+, the zone of the name/,
  ],
  ["a signature over another type", lying({ typeCovered: "MX" }), /RRSIG missing/],
  ["an expired signature", lying({ expiration: "20260630235959" }), /expired at 2026-06-30T23:59:59Z/],
  [
    "a signature that is not yet valid",
    lying({ inception: "20260701000001" }),
    /not yet valid: it begins 2026-07-01T00:00:01Z/,
  ],
  [
    "a signature that ends before it begins",
    lying({ inception: "20270101000000", expiration: "20260101000000" }),
    /ends before it begins/,
  ],
  ["more labels than the name has", lying({ labels: 3 }), /more labels than the name has/],
  ["fewer labels than the zone has", lying({ labels: 0 }), /fewer labels than its zone has/],
  [
    "another original TTL than was signed",
    only("www.example", "A", ({ answers }) => ({ answers: answers.map(otherTtl) })),
    /does not verify/,
  ],
  ["a signature by a key the zone does not have", lying({ keyTag: 1 }), /DNSKEY missing/],
  [
    "a changed record",
    only("www.example", "A", ({ answers }) => ({ answers: [other, ...answers.slice(1)] })),
    /does not verify: the data or the signature was changed/,
  ],
  ["an added record", only("www.example", "A", ({ answers }) => ({ answers: [other, ...answers] })), /does not verify/],
  ["signatures taken away", only("www.example", "A", without("RRSIG")), /RRSIG missing/],
  ["the DS taken away without proof", only("example", "DS", without("DS", "RRSIG")), /proves that example has no DS/],
  [
    "the DS denied by the record that lists it",
    empty("example", "DS", nsecFor(zoneOf(sound, "."), "example")),
    /the NSEC record lists it/,
  ],
  [
    "the DS denied by the child's own apex",
    empty("example", "DS", nsecFor(exampleZone, "example")),
    /not by the zone|proves that example has no DS/,
  ],
  ["the keys taken away", only("example", "DNSKEY", without("DNSKEY", "RRSIG")), /DNSKEY missing/],
  ["keys not signed", only("example", "DNSKEY", without("RRSIG")), /RRSIG missing/],
  [
    "keys signed by the zone key only",
    resigned("example", "DNSKEY", (records) => [signRrset(records, zoneSigner(sound), { signer: "example" })]),
    /No trusted key/,
  ],
  [
    "the DS denied by the child's own apex, NSEC3",
    empty("example", "DS", matching3(hashedZone, "example")),
    /proves that example has no DS/,
    A,
    hashed,
  ],
  ["a DS without its signature", only("example", "DS", without("RRSIG")), /DS of example has no signature/],
  [
    "another key and its DS, which the parent did not sign",
    forgedChild(),
    /The signature of DS of example by \., key \d+ .*does not verify/,
  ],
  [
    "an alias in place of the DS, which nobody signed",
    only("sub.example", "DS", () => ({
      answers: [makeDnsRecord("sub.example", "CNAME", "www.example.")],
      authority: [],
    })),
    /No NSEC or NSEC3 record proves that sub\.example has no DS/,
    { name: "www.sub.example", type: "A" },
  ],
  [
    "a DS made from a wildcard",
    only("example", "DS", ({ answers }) => ({ answers: fromWildcard(answers) })),
    /DS records of example are expanded from a wildcard/,
  ],
];

function fromWildcard(answers: readonly DnsRecord[]): readonly DnsRecord[] {
  const ds = renamed(
    answers.filter(({ type }) => type === "DS"),
    "*",
  );
  return renamed([...ds, signRrset(ds, sound.rootKey, { signer: "." })], "example");
}

/** A whole child zone of the attacker. Its DS record has the signature of the true DS record. */
function forgedChild(): Tamper {
  const own = grow();
  return (asked, reply) => {
    const forged = answerFrom(own.zones, asked.name, asked.type);
    if (asked.name === ".") return reply;
    if (asked.type !== "DS") return { ...reply, ...forged };
    const ds = forged.answers.filter(({ type }) => type === "DS");
    return { ...reply, answers: [...ds, ...reply.answers.filter(({ type }) => type === "RRSIG")] };
  };
}

function otherTtl(record: DnsRecord): DnsRecord {
  return record.type === "RRSIG"
    ? makeDnsRecord(record.name, "RRSIG", record.data.replace(" 3600 ", " 7200 "))
    : record;
}

describe("attacks on data, keys and delegations", () => {
  it.each(ROWS)("%s", (_what, tamper, reason, question = A, grown = sound) => {
    const honest = validateIn(grown.zones, question, grown);
    const verdict = validateIn(grown.zones, question, { anchors: grown.anchors, tamper });
    expect(verdict.reasons.join("\n")).toMatch(reason);
    expect(verdict.status).toBe("bogus");
    expect(honest.status).not.toBe("bogus");
  });
});
