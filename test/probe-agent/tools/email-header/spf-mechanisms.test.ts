import { describe, expect, it } from "vitest";
import { trySpf, type SpfTry, type SpfZone } from "#test/support/spf.ts";

const HOSTS: SpfZone = {
  "mail.example.com": { A: ["192.0.2.1", "192.0.2.200"], AAAA: ["2001:db8::1"] },
  "four.example.com": { A: ["192.0.2.77"] },
  "six.example.com": { AAAA: ["2001:db8::77"] },
  "foo:bar/baz.example.com": { A: ["192.0.2.1"] },
  "abc.f-oo": { A: ["192.0.2.1"] },
  "abc.123": { A: ["192.0.2.1"] },
  "alias.example.com": { CNAME: ["mail.example.com"] },
  "broken.example.com": { "*": "SERVFAIL" },
  "silent.example.com": { "*": "TIMEOUT" },
  "mx.example.com": { MX: ["10 mail.example.com", "20 four.example.com."] },
  "null.example.com": { MX: ["0 ."] },
  "dangling.example.com": { MX: ["10 absent.example.com", "20 mail.example.com"] },
  "brokenmx.example.com": { MX: ["10 broken.example.com", "20 mail.example.com"] },
  "nomx.example.com": { A: ["192.0.2.1"] },
};

async function resultOf(policy: string, given: SpfTry = {}, zone: SpfZone = {}): Promise<string> {
  return (await trySpf({ "example.com": { TXT: [`v=spf1 ${policy}`], A: ["192.0.2.1"] }, ...HOSTS, ...zone }, given))
    .result;
}

describe("a (section 5.3)", () => {
  it.each([
    ["a -all", "pass"],
    ["a:mail.example.com -all", "pass"],
    ["A:MAIL.example.com. -all", "pass"],
    ["a:four.example.com -all", "fail"],
    ["a:four.example.com/24 -all", "pass"],
    ["a/24 -all", "pass"],
    ["a:four.example.com/0 -all", "pass"],
    ["a:six.example.com/0 -all", "fail"],
    ["a:four.example.com//0 -all", "fail"],
    ["a:four.example.com/24//128 -all", "pass"],
    ["a:absent.example.com/0 -all", "fail"],
    ["a:alias.example.com -all", "pass"],
    ["a:foo:bar/baz.example.com -all", "pass"],
    ["a:abc.f-oo -all", "pass"],
    ["a:broken.example.com -all", "temperror"],
    ["a:silent.example.com -all", "temperror"],
    ["a:mail.example.com/33 -all", "permerror"],
    ["a:mail.example.com/032 -all", "permerror"],
    ["a:mail.example.com//129 -all", "permerror"],
    ["a:mail.example.com//0128 -all", "permerror"],
    ["a:mail.example.com/24/64 -all", "permerror"],
    ["a/ -all", "permerror"],
    ["a: -all", "permerror"],
    ["a:/24 -all", "permerror"],
    ["a:mail.example.com\0 -all", "permerror"],
    ["a:abc.123 -all", "permerror"],
    ["a:192.0.2.1 -all", "permerror"],
    ["a:mail.example.com- -all", "permerror"],
    ["a:mail.example.-com -all", "permerror"],
    ["a:museum -all", "permerror"],
    ["a:museum. -all", "permerror"],
    ["a:foo-bar -all", "permerror"],
    ["a=mail.example.com -all", "fail"],
    ["amail.example.com -all", "permerror"],
  ])("%j: %s", async (policy, result) => {
    expect(await resultOf(policy)).toBe(result);
  });

  it.each([
    ["a:mail.example.com -all", "pass"],
    ["a:four.example.com/0 -all", "fail"],
    ["a:four.example.com//0 -all", "fail"],
    ["a:six.example.com -all", "fail"],
    ["a:six.example.com//64 -all", "pass"],
    ["a:six.example.com/0//128 -all", "fail"],
  ])("%s for an IPv6 client: %s", async (policy, result) => {
    expect(await resultOf(policy, { ip: "2001:db8::1" })).toBe(result);
  });

  it("does not match a name that DNS cannot hold (section 4.8)", async () => {
    expect(await resultOf("a:mail.example...com -all")).toBe("fail");
    expect(await resultOf(`a:${"a".repeat(64)}.example.com -all`)).toBe("fail");
    expect(await resultOf("a:%{H}.bar -all", { helo: "%".repeat(22) })).toBe("fail");
  });
});

