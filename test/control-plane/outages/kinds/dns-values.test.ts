import { describe, expect, it } from "vitest";
import { DNS_TYPES } from "#shared/monitor-checks/monitor-dns.ts";
import { readDnsValues } from "#control-plane/outages/kinds/dns.ts";
import { expectedData } from "#probe-agent/monitor-checks/monitor-dns.ts";

const read = (type: string, ...values: readonly string[]) =>
  readDnsValues({ type, op: "not_contains", values, dnssec: "not_bogus" });

describe("a value that a record of the type can have", () => {
  // Type, value, and the form in which the agent compares it.
  it.each([
    ["A", " 192.0.2.1 ", "192.0.2.1"],
    ["AAAA", "2001:DB8::0:1", "2001:db8::1"],
    ["AAAA", "2001:0db8:0:0::0001", "2001:db8::1"],
    ["AAAA", "::ffff:192.0.2.1", "::ffff:192.0.2.1"],
    ["CNAME", "WWW.Example.COM.", "www.example.com."],
    ["CNAME", "www.example.com", "www.example.com."],
    ["CNAME", "1.0/25.2.0.192.in-addr.arpa", "1.0/25.2.0.192.in-addr.arpa."],
    ["CNAME", "_acme-challenge.example.com", "_acme-challenge.example.com."],
    ["CNAME", ".", "."],
    ["NS", "ns1.münchen.example", "ns1.xn--mnchen-3ya.example."],
    ["NS", `${"a".repeat(63)}.example`, `${"a".repeat(63)}.example.`],
    ["PTR", "host.example.com", "host.example.com."],
    ["MX", "10 MX1.exam.test", "10 mx1.exam.test."],
    ["MX", "010\tmx1.exam.test.", "10 mx1.exam.test."],
    ["MX", "10\tmünchen.example", "10 xn--mnchen-3ya.example."],
    ["MX", "0 .", "0 ."],
    ["SRV", "010  60 5060 SIP.example.com", "10 60 5060 sip.example.com."],
    ["CAA", '0 issue "letsencrypt.org"', '0 issue "letsencrypt.org"'],
    ["CAA", "000 ISSUE letsencrypt.org", '0 issue "letsencrypt.org"'],
    ["CAA", '128 iodef "mailto:security@example.com"', '128 iodef "mailto:security@example.com"'],
    ["CAA", '0 issue "ca.example; policy=ev"', '0 issue "ca.example; policy=ev"'],
    ["CAA", '0 issuewild ";"', '0 issuewild ";"'],
    [
      "SOA",
      "ns1.example.com john\\.doe.example.com 2026030401 7200 3600 1209600 300",
      "ns1.example.com. john\\.doe.example.com. 2026030401 7200 3600 1209600 300",
    ],
    ["DS", "2371 13 2 1f98 7cc6", "2371 13 2 1F987CC6"],
    ["TLSA", "3 1 1 0b9fa5a5", "3 1 1 0B9FA5A5"],
    ["TXT", "any text at all", "any text at all"],
  ])("%s %j is accepted, and the agent reads it as %j", (type, value, data) => {
    expect(read(type, value)).toMatchObject({ ok: true, value: { values: [value] } });
    expect(expectedData(type, value)).toBe(data);
  });
});

describe("a value that no record of the type can have is refused", () => {
  it.each([
    ["A", "127.0.0.0/8"],
    ["A", "2001:db8::1"],
    ["A", "www.example.com"],
    ["A", " "],
    ["AAAA", "192.0.2.1"],
    ["AAAA", "fe80::1%eth0"],
    ["CNAME", "https://www.example.com/"],
    ["CNAME", "www.example.com/path"],
    ["CNAME", "www..example.com"],
    ["CNAME", "two names.example.com"],
    ["CNAME", `${"a".repeat(64)}.example`],
    ["CNAME", `${"a.".repeat(126)}aa`],
    ["NS", "192.0.2.1"],
    ["PTR", ""],
    ["MX", "mx1.exam.test"],
    ["MX", "65536 mx1.exam.test"],
    ["MX", "-1 mx1.exam.test"],
    ["MX", "10 mx1.exam.test 20"],
    ["MX", "10"],
    ["SRV", "sip.example.com"],
    ["SRV", "10 5060 sip.example.com"],
    ["SRV", "10 60 65536 sip.example.com"],
    ["CAA", "letsencrypt.org"],
    ["CAA", "issue letsencrypt.org"],
    ["CAA", "256 issue letsencrypt.org"],
    ["CAA", '0 issue "letsencrypt.org'],
    ["CAA", "0 issue ca.example; policy=ev"],
    ["SOA", "ns1.example.com"],
    ["DS", "2371 13 2 123"],
    ["TLSA", "3 1 1 no-hex"],
  ])("%s %j", (type, value) => {
    const result = read(type, value);
    expect(result).toMatchObject({ ok: false, problem: { field: "dns.values.0", reason: "type" } });
    expect(result).toHaveProperty(
      "problem.message",
      expect.stringMatching(/^must be .*, such as .*, for type [A-Z]+$/),
    );
  });

  it("at its place among the others", () => {
    expect(read("A", "192.0.2.1", "192.0.2.2", "192.0.2")).toMatchObject({ problem: { field: "dns.values.2" } });
  });
});

it("the message of every type has an example that is accepted", () => {
  for (const type of DNS_TYPES.filter((one) => one !== "TXT")) {
    const result = read(type, "!");
    const message = result.ok ? "" : result.problem.message;
    const [, example = ""] = /, such as (.*), for type/.exec(message) ?? [];
    expect(read(type, example), `${type} ${example}`).toMatchObject({ ok: true });
  }
});
