import { describe, expect, it } from "vitest";
import type { DnsRecord } from "#probe-agent/port/dns.ts";
import { covering3, matching3, withSignatures } from "#test/servers/dnssec/answer.ts";
import { grow } from "#test/servers/dnssec/grow.ts";
import { only, zoneOf } from "#test/servers/dnssec/tamper.ts";
import { validateIn } from "#test/servers/dnssec/tree.ts";
import { Effort } from "#probe-agent/tools/dns/dnssec/effort.ts";
import { parseName, type Name } from "#probe-agent/tools/dns/dnssec/names.ts";
import { Nsec3Zone, readNsec3, type Nsec3 } from "#probe-agent/tools/dns/dnssec/denial.ts";
import { groupRrsets } from "#probe-agent/tools/dns/dnssec/rrsets.ts";
import { makeDnsRecord } from "#test/servers/dnssec/record.ts";
import { nsec3Label, type Zone } from "#test/servers/dnssec/zone.ts";

const first = { iterations: 0, salt: "03", optOut: false };
const grown = grow({ nsec3: first });
const zone = zoneOf(grown, "example");

/** Finds the zone's NSEC3 record whose gap contains a hash, whatever parameters the hash was made with. */
function gapOf(other: Zone, hash: string): readonly DnsRecord[] {
  const owners = other.records.filter(({ type }) => type === "NSEC3").map(({ name }) => name.toLowerCase());
  const last = owners.toSorted().findLast((owner) => owner < hash) ?? owners.toSorted().at(-1);
  return withSignatures(other, last ?? "", "NSEC3");
}

/** A reply that denies an existing name with the zone's own records, which are all signed. */
function verdictOn(name: string, authority: readonly DnsRecord[]) {
  const tamper = only(name, "A", () => ({ status: "NXDOMAIN", answers: [], authority }));
  const { status, reasons } = validateIn(grown.zones, { name, type: "A" }, { anchors: grown.anchors, tamper });
  return { status, reason: reasons.join("\n") };
}

// A zone that changes its parameters has two chains for a while, both signed by its key. A hash of one chain lies
// somewhere in a gap of the other, which says nothing about the name.
describe("NSEC3 records of one zone with different parameters in one proof", () => {
  it.each([
    ["another salt", { ...first, salt: "04" }],
    ["more iterations", { ...first, iterations: 1 }],
    ["no salt", { ...first, salt: "" }],
  ])("%s: cannot deny a name that exists", (_what, nsec3) => {
    const other = zoneOf(grow({ keys: grown.keys, nsec3 }), "example");
    for (const name of ["www.example", "ns1.example"]) {
      const hashes = [name, "*.example"].map((one) => nsec3Label(one, first.iterations, first.salt));
      const mixed = [...matching3(zone, "example"), ...hashes.flatMap((hash) => gapOf(other, hash))];
      expect(verdictOn(name, mixed)).toEqual({
        status: "bogus",
        reason: expect.stringContaining("The NSEC3 records of example have different parameters"),
      });
    }
  });

  it("the same proof from one chain is valid", () => {
    const whole = ["none.example", "*.example"].flatMap((name) => covering3(zone, name));
    expect(verdictOn("none.example", [...matching3(zone, "example"), ...whole]).status).toBe("secure");
  });
});

function nameOf(text: string): Name {
  const read = parseName(text);
  if (read === null) throw new Error(`${text} is no name`);
  return read;
}

const LOW = "0".repeat(32);
const HIGH = "v".repeat(32);

function readRecord(owner: string, data: string): Nsec3 | null {
  const [set] = groupRrsets([makeDnsRecord(owner, "NSEC3", data)]);
  return set === undefined ? null : readNsec3(set, nameOf("example"));
}

describe("one NSEC3 record", () => {
  it.each([
    ["is read", `${LOW}.example`, `1 0 0 - ${HIGH} A`, { hash: LOW, next: HIGH, optOut: false }],
    ["with the opt-out flag is read", `${LOW}.example`, `1 1 0 - ${HIGH} A`, { optOut: true }],
    ["of another hash algorithm is not (RFC 5155 section 8.1)", `${LOW}.example`, `2 0 0 - ${HIGH} A`, null],
    ["with an unknown flag is not (section 8.2)", `${LOW}.example`, `1 2 0 - ${HIGH} A`, null],
    ["of another zone is not", `${LOW}.other`, `1 0 0 - ${HIGH} A`, null],
    ["of a name further below is not", `${LOW}.x.example`, `1 0 0 - ${HIGH} A`, null],
    ["whose owner is no hash is not", `${LOW}0.example`, `1 0 0 - ${HIGH} A`, null],
  ])("%s", (_what, owner, data, expected) => {
    if (expected === null) expect(readRecord(owner, data)).toBeNull();
    else expect(readRecord(owner, data)).toMatchObject(expected);
  });

  const hashOf = (name: string) => nsec3Label(name, 0, "");
  const zoneWith = (...records: readonly Partial<Nsec3>[]) =>
    new Nsec3Zone(
      nameOf("example"),
      records.map((one) => ({
        hash: LOW,
        next: HIGH,
        optOut: false,
        iterations: 0,
        salt: "",
        types: new Set<string>(),
        ...one,
      })),
      new Effort(),
    );

  it.each([
    ["in a gap", LOW, HIGH, true],
    ["at the gap's beginning", hashOf("a.example"), HIGH, false],
    ["at the gap's end", LOW, hashOf("a.example"), false],
    ["in the last gap, after its owner", `${LOW.slice(1)}1`, LOW, true],
    ["in the last gap, before the first hash", HIGH, `${HIGH.slice(1)}u`, true],
    ["outside the last gap", HIGH, LOW, false],
    ["in the gap of a single record", LOW, LOW, true],
  ])("covers a hash: %s", (_what, hash, next, covered) => {
    expect(zoneWith({ hash, next }).cover(nameOf("a.example")) !== null).toBe(covered);
  });

  it.each([
    ["an ordinary name", ["A"], true],
    ["an empty name", [], true],
    ["the apex", ["NS", "SOA"], true],
    ["a delegation (RFC 5155 section 8.3)", ["NS"], false],
    ["a signed delegation", ["NS", "DS"], false],
    ["a name with a DNAME", ["DNAME"], false],
  ])("is the closest encloser of what is below it: %s", (_what, types, encloses) => {
    const zone3 = zoneWith({ hash: hashOf("b.example"), types: new Set(types) });
    expect(zone3.facts(nameOf("a.b.example")).encloser !== null).toBe(encloses);
  });

  it("a name that needs more hash rounds than the budget of a lookup is neither matched nor covered", () => {
    const effort = new Effort();
    const costly = { hash: LOW, next: HIGH, optOut: false, iterations: 30_000, salt: "", types: new Set<string>() };
    const zone3 = new Nsec3Zone(nameOf("example"), [costly], effort);
    expect([zone3.cover(nameOf("a.example")) === null, zone3.cover(nameOf("b.example")) === null]).toEqual([
      false,
      true,
    ]);
  });
});
