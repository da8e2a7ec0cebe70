import { describe, expect, it } from "vitest";
import { trySpf, type SpfTry, type SpfZone } from "#test/support/spf.ts";

/** Returns the result of a policy of example.com. `zone` has further names. */
async function resultOf(policy: string | readonly string[], given: SpfTry = {}, zone: SpfZone = {}): Promise<string> {
  const TXT = typeof policy === "string" ? [policy] : policy;
  return (await trySpf({ "example.com": { TXT }, ...zone }, given)).result;
}

const LONG = "a".repeat(63);

describe("the domain that is checked (RFC 7208 section 4.3)", () => {
  it.each([
    [`user@${LONG}a.example.com`, "none"],
    [`user@${LONG}.example.com`, "fail"],
    ["user@a...example.com", "none"],
    ["user@localhost", "none"],
    ["user@[192.0.2.1]", "none"],
    ["user@absent.example.com", "none"],
    ["user@", "none"],
    [`user@${`${LONG}.`.repeat(4)}example.com`, "none"],
    ["@example.com", "fail"],
    ["example.com", "fail"],
    ["user@example.com.", "fail"],
    ["<user@example.com>", "fail"],
    ['"a@b"@EXAMPLE.com', "fail"],
    ["user@exämple.com", "fail"],
  ])("%s: %s", async (mailFrom, result) => {
    const TXT = ["v=spf1 -all"];
    const zone = { "example.com": { TXT }, [`${LONG}.example.com`]: { TXT }, "xn--exmple-cua.com": { TXT } };
    expect((await trySpf(zone, { mailFrom })).result).toBe(result);
  });

  it("is the HELO domain with the sender postmaster if MAIL FROM is empty (section 2.4)", async () => {
    const zone = {
      "mail.example.com": { TXT: ["v=spf1 -all exp=why.example.com"] },
      "why.example.com": { TXT: ["%{s} %{o} %{h}"] },
    };
    for (const mailFrom of ["", "<>"]) {
      expect(await trySpf(zone, { mailFrom })).toMatchObject({
        result: "fail",
        explanation: "postmaster@mail.example.com mail.example.com mail.example.com",
      });
    }
    expect(await trySpf(zone, { mailFrom: "", helo: "OEMCOMPUTER" })).toMatchObject({ result: "none" });
    expect(await trySpf(zone, { mailFrom: "", helo: "[192.0.2.1]" })).toMatchObject({ result: "none" });
  });

  it("is a permerror if the client address is not an IP address", async () => {
    expect(await trySpf({}, { ip: "127.1" })).toMatchObject({ result: "permerror" });
  });
});

describe("the record (sections 4.4 and 4.5)", () => {
  it.each<[string, readonly string[] | string, string]>([
    ["no TXT at all", [], "none"],
    ["other TXT only", ["google-site-verification=x", "v=spf2.0/pra -all"], "none"],
    ["an empty policy", ["v=spf1"], "neutral"],
    ["version in upper case", ["V=SPF1 ~all"], "softfail"],
    ["version 10", ["v=spf10 -all"], "none"],
    ["version 10 beside version 1", ["v=spf10 -all", "v=spf1 -all"], "fail"],
    ["strings joined without a space", ["v=spf1-all"], "none"],
    ["a tab after the version", ["v=spf1\t-all"], "none"],
    ["a space before the version", [" v=spf1 -all"], "none"],
    ["two policies", ["v=spf1 -all", "v=spf1 +all"], "permerror"],
    ["two policies of different case", ["v=spf1 -all", "V=SPF1 +all"], "permerror"],
    ["other TXT with octets beyond ASCII", ["\x96", "v=spf1 -all"], "fail"],
    ["an empty TXT", ["", "v=spf1 -all"], "fail"],
    ["a resolver that fails", "SERVFAIL", "temperror"],
    ["a resolver that does not answer", "TIMEOUT", "temperror"],
  ])("%s", async (_what, TXT, result) => {
    expect((await trySpf({ "example.com": { TXT } })).result).toBe(result);
  });
});

