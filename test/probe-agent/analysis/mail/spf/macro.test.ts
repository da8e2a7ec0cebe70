import { describe, expect, it } from "vitest";
import { cpuTime } from "#test/support/cpu-time.ts";
import { trySpf, zoneResolver, type SpfTry, type SpfZone } from "#test/support/spf.ts";
import { evaluateSpf } from "#probe-agent/tools/email-header/spf.ts";
import { parseMacros } from "#probe-agent/analysis/mail/spf/macro.ts";

const SENDER = "strong-bad@email.example.com";

/** Returns the expanded explanation of email.example.com. */
async function explained(text: string, given: SpfTry = {}, zone: SpfZone = {}): Promise<string | undefined> {
  const names: SpfZone = {
    "email.example.com": { TXT: ["v=spf1 -all exp=why.example.com"] },
    "why.example.com": { TXT: [text] },
  };
  return (await trySpf({ ...names, ...zone }, { ip: "192.0.2.3", mailFrom: SENDER, helo: "mx.example.org", ...given }))
    .explanation;
}

/** Returns the name that exists:<macro> looks up. */
async function asked(macro: string, given: SpfTry = {}): Promise<string | undefined> {
  const resolver = zoneResolver({ "email.example.com": { TXT: [`v=spf1 exists:${macro} -all`] } });
  await evaluateSpf({
    ip: given.ip ?? "192.0.2.3",
    mailFrom: given.mailFrom ?? SENDER,
    helo: "mx.example.org",
    now: new Date(0),
    resolver,
  });
  return resolver.asked[1]?.replace(/ A$/, "");
}

describe("the examples of RFC 7208 section 7.4", () => {
  it.each([
    ["%{s}", "strong-bad@email.example.com"],
    ["%{o}", "email.example.com"],
    ["%{d}", "email.example.com"],
    ["%{d4}", "email.example.com"],
    ["%{d3}", "email.example.com"],
    ["%{d2}", "example.com"],
    ["%{d1}", "com"],
    ["%{dr}", "com.example.email"],
    ["%{d2r}", "example.email"],
    ["%{l}", "strong-bad"],
    ["%{l-}", "strong.bad"],
    ["%{lr}", "strong-bad"],
    ["%{lr-}", "bad.strong"],
    ["%{l1r-}", "strong"],
    ["%{ir}.%{v}._spf.%{d2}", "3.2.0.192.in-addr._spf.example.com"],
    ["%{lr-}.lp._spf.%{d2}", "bad.strong.lp._spf.example.com"],
    ["%{lr-}.lp.%{ir}.%{v}._spf.%{d2}", "bad.strong.lp.3.2.0.192.in-addr._spf.example.com"],
    ["%{ir}.%{v}.%{l1r-}.lp._spf.%{d2}", "3.2.0.192.in-addr.strong.lp._spf.example.com"],
    ["%{d2}.trusted-domains.example.net", "example.com.trusted-domains.example.net"],
  ])("%s is %s", async (macro, text) => {
    expect(await explained(macro)).toBe(text);
  });

  it("expand an IPv6 address in reverse", async () => {
    const name = `1.0.b.c${".0".repeat(20)}.8.b.d.0.1.0.0.2.ip6._spf.example.com`;
    expect(await asked("%{ir}.%{v}._spf.%{d2}", { ip: "2001:db8::cb01" })).toBe(name);
  });
});

describe("letters (section 7.2)", () => {
  it.each([
    ["%{h}", "mx.example.org"],
    ["%{c}", "192.0.2.3"],
    ["%{r}", "unknown"],
    ["%{p}", "unknown"],
    ["%{t}", "1795262400"],
    ["%{D2}", "example.com"],
    ["%{LR-}", "bad.strong"],
    ["a%%b%_c%-d", "a%b c%20d"],
    ["Spaces  are kept", "Spaces  are kept"],
  ])("%s is %s", async (macro, text) => {
    expect(await explained(macro)).toBe(text);
  });

  it("c and i have different values for IPv6", async () => {
    const nibbles = `1${".0".repeat(23)}.E.B.A.B.E.F.A.C`;
    expect(await explained("%{c} is queried as %{ir}.%{v}.arpa", { ip: "CAFE:BABE::1" })).toBe(
      `cafe:babe::1 is queried as ${nibbles}.ip6.arpa`,
    );
  });

  it("in upper case escape all characters except the unreserved ones (section 7.3)", async () => {
    const local = "~jack&jill=up-a_b3.c";
    expect(await explained("?l=%{L}", { mailFrom: `${local}@email.example.com` })).toBe("?l=~jack%26jill%3Dup-a_b3.c");
    expect(await explained("%{L} %{l}", { mailFrom: "ü\ud800@email.example.com" })).toMatch(/^%C3%BC%EF%BF%BD /);
  });

  it.each(["%{c}.example.com", "%{r}.example.com", "%{t}.example.com", "%{a}.example.com", "%(i).example.com"])(
    "%s is not allowed in a mechanism",
    async (name) => {
      expect((await trySpf({ "example.com": { TXT: [`v=spf1 exists:${name} -all`] } })).result).toBe("permerror");
    },
  );

  it.each(["foo%.example.com", "foo%", "%{", "%{}", "%{d", "%{d0}", "%{d00r}", "%{dx}", "%{d2!}", "%{d2rr}", "%{2d}"])(
    "%s is not a macro-string",
    (text) => {
      expect(parseMacros(text, "name")).toBeNull();
    },
  );

  it("have a count of any length", async () => {
    expect(await explained(`%{d${"9".repeat(200)}}`)).toBe("email.example.com");
    expect(await explained("%{d02}")).toBe("example.com");
  });
});

