import { describe, expect, it } from "vitest";
import { routingFindings, type HostFacts, type Routing } from "#probe-agent/tools/mx/exchangers.ts";
import { ROUTING_ADVICE } from "#probe-agent/tools/mx/routing-advice.ts";
import { adviseOn } from "#probe-agent/analysis/text/findings.ts";
import { expectWellFormed, kinds, messagesOf } from "#test/support/findings.ts";

const at = (ip: string, more: Partial<HostFacts["addresses"][number]> = {}) => {
  return { ip, ptr: "mail.x.test", has_ptr: true, fcrdns: true, asn: null, ...more };
};

function host(name: string, ips: readonly string[] = [], more: Partial<HostFacts> = {}): HostFacts {
  const addresses = ips.map((ip) => at(ip));
  return { priority: 10, host: name, ttl: 300, isAlias: false, addresses, complete: true, absent: false, ...more };
}

const BOTH = ["8.8.8.8", "2001:4860::1"];
const SPARE = host("b.x.test", BOTH, { priority: 20 });

function findingsOf(hosts: readonly HostFacts[], more: Partial<Routing> = {}) {
  const facts = { status: "NOERROR", nullMx: false, implicitMx: false, hosts, total: hosts.length, ...more };
  const findings = adviseOn(ROUTING_ADVICE, routingFindings(facts), { domain: "x.test" });
  for (const finding of findings) expectWellFormed([finding]);
  return findings;
}

describe("the routing of mail", () => {
  it.each<[what: string, hosts: readonly HostFacts[], more: Partial<Routing>, expected: readonly string[]]>([
    ["two hosts", [host("a.x.test", BOTH), SPARE], {}, []],
    ["a domain that does not exist", [], { status: "NXDOMAIN" }, ["critical domain-missing"]],
    ["no route", [], {}, ["critical no-mail-route"]],
    ["a failed lookup", [], { nullMx: null, implicitMx: null, status: "SERVFAIL" }, []],
    ["a null MX", [host(".", [], { priority: 0 })], { nullMx: true }, []],
    ["a null MX with a preference", [host(".")], { nullMx: true }, ["info null-mx-preference"]],
    [
      "a null MX beside others",
      [host(".", [], { priority: 0 }), host("a.x.test", BOTH), SPARE],
      {},
      ["warning null-mx-not-alone"],
    ],
    ["no MX", [host("x.test", BOTH)], { implicitMx: true, total: 0 }, ["info implicit-mx"]],
    ["one host", [host("a.x.test", BOTH)], {}, ["info single-host"]],
    ["one name of many machines", [host("a.x.test", [...BOTH, "8.8.4.4"])], {}, []],
    ["one host whose lookup failed in part", [host("a.x.test", ["8.8.8.8"], { complete: false })], {}, []],
    ["no IPv6", [host("a.x.test", ["8.8.8.8", "8.8.4.4"])], {}, ["info no-ipv6"]],
    ["an address as a host", [host("192.0.2.7"), SPARE], {}, ["warning mx-is-address"]],
    ["a host that does not exist", [host("a.x.test", [], { absent: true }), SPARE], {}, ["warning host-missing"]],
    ["a host without an address", [host("a.x.test"), SPARE], {}, ["warning host-without-address"]],
    ["a private address", [host("a.x.test", ["10.0.0.1"]), SPARE], {}, ["warning host-not-public"]],
    ["an alias", [host("a.x.test", BOTH, { isAlias: true }), SPARE], {}, ["warning host-is-alias"]],
    ["a host twice", [SPARE, { ...SPARE, priority: 5 }], {}, ["info host-repeated"]],
    ["a shared priority", [{ ...SPARE, host: "a.x.test" }, SPARE], {}, ["info priority-shared"]],
    [
      "no reverse name",
      [{ ...SPARE, addresses: [...SPARE.addresses, at("9.9.9.9", { ptr: null, has_ptr: false, fcrdns: null })] }],
      {},
      ["warning no-reverse-name"],
    ],
    [
      "a reverse name of another address",
      [{ ...SPARE, addresses: [...SPARE.addresses, at("9.9.9.9", { fcrdns: false })] }],
      {},
      ["warning reverse-name-mismatch"],
    ],
  ])("%s", (_what, hosts, more, expected) => {
    expect(kinds(findingsOf(hosts, more))).toEqual(expected);
  });

  it("is broken, not only weakened, if no host is reachable", () => {
    const dead = findingsOf([
      host("192.0.2.7"),
      host("a.x.test", [], { absent: true }),
      host("b.x.test", ["10.0.0.1"]),
    ]);
    expect(kinds(dead)).toEqual([
      "critical mx-is-address",
      "critical host-missing",
      "critical host-not-public",
      "info priority-shared",
      "info no-ipv6",
    ]);
    expect(messagesOf(dead)).toContain("a private address, which is not reachable from the internet: 10.0.0.1");
  });

  it("is repaired by the records that the advice names", () => {
    expect(findingsOf([host(".")], { nullMx: true })[0]?.how).toBe('Publish this MX record at x.test: "0 ."');
    expect(findingsOf([])[0]?.how).toContain('"10 mail.x.test."');
  });
});
