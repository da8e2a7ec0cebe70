import { describe, expect, it } from "vitest";
import { parseName, type Name } from "#probe-agent/tools/dns/dnssec/names.ts";
import { nsecFacts, wildcardFor, type Nsec } from "#probe-agent/tools/dns/dnssec/nsec.ts";

function name(text: string): Name {
  const read = parseName(text);
  if (read === null) throw new Error(`${text} is no name`);
  return read;
}

function record(owner: string, next: string, types = "A RRSIG NSEC"): Nsec {
  return { owner: name(owner), next: name(next), types: new Set(types.split(" ")) };
}

function facts(one: Nsec, asked: string) {
  const { match, cover, empty } = nsecFacts(name("example"), [one], name(asked));
  return match !== null ? "match" : cover === null ? "nothing" : empty ? "empty" : "cover";
}

describe("facts that one NSEC record proves about a name", () => {
  it.each([
    ["the gap's owner exists", record("b.example", "d.example"), "b.example", "match"],
    ["a name in the gap", record("b.example", "d.example"), "c.example", "cover"],
    ["a name below the owner", record("b.example", "d.example"), "a.b.example", "cover"],
    ["the next name exists", record("b.example", "d.example"), "d.example", "nothing"],
    ["a name before the gap", record("b.example", "d.example"), "a.example", "nothing"],
    ["a name after the gap", record("b.example", "d.example"), "e.example", "nothing"],
    ["a name above the next one", record("b.example", "x.d.example"), "d.example", "empty"],
    ["the last record's gap goes round to the apex", record("b.example", "example"), "z.example", "cover"],
    ["the last record says nothing of what is before it", record("b.example", "example"), "a.example", "nothing"],
    ["a zone of one name", record("example", "example", "NS SOA NSEC"), "a.example", "cover"],
    [
      "a name below a delegation (RFC 6840 section 4.1)",
      record("b.example", "d.example", "NS NSEC"),
      "a.b.example",
      "nothing",
    ],
    ["a name beside a delegation", record("b.example", "d.example", "NS NSEC"), "c.example", "cover"],
    ["a name below a DNAME", record("b.example", "d.example", "DNAME NSEC"), "a.b.example", "nothing"],
    ["a name below the apex, which has NS too", record("example", "d.example", "NS SOA NSEC"), "a.example", "cover"],
    ["a record that points out of the zone", record("b.example", "d.other"), "c.example", "nothing"],
    ["a record from outside the zone", record("b.elsewhere", "d.example"), "c.example", "nothing"],
  ])("%s", (_what, one, asked, expected) => {
    expect(facts(one, asked)).toBe(expected);
  });

  it.each([
    ["by the owner", record("x.b.example", "d.example"), "z.b.example", "*.b.example"],
    ["by the next name", record("a.example", "x.b.example"), "0.b.example", "*.b.example"],
    ["by neither", record("a.example", "c.example"), "x.b.example", "*.example"],
    ["by the owner itself", record("b.example", "c.example"), "x.y.b.example", "*.b.example"],
  ])(
    "the wildcard that would answer is below the closest name that exists, shown %s",
    (_what, one, asked, wildcard) => {
      expect(wildcardFor(one, name(asked))?.text).toBe(wildcard);
    },
  );
});
