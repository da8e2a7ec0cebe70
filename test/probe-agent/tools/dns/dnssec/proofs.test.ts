import { describe, expect, it } from "vitest";
import { type Denials, Nsec3Zone } from "#probe-agent/tools/dns/dnssec/denial.ts";
import { Effort } from "#probe-agent/tools/dns/dnssec/effort.ts";
import { parseName, type Name } from "#probe-agent/tools/dns/dnssec/names.ts";
import { proveNoData, readNoDs } from "#probe-agent/tools/dns/dnssec/proofs.ts";
import { nsec3Label } from "#test/servers/dnssec/zone.ts";

function name(text: string): Name {
  const read = parseName(text);
  if (read === null) throw new Error(`${text} is no name`);
  return read;
}

const ZONE = name("example");
const NONE: Denials = { nsec: [], nsec3: null, kind: null, signatures: [], faults: [], iterations: 0 };

/** The record of child.example itself with these types, as NSEC and as NSEC3. */
function listing(types: string): readonly (readonly [string, Denials])[] {
  const set = new Set(types.split(" "));
  const record = { next: "v".repeat(32), optOut: false, iterations: 0, salt: "", types: set };
  const hash = nsec3Label("child.example", 0, "");
  return [
    ["NSEC", { ...NONE, nsec: [{ owner: name("child.example"), next: name("z.example"), types: set }] }],
    ["NSEC3", { ...NONE, nsec3: new Nsec3Zone(ZONE, [{ hash, ...record }], new Effort()) }],
  ];
}

describe("a record of the name itself", () => {
  it.each([
    ["an unsigned delegation", "NS", "insecure"],
    ["a signed one, whose DS it lists", "NS DS", "missing"],
    ["the child's own, at its apex (RFC 6840 section 4.4)", "NS SOA", "missing"],
    ["no delegation", "A", "no_cut"],
  ])("shows for DS in the chain of trust: %s", (_what, types, kind) => {
    for (const [by, denials] of listing(types)) {
      expect([by, readNoDs(denials, ZONE, name("child.example")).kind]).toEqual([by, kind]);
    }
  });

  it.each([
    ["MX at an ordinary name", "A", "MX", "proven"],
    ["a type that it lists", "A MX", "MX", "missing"],
    ["MX at an alias", "CNAME", "MX", "missing"],
    ["MX at a delegation, by the parent (RFC 6840 section 4.1)", "NS", "MX", "missing"],
    ["MX at the apex", "NS SOA", "MX", "proven"],
    ["DS at a delegation, by the parent", "NS", "DS", "proven"],
    ["DS at the apex, by the child", "NS SOA", "DS", "missing"],
  ])("shows as no data: %s", (_what, types, type, kind) => {
    for (const [by, denials] of listing(types)) {
      expect([by, proveNoData(denials, ZONE, name("child.example"), type).kind]).toEqual([by, kind]);
    }
  });
});
