import { readFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createEgress, NO_ALLOW_LISTS } from "#shared/egress.ts";
import { whois } from "#probe-agent/tools/whois.ts";
import { startWhoisServer, type WhoisBehaviour, type WhoisServer } from "#test/servers/whois.ts";
import { rdapDomain, rdapRegistrant, startRegistries, type Registries } from "#test/support/registries.ts";
import { resultOf, runTool, type ToolSetting } from "#test/support/tool.ts";

let registries: Registries;
let first: WhoisServer;
let second: WhoisServer;
let third: WhoisServer;
let say: (query: string) => WhoisBehaviour | undefined = () => undefined;
let saySecond = say;
let sayThird = say;

beforeAll(async () => {
  registries = await startRegistries();
  first = await startWhoisServer((query) => say(query));
  second = await startWhoisServer((query) => saySecond(query));
  third = await startWhoisServer((query) => sayThird(query));
});

afterAll(() => Promise.all([registries.close(), first.close(), second.close(), third.close()]));

afterEach(() => {
  registries.answer(() => null);
  say = saySecond = sayThird = () => undefined;
});

function setting(given: ToolSetting = {}): ToolSetting {
  const services = { rdapBootstrapUrl: registries.bootstrapUrl, whoisServer: { host: "127.0.0.1", port: first.port } };
  return { now: () => new Date("2024-11-21T10:00:00Z"), ...given, services: { ...services, ...given.services } };
}

function look(host: string, given: ToolSetting = {}) {
  return resultOf(whois, { host }, setting(given));
}

function run(host: string, given: ToolSetting = {}) {
  return runTool(whois, { host }, setting(given));
}

function fixture(name: string): string {
  return readFileSync(new URL(`../../fixtures/whois/${name}.txt`, import.meta.url), "utf8");
}