describe("transformers (section 7.3)", () => {
  it.each([
    ["%{l2r-}.user.%{d2}", "philip-gladstone-test@email.example.com", "gladstone.philip.user.example.com"],
    ["%{l2r+-}.user.%{d2}", "foo-bar+zip+quux@email.example.com", "bar.foo.user.example.com"],
    ["%{l+,/_=.-}.%{d2}", "a+b,c/d_e=f.g-h@email.example.com", "a.b.c.d.e.f.g.h.example.com"],
    ["%{l-.}.%{d2}", "a--b@email.example.com", undefined],
  ])("%s of %s looks up %s", async (macro, mailFrom, name) => {
    // The last name has an empty label, which no DNS query can hold.
    expect(await asked(macro, { mailFrom })).toBe(name);
  });

  it("remove whole labels from the left of a name longer than 253 characters", async () => {
    const local = Array.from({ length: 60 }, (_, index) => `l${index}x`).join(".");
    const name = (await asked("%{l}.%{d}", { mailFrom: `${local}@email.example.com` })) ?? "";
    expect(name.length).toBeLessThanOrEqual(253);
    expect(name.length).toBeGreaterThan(245);
    expect(`${local}.email.example.com`.endsWith(`.${name}`)).toBe(true);
  });

  it("look up names in lower case, as DNS names are case-insensitive (RFC 4343)", async () => {
    expect(await asked("%{l}.EXAMPLE.%{d}", { mailFrom: "User@EMAIL.Example.com" })).toBe(
      "user.example.email.example.com",
    );
  });

  it("remove a final dot and look up names that are not host names", async () => {
    expect(await asked("%{d}.spf.example.com.")).toBe("email.example.com.spf.example.com");
    expect(await asked("macro%%percent%_%_space%-url.example.com")).toBe("macro%percent  space%20url.example.com");
  });
});

describe("the validated name, p", () => {
  const zone: SpfZone = {
    "3.2.0.192.in-addr.arpa": { PTR: ["wrong.example.org", "host.example.net", "mx.email.example.com"] },
    "host.example.net": { A: ["192.0.2.3"] },
    "mx.email.example.com": { A: ["192.0.2.3"] },
    "wrong.example.org": { A: ["192.0.2.4"] },
  };

  it("is a name below the domain, otherwise any validated name", async () => {
    expect(await explained("connect from %{p}", {}, zone)).toBe("connect from mx.email.example.com");
    const rest = { ...zone, "mx.email.example.com": { A: ["192.0.2.9"] } };
    expect(await explained("%{p}", {}, rest)).toBe("host.example.net");
    const exact = { ...zone, "3.2.0.192.in-addr.arpa": { PTR: ["mx.email.example.com", "email.example.com"] } };
    const own = { TXT: ["v=spf1 -all exp=why.example.com"], A: ["192.0.2.3"] };
    expect(await explained("%{p}", {}, { ...exact, "email.example.com": own })).toBe("email.example.com");
  });

  it("is unknown if no name is validated or the lookup fails", async () => {
    expect(await explained("%{p}", {}, { ...zone, "3.2.0.192.in-addr.arpa": { PTR: "SERVFAIL" } })).toBe("unknown");
    expect(await explained("%{p}", { ip: "192.0.2.99" }, zone)).toBe("unknown");
  });
});

describe("hostile macros", () => {
  it("are expanded in time", async () => {
    const started = cpuTime();
    const bomb = `v=spf1 ${"exists:%{l99999r.-+,/_=}%{s}%{p}.%{d} ".repeat(2000)}-all`;
    const mailFrom = `${"a.-".repeat(5000)}@example.com`;
    expect((await trySpf({ "example.com": { TXT: [bomb] } }, { mailFrom })).result).toMatch(/permerror|fail/);
    expect(parseMacros("%{d".repeat(100_000), "name")).toBeNull();
    expect(parseMacros(`%{d${"-".repeat(200_000)}`, "name")).toBeNull();
    expect(cpuTime() - started).toBeLessThan(5000);
  });
});
