import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { asn as asnContract } from "#shared/tools/asn/contract.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { ip as ipContract } from "#shared/tools/ip/contract.ts";
import type { reverseIp as reverseContract } from "#shared/tools/reverse-ip/contract.ts";
import type { whois as whoisContract } from "#shared/tools/whois/contract.ts";
import { addressOf } from "#test/lab/addresses.ts";
import { createApiClient, type ApiClient } from "#test/lab/ask.ts";
import { startServiceLab, type Lab, type Service } from "#test/lab/lab.ts";
import { whyNoLab } from "#test/lab/namespaces.ts";
import { LAB } from "#test/lab/topology.ts";

const why = whyNoLab();
if (why !== null) console.warn(why);

type Whois = ResultOf<typeof whoisContract>;
type Step = readonly [server: string, outcome: string];

const REGISTRY = "http://rdap.lab.test/registry/";
const [FIRST, SECOND, THIRD] = ["whois.lab.test", "whois-registry.lab.test", "whois-registrar.lab.test"] as const;
const DATES = {
  created: "2020-02-03T04:05:06.000Z",
  updated: "2026-01-02T03:04:05.000Z",
  expires: "2030-02-03T04:05:06.000Z",
};
const UNLISTED = "RDAP: no registry is listed for this name.";
const DEAD = "RDAP returned no registration (refused).";
const LAB_HOLDER = { org: "Lab Holders Ltd", redacted: false };

/** A resource, the servers that must be queried about it in order, and their replies. */
interface Row {
  readonly what: string;
  readonly host: string;
  readonly steps: readonly Step[];
  readonly data: Partial<Whois>;
  readonly limitations: readonly string[];
}

const ROWS: readonly Row[] = [
  {
    what: "a domain by RDAP",
    host: "www.rdap.com",
    steps: [[`${REGISTRY}domain/rdap.com`, "found"]],
    data: {
      kind: "domain",
      domain: "rdap.com",
      registered: true,
      source: "rdap",
      rdap_server: REGISTRY,
      registrant: { ...LAB_HOLDER, country: "CA" },
      nameservers: ["a.ns.example.net", "b.ns.example.net"],
      ...DATES,
    },
    limitations: [],
  },
  {
    what: "a domain that RDAP does not have (status 404)",
    host: "none.com",
    steps: [[`${REGISTRY}domain/none.com`, "absent"]],
    data: { registered: false, source: "rdap", created: null, registrar: null, raw: null },
    limitations: ["A name that nobody holds may still not be available for registration: registries reserve names."],
  },
  {
    what: "a domain by WHOIS, from the list of registries to the registry to the registrar",
    host: "referred.io",
    steps: [
      [FIRST, "refers on"],
      [SECOND, "found"],
      [THIRD, "found"],
    ],
    data: {
      registered: true,
      source: "whois",
      whois_server: SECOND,
      // The registry does not name the holder; the registrar does.
      registrant: { ...LAB_HOLDER, country: "DE" },
      nameservers: ["ns1.test", "ns2.test"],
      status: ["clientTransferProhibited"],
      dnssec: { signed: false, ds: [] },
      ...DATES,
    },
    limitations: [UNLISTED],
  },
  {
    what: "a domain that WHOIS does not have",
    host: "absent.io",
    steps: [
      [FIRST, "refers on"],
      [SECOND, "absent"],
    ],
    data: { registered: false, source: "whois", created: null, registrar: null },
    limitations: [UNLISTED],
  },
  {
    what: "referrals in a circle",
    host: "circle.io",
    steps: [
      [FIRST, "refers on"],
      [SECOND, "found"],
    ],
    data: { registered: true, registrant: null, ...DATES },
    limitations: [UNLISTED, `WHOIS: referrals lead back to ${FIRST}.`],
  },
  {
    what: "a domain whose RDAP registry is dead",
    host: "dead.org",
    steps: [
      ["RDAP", "refused"],
      [FIRST, "refers on"],
      [SECOND, "found"],
    ],
    data: { registered: true, source: "whois", rdap_server: null, ...DATES },
    limitations: [DEAD],
  },
  {
    what: "a network by RDAP",
    host: addressOf(LAB, "good"),
    steps: [[`${REGISTRY}ip/${addressOf(LAB, "good")}`, "found"]],
    data: { kind: "ip", registered: true, network: expectNetwork("LAB-WEB", "198.51.100", "NL") },
    limitations: [],
  },
  {
    what: "a network whose RDAP registry is dead",
    host: "203.0.113.9",
    steps: [
      [FIRST, "found"],
      [SECOND, "found"],
    ],
    data: { kind: "ip", registered: true, network: expectNetwork("LAB-SERVICES", "203.0.113", "FR"), source: "whois" },
    limitations: [DEAD],
  },
  {
    what: "an AS number by RDAP",
    host: "AS64510",
    steps: [[`${REGISTRY}autnum/64510`, "found"]],
    data: { kind: "autnum", registered: true, autnum: expectAutnum("LAB-WEB", 64_510, "LAB-WEB Ltd") },
    limitations: [],
  },
  {
    what: "an AS number whose RDAP registry is dead",
    host: "AS64511",
    steps: [
      [FIRST, "unknown"],
      [SECOND, "found"],
    ],
    data: {
      kind: "autnum",
      registered: true,
      source: "whois",
      autnum: expectAutnum("LAB-SERVICES", 64_511, "Lab Services Ltd"),
    },
    limitations: [DEAD],
  },
  {
    what: "an AS number that RDAP does not have",
    host: "AS64501",
    steps: [[`${REGISTRY}autnum/64501`, "absent"]],
    data: { registered: false, autnum: null },
    limitations: [],
  },
];

