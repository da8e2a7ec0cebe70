import { describe, expect, it } from "vitest";
import { trySpf, zoneResolver, type SpfZone } from "#test/support/spf.ts";
import { evaluateSpf } from "#probe-agent/tools/email-header/spf.ts";

function policies(table: Readonly<Record<string, string>>, more: SpfZone = {}): SpfZone {
  return { ...Object.fromEntries(Object.entries(table).map(([name, text]) => [name, { TXT: [text] }])), ...more };
}

describe("redirect (section 6.1)", () => {
  it("returns the result of the other domain, which also becomes the implicit domain of its terms", async () => {
    const zone: SpfZone = {
      "example.com": { TXT: ["v=spf1 redirect=other.example.com"], A: ["192.0.2.9"] },
      "other.example.com": { TXT: ["v=spf1 a -all"], A: ["192.0.2.1"] },
    };
    expect(await trySpf(zone)).toMatchObject({ result: "pass", domain: "other.example.com", mechanism: "a" });
    expect(await trySpf(zone, { ip: "192.0.2.9" })).toMatchObject({ result: "fail" });
  });

  it.each([
    ["v=spf1 redirect=absent.example.com", "permerror"],
    ["v=spf1 redirect=broken.example.com", "temperror"],
    ["v=spf1 redirect=a...example.com", "permerror"],
    ["v=spf1 redirect=-all ?all", "permerror"],
    ["v=spf1 ?all redirect=", "permerror"],
    ["v=spf1 redirect=a.example.com redirect=a.example.com -all", "permerror"],
    ["v=spf1 ip4:192.0.2.1 redirect=absent.example.com", "pass"],
  ])("%s: %s", async (policy, result) => {
    const zone = policies({ "example.com": policy }, { "broken.example.com": { TXT: "SERVFAIL" } });
    expect((await trySpf(zone)).result).toBe(result);
  });
});

describe("exp (section 6.2)", () => {
  const why = async (policy: string, texts: readonly string[] | string = ["See why."], more: SpfZone = {}) =>
    trySpf({ "example.com": { TXT: [policy] }, "why.example.com": { TXT: texts }, ...more });

  it("explains only a fail", async () => {
    expect((await why("v=spf1 -all exp=why.example.com")).explanation).toBe("See why.");
    for (const all of ["~all", "?all", "+all"]) {
      expect(await why(`v=spf1 ${all} exp=why.example.com`)).not.toHaveProperty("explanation");
    }
  });

  it.each<[string, readonly string[] | string]>([
    ["several texts", ["one", "two"]],
    ["no text", []],
    ["a resolver that fails", "SERVFAIL"],
    ["a name that does not exist", "NXDOMAIN"],
    ["an unknown macro", ["The %{x}-files"]],
    ["a lone percent sign", ["100 %"]],
    ["octets beyond ASCII", ["\xef\xbb\xbfwhy"]],
    ["control characters", ["a\r\nb"]],
    ["a text of 100,000 characters", ["x".repeat(100_000)]],
  ])("is ignored with %s", async (_what, texts) => {
    const checked = await why("v=spf1 -all exp=why.example.com", texts);
    expect(checked.result).toBe("fail");
    expect(checked).not.toHaveProperty("explanation");
  });

  it.each(["exp= -all", "exp=-all", "-all exp=%{r}.example.com", "exp=why.example.com -all exp=why.example.com"])(
    "%s is a permerror",
    async (terms) => {
      expect((await why(`v=spf1 ${terms}`)).result).toBe("permerror");
    },
  );

  it("comes from the domain that decides, never from an included domain", async () => {
    const table = {
      "example.com": "v=spf1 include:inc.example.com -all exp=own.example.com",
      "inc.example.com": "v=spf1 -all exp=inc-why.example.com",
      "red.example.com": "v=spf1 redirect=inc.example.com exp=own.example.com",
      "bare.example.com": "v=spf1 redirect=plain.example.com exp=own.example.com",
      "plain.example.com": "v=spf1 -all",
      "own.example.com": "own %{d}",
      "inc-why.example.com": "theirs %{d} for %{o}",
    };
    const explanationFor = async (domain: string) =>
      (await trySpf(policies(table), { mailFrom: `user@${domain}` })).explanation;
    expect(await explanationFor("example.com")).toBe("own example.com");
    expect(await explanationFor("red.example.com")).toBe("theirs inc.example.com for red.example.com");
    expect(await explanationFor("bare.example.com")).toBeUndefined();
  });

  it("keeps the text's final dot and does not count against the limits", async () => {
    const zone = policies({ "example.com": "v=spf1 a:x.example.com a:y.example.com exp=gone.example.com -all" });
    expect(await trySpf(zone)).toMatchObject({ result: "fail", lookups: 2, void_lookups: 2 });
    expect((await why("v=spf1 -all exp=why.example.com.", ["The end."])).explanation).toBe("The end.");
  });

  it("is looked up only after a fail", async () => {
    const resolver = zoneResolver(policies({ "example.com": "v=spf1 +all exp=why.example.com" }));
    await evaluateSpf({ ip: "192.0.2.1", mailFrom: "u@example.com", helo: "h.example", resolver, now: new Date(0) });
    expect(resolver.asked).toEqual(["example.com TXT"]);
  });
});
