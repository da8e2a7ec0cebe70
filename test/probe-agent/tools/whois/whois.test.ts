import { afterAll, afterEach, describe, expect, it } from "vitest";
import { createEgress } from "#shared/internet/egress.ts";
import { daysLeft } from "#probe-agent/tools/whois/registration.ts";
import { rdapDomain, rdapRegistrant } from "#test/support/registries.ts";
import { startWhoisBench, whoisFixture } from "#test/support/whois.ts";

const bench = await startWhoisBench();

afterAll(() => bench.close());

afterEach(() => bench.reset());

describe("a domain whose registry speaks RDAP", () => {
  it("is reported in full", async () => {
    bench.registries.answer((path) => (path === "domain/example.com" ? rdapDomain() : null));
    const { raw, elapsed_ms: elapsed, ...result } = await bench.getResult("example.com");
    expect(result).toEqual({
      host: "example.com",
      findings: [],
      kind: "domain",
      domain: "example.com",
      unicode: null,
      public_suffix: "com",
      private_suffix: null,
      registered: true,
      state: "registered",
      rdap_server: `${bench.registries.server.url}/registry/`,
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
      servers: [
        { server: `${bench.registries.server.url}/registry/domain/example.com`, protocol: "rdap", outcome: "found" },
      ],
      source: "rdap",
      observed_at: "2024-11-21T10:00:00.000Z",
      limitations: [],
    });
    expect(JSON.parse(raw ?? "")).toEqual(rdapDomain());
    expect(elapsed).toBeGreaterThanOrEqual(0);
    expect(bench.first.queries()).toEqual([]);
  });

  it("is looked up at its registrable domain, whatever name below it is requested", async () => {
    bench.registries.answer((path) => rdapDomain({ ldhName: path.replace("domain/", "") }));
    const of = async (host: string) => {
      const { domain, public_suffix: suffix, private_suffix: own } = await bench.getResult(host);
      return [domain, suffix, own];
    };
    expect(await of("a.b.example.com")).toEqual(["example.com", "com", null]);
    expect(await of("*.example.com")).toEqual(["example.com", "com", null]);
    expect(await of("www.example.co.uk")).toEqual(["example.co.uk", "co.uk", null]);
    expect(await of("co.uk")).toEqual(["co.uk", null, null]);
    // Suffixes such as blogspot: registries know only the owner's own registration.
    expect(await of("someone.dyndns.org")).toEqual(["dyndns.org", "org", "dyndns.org"]);
    expect((await bench.getResult("someone.dyndns.org")).limitations.join(" ")).toContain(
      "gives out the names below it",
    );
  });

  it("can be an international name, in either form", async () => {
    bench.registries.answer((path) => rdapDomain({ ldhName: path.replace("domain/", ""), unicodeName: "пример.рф" }));
    const expected = { domain: "xn--e1afmkfd.xn--p1ai", unicode: "пример.рф", registered: true };
    expect(await bench.getResult("www.пример.рф")).toMatchObject(expected);
    expect(await bench.getResult("XN--E1AFMKFD.xn--p1ai")).toMatchObject(expected);
  });

  it("is absent if the registry does not have it, and then no WHOIS server is asked", async () => {
    const asked = bench.first.queries().length;
    const result = await bench.getResult("example-absent.com");
    expect(result).toMatchObject({
      registered: false,
      state: "absent",
      source: "rdap",
      registrar: null,
      nameservers: [],
      days_left: null,
    });
    expect(result.limitations.join(" ")).toContain("registries reserve names");
    expect(bench.first.queries().length).toBe(asked);
  });

  it.each([
    ["2024-11-21T10:00:00Z", 0],
    ["2024-11-22T09:59:59Z", 0],
    ["2024-11-22T10:00:00Z", 1],
    ["2024-11-21T09:59:59Z", -1],
    ["2024-11-19T12:00:00Z", -2],
  ])("that ends at %s has %d days left", (expires, days) => {
    expect(daysLeft(expires, new Date("2024-11-21T10:00:00Z"))).toBe(days);
  });

  it("takes its holder from the registrar's own service if the registry is thin", async () => {
    const href = `${bench.registries.server.url}/registrar/domain/EXAMPLE.COM`;
    const links = [
      { rel: "self", href: "https://x.example/", type: "application/rdap+json" },
      { rel: "related", href, type: "application/rdap+json" },
    ];
    const redacted = [
      { name: { description: "Registrant Name" }, method: "removal", reason: { description: "Server policy" } },
      { name: { type: "Registrant Email" }, method: "removal" },
    ];
    bench.registries.answer((path) =>
      path.startsWith("registrar/")
        ? rdapDomain({ entities: [rdapRegistrant("Example Inc.")], redacted, events: [] })
        : rdapDomain({ links }),
    );
    const result = await bench.getResult("example.com");
    expect(result).toMatchObject({
      registrant: { org: "Example Inc.", country: "CA", redacted: true },
      privacy: true,
      redacted_fields: ["Registrant Name", "Registrant Email"],
      registrar: { name: "Example Registrar, Inc." },
      expires: "2025-08-13T04:00:00.000Z",
      limitations: [],
    });
    expect(result.servers.map(({ server }) => server)).toEqual([
      `${bench.registries.server.url}/registry/domain/example.com`,
      href,
    ]);

    bench.registries.answer((path) => (path.startsWith("registrar/") ? null : rdapDomain({ links })));
    const alone = await bench.getResult("example.com");
    expect(alone).toMatchObject({ registered: true, registrant: null, registrar: { iana_id: "9999" } });
    expect(alone.limitations.join(" ")).toContain("registrar's own service");
  });

  it("does not follow a registrar's link to an internal address", async () => {
    const egress = createEgress({ targets: ["127.0.0.1/32"], names: [] });
    const links = [{ rel: "related", href: "http://127.0.0.2:1/domain/x", type: "application/rdap+json" }];
    bench.registries.answer(() => rdapDomain({ links }));
    expect((await bench.getResult("example.com", { egress })).servers.at(-1)?.outcome).toBe("target not allowed");
  });

  it("reports a privacy service as such", async () => {
    bench.registries.answer(() => rdapDomain({ entities: [rdapRegistrant("Domains By Proxy, LLC", "US")] }));
    expect(await bench.getResult("example.com")).toMatchObject({ privacy: true, registrant: { redacted: false } });
    bench.registries.answer(() => rdapDomain({ entities: [rdapRegistrant("Example Inc.")] }));
    expect(await bench.getResult("example.com")).toMatchObject({ privacy: false, registrant: { org: "Example Inc." } });
    bench.registries.answer(() => rdapDomain({ entities: [rdapRegistrant("REDACTED FOR PRIVACY")] }));
    expect(await bench.getResult("example.com")).toMatchObject({
      privacy: true,
      registrant: { org: null, redacted: true },
    });
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
    bench.registries.answer((_path, response) => {
      if (typeof behaviour === "number") response.writeHead(behaviour).end();
      else response.end(behaviour);
    });
    bench.says.first = () => whoisFixture("verisign");
    const result = await bench.getResult("example.com");
    expect(result).toMatchObject({ registered: true, source: "whois", whois_server: bench.first.address });
    expect(result.limitations[0]).toMatch(/^RDAP returned no registration/);
  });

  it("still reports a domain whose document is deeply nested in unused members", async () => {
    const text = JSON.stringify(rdapDomain()).replace(/\}$/, `,"x":${"[".repeat(100_000)}${"]".repeat(100_000)}}`);
    bench.registries.answer((_path, response) => void response.end(text));
    expect(await bench.getResult("example.com")).toMatchObject({ registered: true, source: "rdap" });
  });
});

