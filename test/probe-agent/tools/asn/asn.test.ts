import { afterEach, describe, expect, it } from "vitest";
import { createEgress } from "#shared/internet/egress.ts";
import { asn } from "#probe-agent/tools/asn/asn.ts";
import { startDnsServer } from "#test/servers/dns.ts";
import { startRegistries } from "#test/support/registries.ts";
import { resultOf, runTool, type ToolSetting } from "#test/support/tool.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const ZONES = {
  "www.example.net": { A: ["8.8.8.8"], AAAA: ["2001:4860:4860::8888"] },
  "inside.example.net": { A: ["10.0.0.1"] },
  "8.8.8.8.origin.test": {
    TXT: ['"15169 64500 | 8.8.8.0/24 | US | arin | 2023-12-28"', '"3356 | 8.0.0.0/9 | US | arin | 1992-12-01"'],
  },
  "4.4.8.8.origin.test": { TXT: ['"15169 | 8.8.4.0/24 | US | arin | 2023-12-28"'] },
  [`8.8.8.8.${"0.".repeat(16)}0.6.8.4.0.6.8.4.1.0.0.2.origin6.test`]: {
    TXT: ['"15169 | 2001:4860::/32 | US | arin | 2005-03-14"'],
  },
  "as15169.asn.test": { TXT: ['"15169 | US | arin | 2000-03-30 | GOOGLE - Google LLC, US"'] },
  "as3333.asn.test": { TXT: ['"3333 | NL | ripencc | 1995-01-01 | RIPE-NCC-AS Reseaux IP Europeens, NL"'] },
  "origin.test": { SOA: ["ns. host. 1 2 3 4 5"] },
  "asn.test": { SOA: ["ns. host. 1 2 3 4 5"] },
};

const AUTNUM = {
  objectClassName: "autnum",
  handle: "AS15169",
  startAutnum: 15_169,
  endAutnum: 15_169,
  name: "GOOGLE",
  status: ["active"],
  port43: "whois.arin.net",
  events: [{ eventAction: "registration", eventDate: "2000-03-30T00:00:00-05:00" }],
  entities: [
    {
      roles: ["registrant"],
      vcardArray: [
        "vcard",
        [
          ["fn", {}, "text", "Google LLC"],
          ["kind", {}, "text", "org"],
        ],
      ],
      entities: [{ roles: ["abuse"], vcardArray: ["vcard", [["email", {}, "text", "abuse@example.net"]]] }],
    },
  ],
};

const names = await stopAfterAll(
  startDnsServer({ zones: ZONES, behaviours: { "1.1.1.8.origin.test": { status: "SERVFAIL" } } }),
);
const registries = await stopAfterAll(startRegistries());

afterEach(() => registries.answer(() => null));

function setting(given: ToolSetting): ToolSetting {
  return {
    dnsServers: [names.address],
    ...given,
    services: { rdapBootstrapUrl: registries.bootstrapUrl, ...given.services },
  };
}

const look = (query: string, given: ToolSetting = {}) => resultOf(asn, { query }, setting(given));
const run = async (query: string, given: ToolSetting = {}) => (await runTool(asn, { query }, setting(given))).outcome;

describe("an AS number", () => {
  it.each(["AS15169", "AS0.15169"])("is reported for %s", async (query) => {
    registries.answer(() => AUTNUM);
    const { elapsed_ms: _elapsed, observed_at: _at, limitations, ...result } = await look(query);
    expect(result).toEqual({
      query,
      host: null,
      ip: null,
      asn: 15_169,
      asdot: "15169",
      use: "public",
      origins: [],
      name: "GOOGLE",
      org: "Google LLC",
      country: "US",
      registry: "arin",
      allocated: "2000-03-30",
      prefix: null,
      prefixes: { ipv4: null, ipv6: null },
      peers: null,
      upstreams: null,
      abuse: "abuse@example.net",
      rdap: {
        handle: "AS15169",
        name: "GOOGLE",
        type: null,
        start_asn: 15_169,
        end_asn: 15_169,
        organization: "Google LLC",
        country: null,
        status: ["active"],
        registered_at: "2000-03-30T05:00:00.000Z",
        changed_at: null,
        abuse_email: "abuse@example.net",
        url: `${registries.server.url}/registry/autnum/15169`,
      },
      database: null,
      source: ["cymru", "rdap"],
    });
    expect(limitations).toEqual([
      "Prefix counts, peers and upstreams are not known: this probe has no source for them.",
    ]);
  });

  it("is reported by one source if the other fails", async () => {
    registries.answer((_path, response) => void response.writeHead(429).end());
    expect(await look("AS15169")).toMatchObject({ name: "GOOGLE", org: "Google LLC", rdap: null, source: ["cymru"] });
    registries.answer(() => AUTNUM);
    const services = { cymruZones: { origin: "o.none", origin6: "o.none", asn: "none" } };
    const result = await look("AS15169", { services });
    expect(result).toMatchObject({
      name: "GOOGLE",
      org: "Google LLC",
      registry: "arin",
      allocated: "2000-03-30",
      source: ["rdap"],
    });
    expect(result.limitations.join(" ")).toContain("Team Cymru");
    const alone = await look("AS3333");
    expect(alone).toMatchObject({ name: "RIPE-NCC-AS", registry: "ripencc", country: "NL", rdap: null });
    expect(alone.limitations.join(" ")).toContain("this number is not assigned to any registry");
  });

  it("that was given to nobody is reported as such", async () => {
    expect(await look("AS15170")).toMatchObject({
      asn: 15_170,
      name: null,
      org: null,
      rdap: null,
      source: ["rdap"],
      limitations: expect.arrayContaining(["RDAP: this number is not assigned to any registry."]) as unknown,
    });
  });

  it.each([
    ["AS64512", "private", "RFC 6996", "64512"],
    ["AS1.15", "documentation", "RFC 5398", "1.15"],
  ])("%s for special use is named without asking anybody: %s (%s)", async (query, use, document, dotted) => {
    const [asked, fetched] = [names.queries.length, registries.asked().length];
    const result = await look(query);
    expect(result).toMatchObject({ use, asdot: dotted, name: null, rdap: null, source: ["iana"], limitations: [] });
    expect(result.org).toContain(document);
    expect([names.queries.length, registries.asked().length]).toEqual([asked, fetched]);
  });
});