describe("a domain whose registry speaks RDAP", () => {
  it("is told in full", async () => {
    registries.answer((path) => (path === "domain/example.com" ? rdapDomain() : null));
    const { raw, elapsed_ms: elapsed, ...result } = await look("example.com");
    expect(result).toEqual({
      host: "example.com",
      kind: "domain",
      domain: "example.com",
      unicode: null,
      public_suffix: "com",
      private_suffix: null,
      registered: true,
      rdap_server: `${registries.server.url}/registry/`,
      whois_server: null,
      registrar: {
        name: "Example Registrar, Inc.",
        iana_id: "9999",
        abuse_email: "abuse@registrar.example",
        phone: "+1.5555551234",
        url: "https://registrar.example",
      },
      created: "1995-08-14T04:00:00.000Z",
      updated: "2024-08-14T07:01:34.000Z",
      expires: "2025-08-13T04:00:00.000Z",
      days_left: 264,
      status: ["client delete prohibited", "client transfer prohibited"],
      nameservers: ["a.ns.example.net", "b.ns.example.net"],
      dnssec: {
        signed: true,
        ds: [{ key_tag: 31_589, algorithm: 8, digest_type: 2, digest: "CDE0D742D6998AA554A92D890F8184C698CFAC8A" }],
      },
      registrant: null,
      registry_domain_id: "2336799_DOMAIN_COM-VRSN",
      privacy: null,
      redacted_fields: [],
      network: null,
      autnum: null,
      raw_truncated: false,
      servers: [{ server: `${registries.server.url}/registry/domain/example.com`, protocol: "rdap", outcome: "found" }],
      source: "rdap",
      observed_at: "2024-11-21T10:00:00.000Z",
      limitations: [],
    });
    expect(JSON.parse(raw ?? "")).toEqual(rdapDomain());
    expect(elapsed).toBeGreaterThanOrEqual(0);
    expect(first.queries()).toEqual([]);
  });

  it("is asked about at its registrable domain, whatever lies below", async () => {
    registries.answer((path) => rdapDomain({ ldhName: path.replace("domain/", "") }));
    const of = async (host: string) => {
      const { domain, public_suffix: suffix, private_suffix: own } = await look(host);
      return [domain, suffix, own];
    };
    expect(await of("a.b.example.com")).toEqual(["example.com", "com", null]);
    expect(await of("*.example.com")).toEqual(["example.com", "com", null]);
    expect(await of("www.example.co.uk")).toEqual(["example.co.uk", "co.uk", null]);
    expect(await of("co.uk")).toEqual(["co.uk", null, null]);
    // blogspot-like suffixes: the owner's own registration is what registries know.
    expect(await of("someone.dyndns.org")).toEqual(["dyndns.org", "org", "dyndns.org"]);
    expect((await look("someone.dyndns.org")).limitations.join(" ")).toContain("hands out names below it");
  });

  it("may be international, in either form", async () => {
    registries.answer((path) => rdapDomain({ ldhName: path.replace("domain/", ""), unicodeName: "пример.рф" }));
    const expected = { domain: "xn--e1afmkfd.xn--p1ai", unicode: "пример.рф", registered: true };
    expect(await look("www.пример.рф")).toMatchObject(expected);
    expect(await look("XN--E1AFMKFD.xn--p1ai")).toMatchObject(expected);
  });

  it("is free where the registry has none, without a WHOIS server being asked", async () => {
    const asked = first.queries().length;
    const result = await look("example-absent.com");
    expect(result).toMatchObject({
      registered: false,
      source: "rdap",
      registrar: null,
      nameservers: [],
      days_left: null,
    });
    expect(result.limitations.join(" ")).toContain("registries reserve names");
    expect(first.queries().length).toBe(asked);
  });

  it.each([
    ["2024-11-21T10:00:00Z", 0],
    ["2024-11-22T09:59:59Z", 0],
    ["2024-11-22T10:00:00Z", 1],
    ["2024-11-21T09:59:59Z", -1],
    ["2024-11-19T12:00:00Z", -2],
  ])("that ends at %s has %d days left", async (eventDate, days) => {
    registries.answer(() => rdapDomain({ events: [{ eventAction: "expiration", eventDate }] }));
    expect((await look("example.com")).days_left).toBe(days);
  });

  it("has its holder from the registrar's own service where the registry is thin", async () => {
    const href = `${registries.server.url}/registrar/domain/EXAMPLE.COM`;
    const links = [
      { rel: "self", href: "https://x.example/", type: "application/rdap+json" },
      { rel: "related", href, type: "application/rdap+json" },
    ];
    const redacted = [
      { name: { description: "Registrant Name" }, method: "removal", reason: { description: "Server policy" } },
      { name: { type: "Registrant Email" }, method: "removal" },
    ];
    registries.answer((path) =>
      path.startsWith("registrar/")
        ? rdapDomain({ entities: [rdapRegistrant("Example Inc.")], redacted, events: [] })
        : rdapDomain({ links }),
    );
    const result = await look("example.com");
    expect(result).toMatchObject({
      registrant: { org: "Example Inc.", country: "CA", redacted: true },
      privacy: true,
      redacted_fields: ["Registrant Name", "Registrant Email"],
      registrar: { name: "Example Registrar, Inc." },
      expires: "2025-08-13T04:00:00.000Z",
      limitations: [],
    });
    expect(result.servers.map(({ server }) => server)).toEqual([
      `${registries.server.url}/registry/domain/example.com`,
      href,
    ]);

    registries.answer((path) => (path.startsWith("registrar/") ? null : rdapDomain({ links })));
    const alone = await look("example.com");
    expect(alone).toMatchObject({ registered: true, registrant: null, registrar: { iana_id: "9999" } });
    expect(alone.limitations.join(" ")).toContain("registrar's own service");
  });

  it("is not led inside by a registrar's link", async () => {
    const egress = createEgress({ targets: ["127.0.0.1/32"], names: [] });
    const links = [{ rel: "related", href: "http://127.0.0.2:1/domain/x", type: "application/rdap+json" }];
    registries.answer(() => rdapDomain({ links }));
    expect((await look("example.com", { egress })).servers.at(-1)?.outcome).toBe("target not allowed");
  });

  it("names a privacy service as what it is", async () => {
    registries.answer(() => rdapDomain({ entities: [rdapRegistrant("Domains By Proxy, LLC", "US")] }));
    expect(await look("example.com")).toMatchObject({ privacy: true, registrant: { redacted: false } });
    registries.answer(() => rdapDomain({ entities: [rdapRegistrant("Example Inc.")] }));
    expect(await look("example.com")).toMatchObject({ privacy: false, registrant: { org: "Example Inc." } });
    registries.answer(() => rdapDomain({ entities: [rdapRegistrant("REDACTED FOR PRIVACY")] }));
    expect(await look("example.com")).toMatchObject({ privacy: true, registrant: { org: null, redacted: true } });
  });
});