describe("a domain that only WHOIS knows", () => {
  it("is looked up at the server that IANA refers to, and then at the registrar of a thin registry", async () => {
    bench.says.first = () => `refer:        ${bench.second.address}\n\ndomain:       TEST\nstatus:       ACTIVE\n`;
    bench.says.second = () =>
      whoisFixture("verisign")
        .replace("whois.registrar.example", bench.third.address)
        .replaceAll("EXAMPLE.COM", "EXAMPLE.TEST");
    bench.says.third = () => whoisFixture("registrar").replaceAll("example.com", "example.test");
    const result = await bench.getResult("www.example.test");
    expect(result).toMatchObject({
      domain: "example.test",
      registered: true,
      whois_server: bench.second.address,
      registrar: { name: "Example Registrar, Inc.", iana_id: "9999", abuse_email: "abuse@registrar.example" },
      registrant: { org: "Example Organisation", country: "US", redacted: true },
      privacy: true,
      expires: "2025-08-13T04:00:00.000Z",
      days_left: 264,
      dnssec: { signed: true },
      source: "whois",
    });
    expect(result.servers).toEqual([
      { server: bench.first.address, protocol: "whois", outcome: "refers on" },
      { server: bench.second.address, protocol: "whois", outcome: "found" },
      { server: bench.third.address, protocol: "whois", outcome: "found" },
    ]);
    expect([bench.first, bench.second, bench.third].map((server) => server.queries().at(-1))).toEqual(
      Array(3).fill("example.test"),
    );
    expect(result.raw).toContain("Registrant Organization: Example Organisation");
  });

  it("is absent if the registry says so, and no registrar is asked", async () => {
    bench.says.first = () => whoisFixture("sidn-absent");
    expect(await bench.getResult("example-absent.nl")).toMatchObject({
      registered: false,
      source: "whois",
      registrar: null,
    });
  });

  it("is neither registered nor unregistered if the registry reserves the name", async () => {
    bench.says.first = () => whoisFixture("reserved");
    const result = await bench.getResult("example.test");
    expect(result).toMatchObject({ registered: null, state: "reserved", source: "whois" });
    expect(result.limitations.join(" ")).toContain("reserves the name");
  });

  it.each([
    ["it-unassignable", "esempio-vietato.it", { registered: null, state: "unassignable" }, "not assign this name"],
    ["premium", "example-premium.test", { registered: false, state: "premium" }, "special price"],
    ["iana-not-assigned", "xq", { registered: false, state: "not_assigned" }, "not assigned to anyone"],
    ["lk-absent", "example.lk", { registered: false, state: "absent" }, "RDAP"],
  ])("says what a name is that nobody holds: %s", async (fixture, host, expected, note) => {
    bench.says.first = () => whoisFixture(fixture);
    const result = await bench.getResult(host);
    expect(result).toMatchObject({ ...expected, registrar: null, source: "whois" });
    expect(result.limitations.join(" ")).toContain(note);
  });

  it("says if a date is only a bound", async () => {
    bench.says.first = () => whoisFixture("nominet").replaceAll("example.co.uk", "example.test");
    const result = await bench.getResult("example.test");
    expect(result.created).toBe("1996-08-01T00:00:00.000Z");
    expect(result.limitations.join(" ")).toContain("before the stated date");
  });

  it("is read as Latin-1 if it is not UTF-8", async () => {
    bench.says.first = () => Buffer.from("domain: example.test\nowner: Exämple Ltda\ncreated: 19990203\n", "latin1");
    expect((await bench.getResult("example.test")).registrant?.org).toBe("Exämple Ltda");
  });

  it("that is a top-level domain is looked up at IANA", async () => {
    bench.says.first = () => whoisFixture("iana-refer").replace("whois.verisign-grs.com", bench.second.address);
    const result = await bench.getResult("com");
    expect(result).toMatchObject({
      domain: "com",
      public_suffix: null,
      registered: true,
      whois_server: bench.first.address,
    });
    expect(result.nameservers).toEqual(["a.gtld-servers.net", "b.gtld-servers.net"]);
    expect(result.servers.filter(({ protocol }) => protocol === "whois")).toHaveLength(1);
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

  it("is reported from RDAP", async () => {
    bench.registries.answer((path) =>
      path.startsWith("ip/")
        ? network
        : { objectClassName: "autnum", handle: "AS15169", startAutnum: 15_169, endAutnum: 15_169, name: "EXAMPLE" },
    );
    expect(await bench.getResult("8.8.8.8")).toMatchObject({
      kind: "ip",
      domain: null,
      registered: true,
      network: { name: "EXAMPLE", cidrs: ["8.8.8.0/24"], country: "US" },
      autnum: null,
      source: "rdap",
    });
    expect(await bench.getResult("AS15169")).toMatchObject({
      kind: "autnum",
      network: null,
      autnum: { name: "EXAMPLE", start_asn: 15_169, end_asn: 15_169 },
    });
    expect((await bench.getResult("15169")).autnum?.handle).toBe("AS15169");
    bench.registries.answer(() => null);
    expect(await bench.getResult("AS15169")).toMatchObject({ registered: false, autnum: null });
  });

  it("is reported from WHOIS if RDAP does not answer, through the registries' referrals", async () => {
    bench.registries.answer((_path, response) => void response.writeHead(503).end());
    bench.says.first = () => `refer: ${bench.second.address}\n\ninetnum: 8.0.0.0 - 8.255.255.255\nstatus: LEGACY\n`;
    bench.says.second = () =>
      "NetRange: 8.0.0.0 - 8.127.255.255\nCIDR: 8.0.0.0/9\nNetName: PARENT\nNetHandle: NET-8-0-0-0-1\n\n" +
      "NetRange: 8.8.8.0 - 8.8.8.255\nCIDR: 8.8.8.0/24\nNetName: EXAMPLE\nNetHandle: NET-8-8-8-0-1\n" +
      "OrgName: Example LLC\nCountry: US\nRegDate: 2023-12-28\nUpdated: 2023-12-28\nOrgAbuseEmail: abuse@example.net\n";
    expect(await bench.getResult("8.8.8.8")).toMatchObject({
      registered: true,
      source: "whois",
      whois_server: bench.second.address,
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
    bench.says.first = () =>
      "% Abuse contact for 'AS64496' is 'abuse@example.net'\n\naut-num: AS64496\nas-name: EXAMPLE-AS\norg: ORG-EX1\nstatus: ASSIGNED\n" +
      "created: 2002-09-10T12:00:00Z\nlast-modified: 2024-01-01T00:00:00Z\nsource: RIPE\n\norganisation: ORG-EX1\norg-name: Example BV\ncountry: NL\n";
    expect(await bench.getResult("AS64496")).toMatchObject({
      registered: true,
      autnum: {
        name: "EXAMPLE-AS",
        organization: "Example BV",
        abuse_email: "abuse@example.net",
        status: ["ASSIGNED"],
      },
    });
  });

  it("that WHOIS does not have is not registered", async () => {
    bench.registries.answer((_path, response) => void response.writeHead(503).end());
    bench.says.first = () => "%ERROR:101: no entries found\n";
    expect(await bench.getResult("2001:db8::1")).toMatchObject({ registered: false, network: null });
  });
});