describe("mx (section 5.4)", () => {
  it.each([
    ["mx:mx.example.com -all", "pass"],
    ["mx:mx.example.com/0 -all", "pass"],
    ["mx:null.example.com -all", "fail"],
    ["mx:absent.example.com -all", "fail"],
    ["mx:dangling.example.com -all", "pass"],
    ["mx:brokenmx.example.com -all", "temperror"],
    ["mx:broken.example.com -all", "temperror"],
    ["mx -all", "fail"],
    ["mx:nomx.example.com -all", "fail"],
    ["mx: -all", "permerror"],
    ["mx:mx.example.com/33 -all", "permerror"],
    ["mx:abc.123 -all", "permerror"],
  ])("%s: %s", async (policy, result) => {
    expect(await resultOf(policy)).toBe(result);
  });

  it("uses the prefix length of the client's address family", async () => {
    expect(await resultOf("mx:mx.example.com//64 -all", { ip: "2001:db8::ffff" })).toBe("pass");
    expect(await resultOf("mx:mx.example.com/0 -all", { ip: "2001:db8::ffff" })).toBe("fail");
  });
});

describe("ptr (section 5.5)", () => {
  const reverse = (names: readonly string[] | string): SpfZone => ({ "1.2.0.192.in-addr.arpa": { PTR: names } });

  it.each([
    ["ptr -all", ["mail.example.com"], "pass"],
    ["ptr -all", ["MAIL.Example.COM."], "pass"],
    ["ptr:example.com -all", ["mail.example.com"], "pass"],
    ["ptr:mail.example.com -all", ["mail.example.com"], "pass"],
    ["ptr:other.example.com -all", ["mail.example.com"], "fail"],
    ["ptr:ample.com -all", ["mail.example.com"], "fail"],
    ["ptr -all", ["four.example.com"], "fail"],
    ["ptr -all", ["broken.example.com", "mail.example.com"], "pass"],
    ["ptr -all", [], "fail"],
    ["ptr -all", ["..", "mail.example.com"], "pass"],
    ["ptr: -all", [], "permerror"],
    ["ptr/24 -all", [], "permerror"],
    ["ptr:abc.123 -all", [], "permerror"],
  ])("%s with %j: %s", async (policy, names, result) => {
    expect(await resultOf(policy, {}, reverse(names))).toBe(result);
  });

  it("does not match, and is no error, if the PTR lookup fails", async () => {
    for (const status of ["SERVFAIL", "TIMEOUT"]) {
      expect(await resultOf("ptr -all", {}, reverse(status))).toBe("fail");
    }
  });

  it("looks up the nibble name and AAAA records of an IPv6 client", async () => {
    const name = `1${".0".repeat(23)}.8.b.d.0.1.0.0.2.ip6.arpa`;
    const zone = { [name]: { PTR: ["mail.example.com"] } };
    expect(await resultOf("ptr -all", { ip: "2001:db8::1" }, zone)).toBe("pass");
  });
});

describe("exists (section 5.7)", () => {
  it.each([
    ["exists:mail.example.com -all", "pass"],
    ["exists:six.example.com -all", "fail"],
    ["exists:absent.example.com -all", "fail"],
    ["exists:broken.example.com -all", "temperror"],
    ["exists -all", "permerror"],
    ["exists: -all", "permerror"],
    ["exists:mail.example.com/24 -all", "permerror"],
  ])("%s: %s", async (policy, result) => {
    expect(await resultOf(policy)).toBe(result);
    // The lookup is always for A records, also for IPv6 clients.
    expect(await resultOf(policy, { ip: "2001:db8::1" })).toBe(result);
  });
});

describe("include (section 5.2)", () => {
  it.each([
    ["v=spf1 -all", "softfail"],
    ["v=spf1 ~all", "softfail"],
    ["v=spf1 ?all", "softfail"],
    ["v=spf1 ip4:192.0.2.1 -all", "pass"],
    ["v=spf1 redirect=other.example.com", "pass"],
    ["v=spf1 a:broken.example.com", "temperror"],
    ["v=spf1 moo", "permerror"],
    ["v=other", "permerror"],
  ])("of %s: %s", async (policy, result) => {
    const zone = { "inc.example.com": { TXT: [policy] }, "other.example.com": { TXT: ["v=spf1 +all"] } };
    expect(await resultOf("include:inc.example.com ~all", {}, zone)).toBe(result);
  });

  it.each([
    ["include:absent.example.com -all", "permerror"],
    ["include:broken.example.com -all", "temperror"],
    ["include -all", "permerror"],
    ["include: -all", "permerror"],
    ["include+mail.example.com -all", "permerror"],
    ["include:mail.example.com/24 -all", "permerror"],
    ["include:mail.example...com -all", "permerror"],
  ])("%s: %s", async (policy, result) => {
    expect(await resultOf(policy)).toBe(result);
  });

  it("returns the qualifier of the include if the included domain passes", async () => {
    const zone = { "inc.example.com": { TXT: ["v=spf1 +all"] } };
    expect(await resultOf("-include:inc.example.com +all", {}, zone)).toBe("fail");
    expect(await resultOf("?include:inc.example.com +all", {}, zone)).toBe("neutral");
  });
});