describe("a registry whose RDAP is of no use", () => {
  it.each<[string, number | string]>([
    ["a rate limit", 429],
    ["an error of its own", 500],
    ["no JSON", "<html>"],
    ["another domain", JSON.stringify(rdapDomain({ ldhName: "example.net" }))],
    ["another object", '{"objectClassName":"entity"}'],
    ["10 MB", `{"objectClassName":"domain","x":"${"x".repeat(10_000_000)}"}`],
    [
      "a document nested without end",
      `{"objectClassName":"ip network","x":${"[".repeat(100_000)}${"]".repeat(100_000)}}`,
    ],
  ])("is followed by WHOIS: %s", async (_, behaviour) => {
    registries.answer((_path, response) => {
      if (typeof behaviour === "number") response.writeHead(behaviour).end();
      else response.end(behaviour);
    });
    say = () => fixture("verisign");
    const result = await look("example.com");
    expect(result).toMatchObject({ registered: true, source: "whois", whois_server: first.address });
    expect(result.limitations[0]).toMatch(/^RDAP gave no answer/);
  });

  it("still tells of a domain whose document is deep where nobody looks", async () => {
    const text = JSON.stringify(rdapDomain()).replace(/\}$/, `,"x":${"[".repeat(100_000)}${"]".repeat(100_000)}}`);
    registries.answer((_path, response) => void response.end(text));
    expect(await look("example.com")).toMatchObject({ registered: true, source: "rdap" });
  });
});

describe("a domain that only WHOIS tells of", () => {
  it("is looked up where IANA refers to, and thin registries refer on to the registrar", async () => {
    say = () => `refer:        ${second.address}\n\ndomain:       TEST\nstatus:       ACTIVE\n`;
    saySecond = () =>
      fixture("verisign").replace("whois.registrar.example", third.address).replaceAll("EXAMPLE.COM", "EXAMPLE.TEST");
    sayThird = () => fixture("registrar").replaceAll("example.com", "example.test");
    const result = await look("www.example.test");
    expect(result).toMatchObject({
      domain: "example.test",
      registered: true,
      whois_server: second.address,
      registrar: { name: "Example Registrar, Inc.", iana_id: "9999", abuse_email: "abuse@registrar.example" },
      registrant: { org: "Example Organisation", country: "US", redacted: true },
      privacy: true,
      expires: "2025-08-13T04:00:00.000Z",
      days_left: 264,
      dnssec: { signed: true },
      source: "whois",
    });
    expect(result.servers).toEqual([
      { server: first.address, protocol: "whois", outcome: "refers on" },
      { server: second.address, protocol: "whois", outcome: "found" },
      { server: third.address, protocol: "whois", outcome: "found" },
    ]);
    expect([first, second, third].map((server) => server.queries().at(-1))).toEqual(Array(3).fill("example.test"));
    expect(result.raw).toContain("Registrant Organization: Example Organisation");
  });

  it("is free by the registry's word, which no registrar is asked about", async () => {
    say = () => fixture("sidn-absent");
    expect(await look("example-absent.nl")).toMatchObject({ registered: false, source: "whois", registrar: null });
  });

  it("is neither free nor taken where the registry keeps the name", async () => {
    say = () => fixture("reserved");
    const result = await look("example.test");
    expect(result).toMatchObject({ registered: null, source: "whois" });
    expect(result.limitations.join(" ")).toContain("keeps the name back");
  });

  it("says when a date is only a bound", async () => {
    say = () => fixture("nominet").replaceAll("example.co.uk", "example.test");
    const result = await look("example.test");
    expect(result.created).toBe("1996-08-01T00:00:00.000Z");
    expect(result.limitations.join(" ")).toContain("before the date given");
  });

  it("is read in Latin-1 where it is not UTF-8", async () => {
    say = () => Buffer.from("domain: example.test\nowner: Exämple Ltda\ncreated: 19990203\n", "latin1");
    expect((await look("example.test")).registrant?.org).toBe("Exämple Ltda");
  });

  it("that is a top-level domain is IANA's to tell", async () => {
    say = () => fixture("iana-refer").replace("whois.verisign-grs.com", second.address);
    const result = await look("com");
    expect(result).toMatchObject({ domain: "com", public_suffix: null, registered: true, whois_server: first.address });
    expect(result.nameservers).toEqual(["a.gtld-servers.net", "b.gtld-servers.net"]);
    expect(result.servers.filter(({ protocol }) => protocol === "whois")).toHaveLength(1);
  });
});

