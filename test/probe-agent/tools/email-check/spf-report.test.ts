import { describe, expect, it } from "vitest";
import { reportSpf, type SpfReport } from "#probe-agent/tools/email-check/spf-report.ts";
import { walkSpf } from "#probe-agent/tools/email-check/spf-tree.ts";
import { cpuTime } from "#test/support/cpu-time.ts";
import { zoneResolver, type SpfZone } from "#test/support/spf.ts";
import { messagesOf } from "#test/support/findings.ts";

async function report(policy: string | readonly string[], zone: SpfZone = {}): Promise<SpfReport> {
  const TXT = typeof policy === "string" ? [policy] : policy;
  return reportSpf(await walkSpf("example.com", zoneResolver({ "example.com": { TXT, A: ["192.0.2.1"] }, ...zone })));
}

describe("a policy without a sender", () => {
  it("is a tree in the order of evaluation with the number of lookups of each term", async () => {
    const result = await report(
      "v=spf1 a include:_spf.example.net ip4:192.0.2.0/24 ip4:192.0.2.7 ip6:2001:db8::/32 ~all",
      {
        "_spf.example.net": { TXT: ["v=spf1 include:_deep.example.net ip4:198.51.100.0/25 -all"] },
        "_deep.example.net": { TXT: ["v=spf1 ip4:203.0.113.5 mx ?all"], MX: ["10 mail.example.net"] },
        "mail.example.net": { A: ["192.0.2.9"] },
      },
    );
    expect(result).toMatchObject({
      state: "present",
      valid: true,
      lookups: 4,
      void_lookups: 0,
      all_qualifier: "softfail",
      passes_all: false,
      includes: ["_spf.example.net", "_deep.example.net"],
      ip4_count: 256 + 128 + 1,
      errors: [],
      warnings: [],
      unknowns: [],
    });
    expect(result.mechanisms.map(({ depth, term, lookups }) => `${depth} ${term} ${lookups}`)).toEqual([
      "0 a 1",
      "0 include:_spf.example.net 3",
      "1 include:_deep.example.net 2",
      "2 ip4:203.0.113.5 0",
      "2 mx 1",
      "2 ?all 0",
      "1 ip4:198.51.100.0/25 0",
      "1 -all 0",
      "0 ip4:192.0.2.0/24 0",
      "0 ip4:192.0.2.7 0",
      "0 ip6:2001:db8::/32 0",
      "0 ~all 0",
    ]);
  });

  it.each<[string, string | readonly string[], string]>([
    ["several records", ["v=spf1 -all", "v=spf1 +all"], "has 2 SPF records"],
    ["a syntax error after all", "v=spf1 -all moo", "is not an SPF mechanism"],
    ["an include of nothing", "v=spf1 include:gone.example.com -all", "gone.example.com has no SPF record"],
    ["a redirect to nothing", "v=spf1 redirect=gone.example.com", "gone.example.com has no SPF record"],
    ["an include of itself", "v=spf1 include:example.com -all", "refers back to itself"],
    ["an include of itself by a macro", "v=spf1 include:%{d} -all", "refers back to itself"],
    ["a name with a label that is too long", `v=spf1 include:${"a".repeat(64)}.example.com -all`, "not valid in DNS"],
    ["a policy of eleven lookups", `v=spf1${" exists:example.com".repeat(11)} -all`, "11 terms need a DNS lookup"],
    [
      "a policy of three void lookups",
      "v=spf1 a:x.example.com mx:y.example.com exists:z.example.com -all",
      "3 DNS lookups return no records",
    ],
    ["an mx of eleven hosts", "v=spf1 mx:many.example.com -all", "has 11 MX records"],
  ])("%s is an error", async (_what, policy, error) => {
    const many = { MX: Array.from({ length: 11 }, (_, index) => `${index} example.com`) };
    const result = await report(policy, { "many.example.com": many });
    expect(result.valid).toBe(false);
    expect(messagesOf(result.errors)).toContain(error);
  });

  it.each([
    ["v=spf1 +all", "passes every sender on the internet"],
    ["v=spf1 ?all", "neither allowed nor forbidden"],
    ["v=spf1 ip4:192.0.2.1", "ends without all"],
    ["v=spf1 ptr -all", "uses ptr, which is slow"],
    ["v=spf1 -all redirect=gone.example.com", "receivers ignore redirect"],
    ["v=spf1 -all ip4:192.0.2.1", "never reached"],
    ["v=spf1 exists:%{ir}.example.com -all", "depends on the sender"],
    ["v=spf1 foo=bar -all", "ignore the unknown"],
    ["v=spf1 ip4:10.0.0.0/8 -all", "passes 16777216 addresses"],
    [`v=spf1 ${"ip4:192.0.2.1 ".repeat(40)}-all`, "octets"],
  ])("%s causes a warning: %s", async (policy, warning) => {
    const result = await report(policy);
    expect(result.errors).toEqual([]);
    expect(messagesOf(result.warnings)).toContain(warning);
  });

  it.each([
    ["v=spf1 ipv4:192.0.2.1 -all", '"ipv4:192.0.2.1" is not an SPF mechanism or modifier: write ip4: or ip6:'],
    ["v=spf1 192.0.2.0/24 -all", "write ip4: before the address"],
    ["v=spf1 2001:db8::/32 -all", "write ip6: before the address"],
    ["v=spf1 _spf.example.net -all", "write include: or a: before the name"],
    [
      "v=spf1 include: _spf.example.net -all",
      '"include:" needs a valid domain and no other argument: remove the space after',
    ],
    ["v=spf1 a\tmx -all", "not with tabs or line breaks"],
    ["v=spf1 mx, -all", "separate terms with spaces only"],
    ["v=spf1 -all;", "separate terms with spaces only"],
    ["v=spf1 mx \u00e2\u0080\u0093all", "such as a dash instead of a hyphen"],
  ])("%s: the error names the correction", async (policy, error) => {
    expect(messagesOf((await report(policy)).errors)).toContain(error);
  });

  it("lists all faults of a record, first the fault at which receivers stop", async () => {
    const { errors, valid } = await report("v=spf1 ip4:192.0.2.300 ip4:192.0.2.0/33 include: redirect= -all");
    expect(valid).toBe(false);
    expect(errors.map(({ message }) => message.split('"')[1])).toEqual([
      "ip4:192.0.2.300",
      "ip4:192.0.2.0/33",
      "include:",
      "redirect=",
    ]);
    expect(
      (await report(`v=spf1 ${Array.from({ length: 500 }, (_, index) => `moo${index}`).join(" ")} -all`)).errors,
    ).toHaveLength(20);
  });

  it("warns about a mechanism written as a modifier, which receivers ignore", async () => {
    const { warnings, errors } = await report("v=spf1 include=_spf.example.net -all");
    expect(errors).toEqual([]);
    expect(messagesOf(warnings)).toContain("write a colon instead of =");
  });

  it.each([
    "v=spf1include:_spf.example.net -all",
    " v=spf1 -all",
    '"v=spf1 -all"',
    "v=spf1;a;-all",
    "spf1 a -all",
    "v = spf1 -all",
    "spf2.0/pra -all",
  ])("%j is not a record, and a warning says so", async (text) => {
    const result = await report(["site=1", text]);
    expect(result).toMatchObject({ state: "absent", record: null, valid: false, errors: [] });
    expect(result.warnings[0]?.message).toContain("does not begin with v=spf1 and a space");
    const included = await report("v=spf1 include:near.example.net -all", { "near.example.net": { TXT: [text] } });
    expect(included.errors[0]?.message).toContain("does not begin with v=spf1 and a space");
  });

  it("names the terms whose lookups return no records", async () => {
    const two = await report("v=spf1 a:x.example.com mx -all");
    expect(two).toMatchObject({ void_lookups: 2, errors: [] });
    expect(messagesOf(two.warnings)).toBe(
      'The DNS lookup of the term "a:x.example.com" of example.com returns no records for an IPv4 sender.\n' +
        'The DNS lookup of the term "mx" of example.com returns no records for an IPv4 sender.',
    );
    const three = await report("v=spf1 a:x.example.com mx exists:z.example.com -all");
    expect(three.errors[0]?.message).toContain('"a:x.example.com" of example.com, "mx" of example.com');
  });

  it.each([
    ["v=spf1 ip4:0.0.0.0/0 -all", true],
    ["v=spf1 ip6:::/0 -all", true],
    ["v=spf1 ip4:0.0.0.0/1 ip4:128.0.0.0/1 -all", true],
    ["v=spf1 include:wide.example.net -all", true],
    ["v=spf1 ?include:wide.example.net -all", false],
    ["v=spf1 -ip4:0.0.0.0/0 +all", false],
    ["v=spf1 ip4:0.0.0.0/1 -all", false],
  ])("%s passes every sender: %s", async (policy, everybody) => {
    const wide = { TXT: ["v=spf1 ip4:0.0.0.0/1 ip4:128.0.0.0/1 -all"] };
    const { passes_all: passes, warnings } = await report(policy, { "wide.example.net": wide });
    expect(passes).toBe(everybody);
    expect(warnings.some(({ id }) => id === "spf-passes-everyone")).toBe(everybody);
  });

  it("evaluates the +all of an include and the all of a redirect", async () => {
    const zone = { "open.example.net": { TXT: ["v=spf1 +all"] }, "red.example.net": { TXT: ["v=spf1 -all"] } };
    expect(await report("v=spf1 include:open.example.net -all", zone)).toMatchObject({
      passes_all: true,
      all_qualifier: "fail",
    });
    expect(await report("v=spf1 -include:open.example.net +all", zone)).toMatchObject({ passes_all: false });
    expect(await report("v=spf1 redirect=red.example.net", zone)).toMatchObject({ all_qualifier: "fail", lookups: 1 });
    expect((await report("v=spf1 redirect=red.example.net", zone)).warnings).toEqual([]);
  });

  it("counts the addresses of overlapping blocks once", async () => {
    expect((await report("v=spf1 ip4:0.0.0.0/0 ip4:192.0.2.1 -all")).ip4_count).toBe(2 ** 32);
    expect(
      (await report("v=spf1 ip4:192.0.2.1/24 ip4:192.0.2.0/25 ip4:192.0.3.0/24 -ip4:10.0.0.1 -all")).ip4_count,
    ).toBe(512);
    expect((await report("v=spf1 -all")).ip4_count).toBe(0);
  });

  it("distinguishes an absent policy from a failed lookup", async () => {
    expect(await report([])).toMatchObject({ state: "absent", valid: false, lookups: null, record: null, errors: [] });
    const silent = reportSpf(await walkSpf("example.com", zoneResolver({ "example.com": { TXT: "TIMEOUT" } })));
    expect(silent).toMatchObject({ state: "unknown", valid: null, lookups: null, errors: [] });
    expect(silent.unknowns).toHaveLength(1);
    const partly = await report("v=spf1 include:broken.example.com -all", {
      "broken.example.com": { TXT: "SERVFAIL" },
    });
    expect(partly).toMatchObject({ state: "present", valid: null, lookups: null, all_qualifier: "fail" });
  });

  it("stops after forty records and limits the size of the result", async () => {
    const zone: Record<string, { TXT: string[] }> = {};
    const name = (path: string) => `n${path}.example.com`;
    const grow = (path: string): void => {
      zone[name(path)] = { TXT: [`v=spf1 include:${name(`${path}0`)} include:${name(`${path}1`)} -all`] };
      if (path.length < 8) ["0", "1"].forEach((bit) => grow(path + bit));
    };
    grow("");
    const resolver = zoneResolver({ ...zone, "example.com": { TXT: [`v=spf1 include:${name("")} -all`] } });
    const result = reportSpf(await walkSpf("example.com", resolver));
    expect(result.valid).toBe(false);
    expect(resolver.asked.length).toBeLessThanOrEqual(40);
    const started = cpuTime();
    const huge = await report(`v=spf1 ${"a:%{d} ip4:192.0.2.1 exists:%{i}.%{d} ".repeat(20_000)}-all`);
    expect(huge).toMatchObject({ valid: false, all_qualifier: "fail" });
    expect(huge.mechanisms).toHaveLength(150);
    expect(JSON.stringify(huge).length).toBeLessThan(100_000);
    expect(cpuTime() - started).toBeLessThan(10_000);
  });
});