function expectNetwork(name: string, prefix: string, country: string): Whois["network"] {
  return expect.objectContaining({
    name,
    start_address: `${prefix}.0`,
    end_address: `${prefix}.255`,
    cidrs: [`${prefix}.0/24`],
    country,
  }) as Whois["network"];
}

function expectAutnum(name: string, number: number, organization: string): Whois["autnum"] {
  return expect.objectContaining({ name, start_asn: number, end_asn: number, organization }) as Whois["autnum"];
}

describe.skipIf(why !== null)("registries, queried by whois, asn, ip and reverse-ip", () => {
  let lab: Lab & { readonly service: Service };
  let api: ApiClient;
  beforeAll(async () => {
    lab = await startServiceLab({ regions: ["eu"] });
    api = await createApiClient(lab.service);
  });
  afterAll(() => lab?.close());

  it.each(ROWS)("whois: $what: $host", async ({ host, steps, data, limitations }) => {
    const seen = await api.getResult<Whois>("whois", { host });
    expect(seen).toMatchObject(data);
    expect(seen.servers.map(({ server, outcome }) => [server, outcome])).toEqual(steps);
    expect(seen.limitations).toEqual(limitations);
  });

  it.each([
    { what: "limits its clients", host: "limited.io", stage: "response", reason: "rate_limited" },
    { what: "refers to a dead one", host: "silent.io", stage: "connect", reason: "refused" },
  ])("whois: a registry that $what is the service's failure: $host", async ({ host, stage, reason }) => {
    const { status, error } = await api.ask<Whois>("whois", { host });
    expect({ status, ...error }).toMatchObject({ status: "failed", stage, source: "service", reason });
  });

  it("asn: an address, by routing and by the registry of its network", async () => {
    const seen = await api.getResult<ResultOf<typeof asnContract>>("asn", { query: "8.8.8.8" });
    expect(seen).toMatchObject({
      asn: 15_169,
      origins: [15_169],
      name: "LAB-PUBLIC",
      org: "LAB-PUBLIC Ltd",
      country: "US",
      registry: "ripencc",
      prefix: "8.8.8.0/24",
      rdap: expectAutnum("LAB-PUBLIC", 15_169, "LAB-PUBLIC Ltd"),
      peers: null,
      upstreams: null,
    });
  });

  it("asn: a number whose registry does not answer, from routing only, with a limitation", async () => {
    const seen = await api.getResult<ResultOf<typeof asnContract>>("asn", { query: "AS19281" });
    expect(seen).toMatchObject({ asn: 19_281, name: "LAB-UNKNOWN", rdap: null });
    expect(seen.limitations.join(" ")).toMatch(/RDAP/);
  });

  it("asn: a number for documentation is named without a query", async () => {
    const seen = await api.getResult<ResultOf<typeof asnContract>>("asn", { query: "AS64510" });
    expect(seen).toMatchObject({ asn: 64_510, use: "documentation", rdap: null, source: ["iana"] });
  });

  it("ip: a public address, by routing and registry; one whose registry does not answer, by routing only", async () => {
    const found = await api.getResult<ResultOf<typeof ipContract>>("ip", { host: "8.8.8.8" });
    expect(found).toMatchObject({
      type: "public",
      asn: 15_169,
      as_name: "LAB-PUBLIC",
      network: "8.8.8.0/24",
      announced_prefix: "8.8.8.0/24",
      country: { code: "US" },
      country_source: "rir_registration",
      rdap: expectNetwork("LAB-PUBLIC", "8.8.8", "US"),
      hostname: null,
    });
    const dead = await api.getResult<ResultOf<typeof ipContract>>("ip", { host: "9.9.9.9" });
    expect(dead).toMatchObject({ asn: 19_281, announced_prefix: "9.9.9.0/24", rdap: null });
    expect(dead.limitations.join(" ")).toMatch(/RDAP: the registry returned no registration \(refused\)/);
  });

  it("ip: an address of the lab has a name that leads back, and no network", async () => {
    const seen = await api.getResult<ResultOf<typeof ipContract>>("ip", { host: "good.tls.test" });
    expect(seen).toMatchObject({
      ip: addressOf(LAB, "good"),
      type: "documentation",
      hostname: "good.lab.test",
      fcrdns: true,
      asn: null,
      rdap: null,
    });
  });

  it("reverse-ip: names by PTR, certificate and this service's own checks, each looked up again", async () => {
    const ip = addressOf(LAB, "web");
    // The check is stored: its name leads here, although neither reverse DNS nor a certificate says so.
    await api.getResult("http-status", { url: "http://web.lab.test/" });
    const seen = await api.getResult<ResultOf<typeof reverseContract>>("reverse-ip", { ip });
    const byName = new Map(seen.domains.map((row) => [row.domain, row]));
    expect(seen).toMatchObject({ ip, ptr: ["web.lab.test"], fcrdns: true, complete: false, cdn: null });
    expect(byName.get("web.lab.test")).toMatchObject({ source: "ptr", still_resolves: true });
    expect(byName.get("mta-sts.mail.test")).toMatchObject({ sources: ["certificate"], still_resolves: true });
    // In the certificate, but DNS leads elsewhere.
    expect(byName.get("www.signed.test")).toMatchObject({ sources: ["certificate"], still_resolves: false });
    expect(seen.total).toBe(byName.size);
  });
});