describe("terms (section 4.6)", () => {
  it.each([
    ["v=spf1 ip4:192.0.2.1 -all moo", "permerror"],
    ["v=spf1 moo.cow-far_out=man:dog/cat ip4:192.0.2.1 -all", "pass"],
    ["v=spf1 moo.cow:far_out=man ip4:192.0.2.1 -all", "permerror"],
    ["v=spf1 moo/cow=man ip4:192.0.2.1 -all", "permerror"],
    ["v=spf1 1up=foo", "permerror"],
    ["v=spf1 =all", "permerror"],
    ["v=spf1 -all foo=%abc", "permerror"],
    ["v=spf1 default=pass", "neutral"],
    ["v=spf1 x= -all", "fail"],
    ["v=spf1 redirect=example.com ~all", "softfail"],
    ["v=spf1 redirect:example.com", "permerror"],
    ["v=spf1 all=pass -all", "fail"],
    ["v=spf1   -all  ", "fail"],
    ["v=spf1 -all\t", "permerror"],
    ["v=spf1 a:mail.example.com\rptr -all", "permerror"],
    ["v=spf1 a:\xef\xbb\xbfmail.example.com -all", "permerror"],
    ["v=spf1 \x80a:mail.example.com -all", "permerror"],
    ["v=spf1 -all\0", "permerror"],
    ["v=spf1 ALL", "pass"],
    ["v=spf1 InClUdE:absent.example.com", "permerror"],
    ["v=spf1 ++all", "permerror"],
    ["v=spf1 + all", "permerror"],
    ["v=spf1 - all", "permerror"],
    ["v=spf1 !all", "permerror"],
    ["v=spf1 ip4:192.0.2.9", "neutral"],
    [`v=spf1 a:${"x".repeat(5000)}.example.com`, "permerror"],
  ])("%j: %s", async (policy, result) => {
    expect(await resultOf(policy)).toBe(result);
  });
});

describe("all (section 5.1)", () => {
  it.each([
    ["v=spf1 all", "pass"],
    ["v=spf1 +all", "pass"],
    ["v=spf1 -all", "fail"],
    ["v=spf1 ~all", "softfail"],
    ["v=spf1 ?all", "neutral"],
    ["v=spf1 -all.", "permerror"],
    ["v=spf1 -all:foo", "permerror"],
    ["v=spf1 -all/8", "permerror"],
    ["v=spf1 -all ip4:192.0.2.1", "fail"],
  ])("%s: %s", async (policy, result) => {
    expect(await resultOf(policy)).toBe(result);
  });
});

describe("ip4 and ip6 (section 5.6)", () => {
  it.each([
    ["ip4:192.0.2.1", "pass"],
    ["ip4:192.0.2.1/32", "pass"],
    ["ip4:192.0.2.2/32", "neutral"],
    ["ip4:192.0.2.255/24", "pass"],
    ["ip4:10.0.0.0/0", "pass"],
    ["ip4:192.0.2.1/33", "permerror"],
    ["ip4:192.0.2.1/032", "permerror"],
    ["ip4:192.0.2.1/", "permerror"],
    ["ip4:192.0.2.1//32", "permerror"],
    ["ip4", "permerror"],
    ["ip4:", "permerror"],
    ["ip4/8", "permerror"],
    ["ip4:192.0.2", "permerror"],
    ["ip4:192.0.2.01", "permerror"],
    ["ip4:192.0.2.1:8080", "permerror"],
    ["ip4:2001:db8::1", "permerror"],
    ["ip4:mail.example.com", "permerror"],
    ["ip6", "permerror"],
    ["ip6:192.0.2.1", "permerror"],
    ["ip6:::192.0.2.1/0", "neutral"],
    ["ip6:2001:db8::/129", "permerror"],
    ["ip6:2001:db8:://33", "permerror"],
    ["ip6::2001::db8", "permerror"],
    ["ip6:fe80::1%eth0", "permerror"],
    ["ip6:2001:db8::/33", "neutral"],
  ])("%s for an IPv4 client: %s", async (term, result) => {
    expect(await resultOf(`v=spf1 ${term}`)).toBe(result);
  });

  it.each([
    ["ip6:2001:db8::1", "pass"],
    ["ip6:2001:DB8:8000::/33", "neutral"],
    ["ip6:2001:db8:7000::/33", "pass"],
    ["ip6:::192.0.2.1/0", "pass"],
    ["ip6:2001:db8::2/128", "neutral"],
    ["ip4:0.0.0.0/0", "neutral"],
  ])("%s for an IPv6 client: %s", async (term, result) => {
    expect(await resultOf(`v=spf1 ${term}`, { ip: "2001:db8::1" })).toBe(result);
  });

  it("treats an IPv4 address mapped into IPv6 as IPv4 (section 5)", async () => {
    expect(await resultOf("v=spf1 ip4:192.0.2.1 -all", { ip: "::ffff:192.0.2.1" })).toBe("pass");
    expect(await resultOf("v=spf1 ip6:::ffff:192.0.2.1 ~all", { ip: "::FFFF:C000:201" })).toBe("softfail");
    const zone = { "example.com": { TXT: ["v=spf1 a -all"], A: ["192.0.2.1"] } };
    expect((await trySpf(zone, { ip: "::ffff:192.0.2.1" })).result).toBe("pass");
  });
});
