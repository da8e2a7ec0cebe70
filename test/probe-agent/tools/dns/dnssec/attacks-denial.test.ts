import { describe, expect, it } from "vitest";
import type { DnsRecord } from "#probe-agent/port/dns.ts";
import type { Reply } from "#probe-agent/tools/dns/dnssec/session.ts";
import { answerFrom, covering3, matching3, nsecFor, withSignatures } from "#test/servers/dnssec/answer.ts";
import { grow } from "#test/servers/dnssec/grow.ts";
import { makeDnsRecord } from "#test/servers/dnssec/record.ts";
import { signRrset } from "#test/servers/dnssec/sign.ts";
import { only, renamed, without, zoneOf, zoneSigner } from "#test/servers/dnssec/tamper.ts";
import { validateIn, type Tamper } from "#test/servers/dnssec/tree.ts";

const sound = grow();
const hashed = grow({ nsec3: { iterations: 0, salt: "03", optOut: false } });
const zone = zoneOf(sound, "example");
const zone3 = zoneOf(hashed, "example");
const nsec = (name: string) => nsecFor(zone, name);
const match = (name: string) => matching3(zone3, name);
const cover = (name: string) => covering3(zone3, name);
// With this salt, the proof for the name takes three different records. Otherwise one record could cover several
// hashes.
const nope = "nope0.example";
const nope3 = answerFrom(hashed.zones, nope, "A").authority;

type Change = (reply: Reply) => Partial<Reply>;
/** A false answer to a question, and why it is bogus. */
type Row = [what: string, question: string, change: Change, reason: RegExp];

const absent =
  (...authority: readonly DnsRecord[]): Change =>
  () => ({ status: "NXDOMAIN", answers: [], authority });
const empty =
  (...authority: readonly DnsRecord[]): Change =>
  () => ({ status: "NOERROR", answers: [], authority });
const LISTED = /the zone's own list of types contains/;
const CLOSER = /no record proves that no closer name exists/;

const NSEC_ROWS: readonly Row[] = [
  [
    "an existing name denied by its neighbour",
    "www.example A",
    absent(...nsec("ns1.example")),
    /No NSEC record proves/,
  ],
  ["an existing name denied by itself", "www.example A", absent(...nsec("www.example")), /shows that it exists/],
  ["an existing type denied", "www.example A", empty(...nsec("www.example")), LISTED],
  [
    "a name denied by its parent zone",
    "www.example A",
    absent(...nsecFor(zoneOf(sound, "."), "example")),
    /record proves that/,
  ],
  [
    "an empty non-terminal denied",
    "ent.example A",
    absent(...answerFrom(sound.zones, "ent.example", "A").authority),
    /shows that it exists/,
  ],
  ["a name denied without its wildcard", "x.w.example A", absent(...nsec("x.w.example")), /denies the wildcard/],
  ["a name denied without any proof", "nope.example A", without("NSEC"), /No NSEC or NSEC3 record/],
  [
    "a wildcard for a name that exists",
    "real.w.example TXT",
    wildcardReplay("real.w.example", answerFrom(sound.zones, "x.w.example", "TXT").authority),
    CLOSER,
  ],
  ["a wildcard without proof", "x.w.example TXT", without("NSEC"), CLOSER],
  [
    "an NSEC made from a wildcard",
    "real.w.example A",
    empty(...renamed(nsec("*.w.example"), "real.w.example")),
    /expanded from a wildcard, which proves nothing/,
  ],
  ["NSEC3 in a zone with NSEC", `${nope} A`, absent(...nope3), /record proves that/],
  [
    "the child's data denied by its parent's record",
    "example MX",
    empty(...nsecFor(zoneOf(sound, "."), "example")),
    /not by example, the zone of the name/,
  ],
  ["an alias denied by its own record", "alias.example A", empty(...nsec("alias.example")), LISTED],
  [
    "a wildcard below a closer name",
    "x.real.w.example TXT",
    wildcardReplay("x.real.w.example", nsec("x.real.w.example")),
    CLOSER,
  ],
  [
    "a type that the wildcard has, denied by the wildcard's own record",
    "x.w.example TXT",
    empty(...nsec("x.w.example"), ...nsec("*.w.example")),
    /record proves that/,
  ],
];

