import { describe, expect, it } from "vitest";
import { cpuTime } from "#test/support/cpu-time.ts";
import { trySpf, zoneResolver, type SpfZone } from "#test/support/spf.ts";
import { evaluateSpf } from "#probe-agent/tools/email-header/spf.ts";

const HOST = { A: ["192.0.2.50"] };

function policy(text: string, more: SpfZone = {}): SpfZone {
  return { "example.com": { TXT: [text], ...HOST, MX: ["10 example.com"] }, ...more };
}

describe("terms with a DNS lookup (RFC 7208 section 4.6.4)", () => {
  it("are limited to ten", async () => {
    const ten = "v=spf1 a mx a mx a mx a mx a ptr ip4:192.0.2.1 -all";
    expect(await trySpf(policy(ten))).toMatchObject({ result: "pass", lookups: 10, void_lookups: 1 });
    const eleven = "v=spf1 a mx a mx a mx a mx a ptr a ip4:192.0.2.1 -all";
    expect(await trySpf(policy(eleven))).toMatchObject({ result: "permerror" });
  });

  it("count across includes and redirects", async () => {
    const inc = { "inc.example.com": { TXT: [`v=spf1${" a".repeat(8)}`], ...HOST } };
    const fits = "v=spf1 a include:inc.example.com ip4:192.0.2.1 mx -all";
    expect(await trySpf(policy(fits, inc))).toMatchObject({ result: "pass", lookups: 10 });
    const over = "v=spf1 a include:inc.example.com a ip4:192.0.2.1 -all";
    expect(await trySpf(policy(over, inc))).toMatchObject({ result: "permerror" });
    const onward = { "red.example.com": { TXT: [`v=spf1${" a".repeat(9)} -all`], ...HOST } };
    expect(await trySpf(policy("v=spf1 redirect=red.example.com", onward))).toMatchObject({
      result: "fail",
      lookups: 10,
    });
  });

  it("do not count if the evaluation ends before them", async () => {
    const zone = policy(`v=spf1 ip4:192.0.2.1${" a".repeat(30)}`);
    expect(await trySpf(zone)).toMatchObject({ result: "pass", lookups: 0 });
  });

  it("end loops by their limit", async () => {
    expect((await trySpf(policy("v=spf1 redirect=example.com"))).result).toBe("permerror");
    const pair = policy("v=spf1 include:b.example.com", {
      "b.example.com": { TXT: ["v=spf1 include:example.com"] },
    });
    expect((await trySpf(pair)).result).toBe("permerror");
  });
});

describe("names of one mechanism", () => {
  const exchanges = (count: number): SpfZone =>
    policy("v=spf1 mx:many.example.com -all", {
      "many.example.com": { MX: Array.from({ length: count }, (_, index) => `${index} example.com`) },
    });

  it("of mx are limited to ten; more are a permerror", async () => {
    expect(await trySpf(exchanges(10))).toMatchObject({ result: "fail" });
    expect(await trySpf(exchanges(11))).toMatchObject({ result: "permerror" });
    expect(await trySpf(exchanges(11), { ip: "192.0.2.50" })).toMatchObject({ result: "permerror" });
  });

  it("of ptr after the tenth are ignored", async () => {
    const names = (place: number) =>
      Array.from({ length: 12 }, (_, index) => (index === place ? "ok.example.com" : `n${index}.example.net`));
    const zone = (place: number): SpfZone =>
      policy("v=spf1 ptr -all", {
        "1.2.0.192.in-addr.arpa": { PTR: names(place) },
        "ok.example.com": { A: ["192.0.2.1"] },
      });
    expect((await trySpf(zone(9))).result).toBe("pass");
    // The other names do not exist. The client's operator chose them, so they are not void lookups of the domain.
    expect(await trySpf(zone(10))).toMatchObject({ result: "fail", void_lookups: 0 });
  });

  it("of a have no limit", async () => {
    const A = Array.from({ length: 300 }, (_, index) => `198.51.100.${index % 256}`);
    const zone = { "example.com": { TXT: ["v=spf1 a -all"], A: [...A, "192.0.2.1"] } };
    expect((await trySpf(zone)).result).toBe("pass");
  });
});

describe("lookups that return no records", () => {
  it.each([
    ["a:x.example.com a:y.example.com ?all", "neutral", 2],
    ["a:x.example.com a:y.example.com a:z.example.com ?all", "permerror", 3],
    ["exists:x.example.com mx:y.example.com a:empty.example.com ?all", "permerror", 3],
    ["mx:dangling.example.com ?all", "neutral", 2],
    ["include:voids.example.com a:z.example.com ?all", "permerror", 3],
  ])("%s: %s", async (terms, result, voids) => {
    const zone = policy(`v=spf1 ${terms}`, {
      "empty.example.com": {},
      "dangling.example.com": { MX: ["1 x.example.com", "2 y.example.com"] },
      "voids.example.com": { TXT: ["v=spf1 a:x.example.com a:y.example.com"] },
    });
    expect(await trySpf(zone)).toMatchObject({ result, void_lookups: voids });
  });
});

describe("hostile records", () => {
  it("with a tree of 2^14 includes cause no more lookups than the limit", async () => {
    const zone: Record<string, { TXT: string[] }> = {};
    for (let level = 0; level < 14; level += 1) {
      zone[`l${level}.example.com`] = {
        TXT: [`v=spf1 include:l${level + 1}.example.com include:l${level + 1}.example.com`],
      };
    }
    const resolver = zoneResolver({ ...zone, "example.com": { TXT: ["v=spf1 include:l0.example.com -all"] } });
    const request = { ip: "192.0.2.1", mailFrom: "u@example.com", helo: "h.example", resolver, now: new Date(0) };
    expect(await evaluateSpf(request)).toMatchObject({ result: "permerror" });
    expect(resolver.asked.length).toBeLessThanOrEqual(12);
  });

  it("of one megabyte, or beside sixty other texts, are read in time", async () => {
    const started = cpuTime();
    const huge = `v=spf1 ${"ip4:198.51.100.7/32 ".repeat(50_000)}-all`;
    expect((await trySpf({ "example.com": { TXT: [huge] } })).result).toBe("fail");
    const others = Array.from({ length: 60 }, (_, index) => `token-${index}=${"x".repeat(200)}`);
    expect((await trySpf({ "example.com": { TXT: [...others, "v=spf1 -all"] } })).result).toBe("fail");
    for (const nasty of [".".repeat(1e6), `a${"/".repeat(1e6)}`, `a:${"a-".repeat(5e5)}`, "=".repeat(1e6)]) {
      expect((await trySpf({ "example.com": { TXT: [`v=spf1 ${nasty}`] } })).result).toBe("permerror");
    }
    expect(cpuTime() - started).toBeLessThan(10_000);
  });

  it("with a loop of aliases are a temperror", async () => {
    const zone = policy("v=spf1 a:one.example.com -all", {
      "one.example.com": { CNAME: ["two.example.com"] },
      "two.example.com": { CNAME: ["one.example.com"] },
    });
    expect((await trySpf(zone)).result).toBe("temperror");
  });
});
