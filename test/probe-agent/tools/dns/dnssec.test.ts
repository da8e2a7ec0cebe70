import { describe, expect, it } from "vitest";
import { BIND_ZONES, validateIn } from "#test/servers/dnssec/tree.ts";

type Row = readonly [name: string, type: string, status: string, denial: string | null, reason: string];

function rowsFor(zone: string, denial: "nsec" | "nsec3"): readonly Row[] {
  return [
    [zone, "A", "secure", null, `Signed by ${zone}`],
    [zone, "SOA", "secure", null, `Signed by ${zone}`],
    [zone, "MX", "secure", null, `Signed by ${zone}`],
    [zone, "DNSKEY", "secure", null, `Signed by ${zone}`],
    [zone, "DS", "secure", null, "Signed by test"],
    [`WEB.${zone}`, "A", "secure", null, `Signed by ${zone}`],
    [`www.${zone}`, "A", "secure", null, `Signed by ${zone}`],
    [`x.wild.${zone}`, "TXT", "secure", denial, `expanded from the wildcard *.wild.${zone}`],
    [`a.b.wild.${zone}`, "TXT", "secure", denial, `expanded from the wildcard *.wild.${zone}`],
    [`x.wild.${zone}`, "A", "secure", denial, "has no record of this type"],
    [`*.wild.${zone}`, "TXT", "secure", null, `Signed by ${zone}`],
    [`below.here.wild.${zone}`, "TXT", "secure", denial, "does not exist"],
    [`mail.${zone}`, "MX", "secure", denial, "has no record of this type"],
    [`nope.${zone}`, "A", "secure", denial, "does not exist"],
    [`a.b.c.nope.${zone}`, "A", "secure", denial, "does not exist"],
    [`zzz.${zone}`, "A", "secure", denial, "does not exist"],
    [`0.${zone}`, "A", "secure", denial, "does not exist"],
    [`empty.${zone}`, "A", "secure", denial, "has no record of this type"],
    [`deep.empty.${zone}`, "A", "secure", denial, "has no record of this type"],
    [`x.empty.${zone}`, "A", "secure", denial, "does not exist"],
    [`here.wild.${zone}`, "TXT", "secure", denial, "has no record of this type"],
    [`x.old.${zone}`, "A", "secure", denial, "does not exist"],
    [`out.${zone}`, "A", "insecure", null, "unsigned.test has no DS"],
    [`www.sub.${zone}`, "A", "insecure", null, `sub.${zone} has no DS`],
    [`sub.${zone}`, "NS", "insecure", null, `sub.${zone} has no DS`],
  ];
}

const ROWS: readonly Row[] = [
  ...rowsFor("rsa.test", "nsec"),
  ...rowsFor("ed.test", "nsec3"),
  ...rowsFor("curve.test", "nsec3"),
  [".", "NS", "secure", null, "Signed by ."],
  [".", "MX", "secure", "nsec", "has no record of this type"],
  ["test", "NS", "secure", null, "Signed by test"],
  ["nope", "A", "secure", "nsec", "does not exist"],
  ["www.nope", "A", "secure", "nsec", "does not exist"],
  ["www.plain", "A", "insecure", null, "plain has no DS"],
  ["plain", "MX", "insecure", null, "plain has no DS"],
  ["web.unsigned.test", "A", "insecure", null, "opt-out"],
  ["back.unsigned.test", "A", "insecure", null, "opt-out"],
  ["ns.test", "A", "secure", null, "Signed by test"],
  ["ns.test", "MX", "secure", "nsec3", "has no record of this type"],
];

describe("zones signed by BIND", () => {
  it.each(ROWS)("%s %s is %s (denial %s)", (name, type, status, denial, reason) => {
    const verdict = validateIn(BIND_ZONES, { name, type });
    expect(verdict.reasons.join("\n")).toContain(reason);
    expect(verdict).toMatchObject({ status, denial });
  });
});