describe("referrals", () => {
  const refer = (server: WhoisServer) => () => `refer: ${server.address}\n`;

  it("in a circle end, and the check with them", async () => {
    say = refer(second);
    saySecond = refer(first);
    const { outcome } = await run("example.test");
    expect(outcome).toMatchObject({ status: "failed", reason: "no_registration_data" });
    expect(JSON.stringify(outcome)).toContain("lead back");
  });

  it("are followed three times at most", async () => {
    const chain: WhoisServer[] = [];
    try {
      for (let n = 0; n < 5; n += 1) {
        const next = chain.at(-1);
        chain.push(await startWhoisServer(() => (next === undefined ? "x" : `refer: ${next.address}\n`)));
      }
      say = refer(chain.at(-1) ?? first);
      const { outcome } = await run("example.test");
      expect(JSON.stringify(outcome)).toContain("more than 3 referrals");
      expect(chain.map((server) => server.queries().length)).toEqual([0, 0, 1, 1, 1]);
    } finally {
      await Promise.all(chain.map((server) => server.close()));
    }
  });

  it("to the inside are not followed, whoever the operator's own server is", async () => {
    const egress = createEgress(NO_ALLOW_LISTS);
    const asked = second.queries().length;
    say = refer(second);
    const { outcome } = await run("example.test", { egress });
    expect(outcome).toMatchObject({ status: "failed" });
    expect(JSON.stringify(outcome)).toContain("not allowed");
    for (const inside of ["10.0.0.1", "localhost", "[::1]:4343", "169.254.169.254"]) {
      say = () => `refer: ${inside}\n`;
      expect((await run("example.test", { egress })).outcome.status).toBe("failed");
    }
    expect(second.queries().length).toBe(asked);
  });

  it("to other services than WHOIS are not followed", async () => {
    for (const odd of ["127.0.0.1:25", "http://127.0.0.1/", "127.0.0.1:6667", "a b", "x".repeat(5000)]) {
      say = () => `refer: ${odd}\n`;
      expect(JSON.stringify((await run("example.test")).outcome)).toContain("no usable WHOIS server");
    }
  });

  it("that fail leave what the registry said", async () => {
    say = () => fixture("verisign").replace("whois.registrar.example", "127.0.0.1:9999");
    const result = await look("example.com", { services: { rdapBootstrapUrl: "http://127.0.0.1:9" } });
    expect(result).toMatchObject({ registered: true, registrar: { iana_id: "9999" }, registrant: null });
    expect(result.limitations.join(" ")).toContain("127.0.0.1:9999 gave no answer");
  });
});

describe("nothing to tell", () => {
  it.each<[string, WhoisBehaviour, string]>([
    ["a rate limit", "WHOIS LIMIT EXCEEDED\n", "rate_limited"],
    ["legal text alone", "% All rights reserved.\n", "no_registration_data"],
    ["garbage", Uint8Array.from({ length: 3000 }, (_, n) => (n * 7919) % 256), "no_registration_data"],
    ["text without end", { endless: "blah blah\n".repeat(1000) }, "no_registration_data"],
    ["a reset", { reset: "" }, "reset"],
    ["nothing at all", { nothing: "closed" }, "empty"],
  ])("is a failed check: %s", async (_, behaviour, reason) => {
    say = () => behaviour;
    expect((await run("example.test")).outcome).toMatchObject({ status: "failed", source: "target", reason });
  });

  it("is a failed check in time where every server is silent", async () => {
    say = () => ({ nothing: "open" });
    registries.answer(() => undefined);
    const startedAt = performance.now();
    const { outcome } = await run("example.com", { timeoutMs: 2500 });
    expect(outcome).toMatchObject({ status: "failed" });
    expect(performance.now() - startedAt).toBeLessThan(3500);
  });

  it("is what a slow server leaves, if it has said enough", async () => {
    say = () => ({ slow: `Domain Name: EXAMPLE.TEST\nRegistrar: Slow Inc.\n${" ".repeat(5000)}`, everyMs: 1 });
    const result = await look("example.test", { timeoutMs: 2500 });
    expect(result.registered).toBe(true);
    expect(result.limitations.join(" ")).toContain("broke off");
  });

  it.each([
    "",
    ".",
    "exa mple.com",
    "example.com\r\nQUIT",
    "http://example.com",
    "99999999999",
    "as4294967296",
    "a..b",
  ])("is an invalid parameter: %j", async (host) => {
    const asked = first.received.length;
    const done = host === "" ? null : await run(host);
    if (done !== null) expect(done.outcome).toMatchObject({ status: "invalid", field: "host" });
    expect(first.received.length).toBe(asked);
  });
});

