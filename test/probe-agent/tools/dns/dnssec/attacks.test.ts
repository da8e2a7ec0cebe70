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
type Row = readonly [
  what: string,
  grown: Grown,
  question: { name: string; type: string },
  tamper: Tamper,
  status: string,
  reason: RegExp,
];

const ROWS: readonly Row[] = [
  ["a signature by a sibling zone", sound, A, lying({ signer: "evil" }), "bogus", /not by \S+, the zone of the name/],
  [
    "a signature by the name itself, which is no zone",
    sound,
    A,
    lying({ signer: "www.example" }),
    "bogus",
    /not by \S+, the zone of the name/,
  ],
  ["a signature over another type", sound, A, lying({ typeCovered: "MX" }), "bogus", /RRSIG missing/],
  [
    "an expired signature",
    sound,
    A,
    lying({ expiration: "20260630235959" }),
    "bogus",
    /expired at 2026-06-30T23:59:59Z/,
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
    /does not verify: the data or the signature was changed/,
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
    "the DS denied by the child's own apex, NSEC3",
    hashed,
    A,
    empty("example", "DS", matching3(hashedZone, "example")),
    "bogus",
    /proves that example has no DS/,
  ],
  [
    "a DS without its signature",
    sound,
    A,
    only("example", "DS", without("RRSIG")),
    "bogus",
    /DS of example has no signature/,
  ],
  [
    "another key and its DS, which the parent did not sign",
    sound,
    A,
    forgedChild(),
    "bogus",
    /The signature of DS of example by \., key \d+ .*does not verify/,
  ],
  [
    "an alias in place of the DS, which nobody signed",
    sound,
    { name: "www.sub.example", type: "A" },
    only("sub.example", "DS", () => ({
      answers: [makeDnsRecord("sub.example", "CNAME", "www.example.")],
      authority: [],
    })),
    "bogus",
    /No NSEC or NSEC3 record proves that sub\.example has no DS/,
  ],
  [
    "a DS made from a wildcard",
    sound,
    A,
    only("example", "DS", ({ answers }) => ({ answers: fromWildcard(answers) })),
    "bogus",
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
  it.each(ROWS)("%s", (_what, grown, question, tamper, status, reason) => {
    const honest = validateIn(grown.zones, question, grown);
    const verdict = validateIn(grown.zones, question, { anchors: grown.anchors, tamper });
    expect(verdict.reasons.join("\n")).toMatch(reason);
    expect(verdict.status).toBe(status);
    expect(honest.status).not.toBe("bogus");
  });
});