describe("an address or host", () => {
  it("is reported by the most specific prefix, with all systems that announce it", async () => {
    registries.answer(() => AUTNUM);
    const result = await look("8.8.8.8");
    expect(result).toMatchObject({
      ip: "8.8.8.8",
      host: null,
      asn: 15_169,
      origins: [15_169, 64_500],
      prefix: "8.8.8.0/24",
      name: "GOOGLE",
      source: ["cymru", "rdap"],
    });
    expect(result.limitations.join(" ")).toContain("Several networks announce the prefix");
  });

  it("can be IPv6, or a name with several addresses", async () => {
    expect(await look("2001:4860:4860::8888")).toMatchObject({ asn: 15_169, prefix: "2001:4860::/32" });
    const result = await look("www.example.net");
    expect(result).toMatchObject({ host: "www.example.net", ip: "8.8.8.8", asn: 15_169 });
    expect(result.limitations.join(" ")).toContain("several addresses");
  });

  it("that is not in routing is reported as such", async () => {
    expect(await look("8.1.1.2")).toMatchObject({
      ip: "8.1.1.2",
      asn: null,
      origins: [],
      prefix: null,
      source: ["cymru"],
      limitations: ["No prefix in global routing contains the address."],
    });
  });

  it("that no source knows is a failed check", async () => {
    expect(await run("8.1.1.1")).toMatchObject({ status: "failed", source: "service", reason: "source_unavailable" });
    expect(await run("absent.example.net")).toMatchObject({ status: "failed", stage: "dns", reason: "nxdomain" });
  });

  it("in a private network is not looked up outside, and is refused if the operator has not opened it", async () => {
    const [asked, fetched] = [names.queries.length, registries.asked().length];
    const egress = createEgress({ targets: ["10.0.0.0/8", "127.0.0.0/8"], names: [] });
    const result = await look("10.0.0.1", { egress });
    expect(result).toMatchObject({ asn: null, use: null, origins: [], source: [] });
    expect(result.limitations).toEqual(["A private address: no network announces it to the internet."]);
    expect([names.queries.length, registries.asked().length]).toEqual([asked, fetched]);
    expect(await run("inside.example.net")).toEqual({ status: "refused" });
  });

  it.each(["a b", "AS99999999999", "1.2.3.4.5/8", "http://x/"])("is an invalid parameter: %j", async (query) => {
    expect(await run(query)).toMatchObject({ status: "invalid", field: "query" });
  });
});

describe("the operator's database of networks", () => {
  const database = { source: "Test-ASN", build_epoch: 1_731_578_400, licence: null };
  const owner = { asn: 15_169, as_name: "Google LLC", isp: null, organization: null };
  const data = { asn: () => ({ database, owner, prefix: 23 }) };

  it("answers without routing data", async () => {
    registries.answer(() => AUTNUM);
    const services = { cymruZones: { origin: "o.none", origin6: "o.none", asn: "none" } };
    expect(await look("8.8.4.4", { data, services })).toMatchObject({
      asn: 15_169,
      org: "Google LLC",
      prefix: "8.8.4.0/23",
      database,
      source: ["asn_db", "rdap"],
    });
  });

  it("comes first, and a difference from routing is reported", async () => {
    const other = { asn: () => ({ database, owner: { ...owner, asn: 64_499, as_name: "Elsewhere" }, prefix: 24 }) };
    const result = await look("8.8.4.4", { data: other });
    expect(result).toMatchObject({
      asn: 64_499,
      origins: [15_169],
      org: "Elsewhere",
      name: null,
      prefix: "8.8.4.0/24",
    });
    expect(result.limitations.join(" ")).toContain("Routing data name AS15169");
  });
});

describe("sources that never answer", () => {
  it("leave the answers of the others, in time", async () => {
    registries.answer(() => undefined);
    const result = await look("8.8.8.8", { timeoutMs: 2000 });
    expect(result).toMatchObject({ asn: 15_169, rdap: null });
    expect(result.limitations.join(" ")).toContain("did not answer in time");
  });
});