describe("an address or AS number", () => {
  const network = {
    objectClassName: "ip network",
    handle: "NET-8-8-8-0-1",
    startAddress: "8.8.8.0",
    endAddress: "8.8.8.255",
    name: "EXAMPLE",
    country: "US",
  };

  it("is told from RDAP", async () => {
    registries.answer((path) =>
      path.startsWith("ip/")
        ? network
        : { objectClassName: "autnum", handle: "AS15169", startAutnum: 15_169, endAutnum: 15_169, name: "EXAMPLE" },
    );
    expect(await look("8.8.8.8")).toMatchObject({
      kind: "ip",
      domain: null,
      registered: true,
      network: { name: "EXAMPLE", cidrs: ["8.8.8.0/24"], country: "US" },
      autnum: null,
      source: "rdap",
    });
    expect(await look("AS15169")).toMatchObject({
      kind: "autnum",
      network: null,
      autnum: { name: "EXAMPLE", start_asn: 15_169, end_asn: 15_169 },
    });
    expect((await look("15169")).autnum?.handle).toBe("AS15169");
    registries.answer(() => null);
    expect(await look("AS15169")).toMatchObject({ registered: false, autnum: null });
  });

  it("is told from WHOIS where RDAP is silent, through the registries' referrals", async () => {
    registries.answer((_path, response) => void response.writeHead(503).end());
    say = () => `refer: ${second.address}\n\ninetnum: 8.0.0.0 - 8.255.255.255\nstatus: LEGACY\n`;
    saySecond = () =>
      "NetRange: 8.0.0.0 - 8.127.255.255\nCIDR: 8.0.0.0/9\nNetName: PARENT\nNetHandle: NET-8-0-0-0-1\n\n" +
      "NetRange: 8.8.8.0 - 8.8.8.255\nCIDR: 8.8.8.0/24\nNetName: EXAMPLE\nNetHandle: NET-8-8-8-0-1\n" +
      "OrgName: Example LLC\nCountry: US\nRegDate: 2023-12-28\nUpdated: 2023-12-28\nOrgAbuseEmail: abuse@example.net\n";
    expect(await look("8.8.8.8")).toMatchObject({
      registered: true,
      source: "whois",
      whois_server: second.address,
      network: {
        name: "EXAMPLE",
        handle: "NET-8-8-8-0-1",
        start_address: "8.8.8.0",
        cidrs: ["8.8.8.0/24"],
        country: "US",
        registered_at: "2023-12-28T00:00:00.000Z",
        abuse_email: "abuse@example.net",
      },
    });
    say = () =>
      "% Abuse contact for 'AS64496' is 'abuse@example.net'\n\naut-num: AS64496\nas-name: EXAMPLE-AS\norg: ORG-EX1\nstatus: ASSIGNED\n" +
      "created: 2002-09-10T12:00:00Z\nlast-modified: 2024-01-01T00:00:00Z\nsource: RIPE\n\norganisation: ORG-EX1\norg-name: Example BV\ncountry: NL\n";
    expect(await look("AS64496")).toMatchObject({
      registered: true,
      autnum: {
        name: "EXAMPLE-AS",
        organization: "Example BV",
        abuse_email: "abuse@example.net",
        status: ["ASSIGNED"],
      },
    });
  });

  it("of which WHOIS has none is not registered", async () => {
    registries.answer((_path, response) => void response.writeHead(503).end());
    say = () => "%ERROR:101: no entries found\n";
    expect(await look("2001:db8::1")).toMatchObject({ registered: false, network: null });
  });
});