const NSEC3_ROWS: readonly Row[] = [
  ["an existing name denied", "www.example A", absent(...nope3), /closest encloser|next closer|shows that it exists/],
  ["no closest encloser", `${nope} A`, absent(...dropOwner(nope3, match("example"))), /closest encloser/],
  ["the closest encloser only", `${nope} A`, absent(...match("example")), /next closer name|denies the wildcard/],
  ["an existing type denied", "www.example A", empty(...match("www.example")), LISTED],
  ["unknown flags", `${nope} A`, absent(...resigned(/^1 0/, "1 2")), /record proves that/],
  ["another hash", `${nope} A`, absent(...resigned(/^1 0/, "9 0")), /record proves that/],
  ["different parameters", `${nope} A`, absent(...nope3, ...resigned(/ 0 03 /, " 1 03 ")), /different parameters/],
  [
    "a type that the wildcard has, denied by the wildcard's own record",
    "x.w.example TXT",
    empty(...match("w.example"), ...match("*.w.example"), ...cover("x.w.example")),
    /record proves that/,
  ],
  [
    "a type of a name that exists, denied by the wildcard beside it",
    "real.w.example A",
    empty(...match("w.example"), ...match("*.w.example")),
    /next closer/,
  ],
  [
    "a name that exists, denied beside its own record",
    "www.example A",
    absent(...match("www.example"), ...nope3),
    /shows that it exists/,
  ],
  [
    "a wildcard for a name that exists, with a gap that holds another name",
    // The name itself does not exist, but its next closer name, real.w.example, does.
    "a.real.w.example TXT",
    () => ({
      status: "NOERROR",
      answers: renamed(withSignatures(zone3, "*.w.example", "TXT"), "a.real.w.example"),
      authority: cover("a.real.w.example"),
    }),
    CLOSER,
  ],
  ["a wildcard without proof", "x.w.example TXT", without("NSEC3"), CLOSER],
  [
    "a name denied without its wildcard",
    "x.w.example A",
    absent(...match("w.example"), ...cover("x.w.example")),
    /denies the wildcard/,
  ],
];

/** Returns the denial for `nope` with a part of its data replaced. The zone signs each changed record again. */
function resigned(part: RegExp, by: string): readonly DnsRecord[] {
  return nope3
    .filter(({ type }) => type === "NSEC3")
    .flatMap((record, index) => {
      // The owners differ from the true ones, because an RRset has one NSEC3 record.
      const owner = record.name.replace(/^./, String(index));
      const changed = makeDnsRecord(owner, "NSEC3", record.data.replace(part, by), record.ttl);
      return [changed, signRrset([changed], zoneSigner(hashed), { signer: "example" })];
    });
}

function wildcardReplay(name: string, authority: readonly DnsRecord[]): Change {
  const answers = renamed(withSignatures(zone, "*.w.example", "TXT"), name);
  return () => ({ status: "NOERROR", answers, authority });
}

function dropOwner(records: readonly DnsRecord[], those: readonly DnsRecord[]): readonly DnsRecord[] {
  return records.filter(({ name }) => !those.some((one) => one.name === name));
}

describe.each([
  ["NSEC", sound, NSEC_ROWS],
  ["NSEC3", hashed, NSEC3_ROWS],
] as const)("attacks on denial by %s", (_kind, { zones, anchors }, rows) => {
  it.each(rows)("%s", (_what, asked, change, reason) => {
    const [name = "", type = ""] = asked.split(" ");
    const verdict = validateIn(zones, { name, type }, { anchors, tamper: only(name, type, change) });
    expect(verdict.reasons.join("\n")).toMatch(reason);
    expect(verdict.status).toBe("bogus");
    expect(validateIn(zones, { name, type }, { anchors }).status).not.toBe("bogus");
  });
});

it("nothing is proven where signatures and keys are taken away", () => {
  const tamper: Tamper = (_asked, reply) => ({ ...reply, ...without("RRSIG", "DNSKEY", "NSEC")(reply) });
  const verdict = validateIn(sound.zones, { name: "www.example", type: "A" }, { anchors: sound.anchors, tamper });
  expect(verdict.reasons.join("\n")).toMatch(/does not pass DNSSEC records on/);
  expect(verdict.status).toBe("indeterminate");
});

it("a name below a delegation that the parent's NSEC3 denies is insecure: the child is not signed", () => {
  const name = "www.sub.example";
  const tamper = only(name, "A", absent(...match("sub.example"), ...nope3));
  const verdict = validateIn(hashed.zones, { name, type: "A" }, { anchors: hashed.anchors, tamper });
  expect(verdict.reasons.join("\n")).toMatch(/The parent proves with NSEC3 that sub\.example has no DS record/);
  expect(verdict.status).toBe("insecure");
});
