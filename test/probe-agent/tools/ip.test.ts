import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { Value } from "typebox/value";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createEgress, type Egress } from "#shared/egress.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { ip as contract } from "#shared/tools/ip.ts";
import { createHttp } from "#probe-agent/net/http.ts";
import type { Services } from "#probe-agent/net/port.ts";
import { ip } from "#probe-agent/tools/ip.ts";
import { startDnsServer, type DnsServer } from "#test/servers/dns.ts";
import { startHttpServer, type HttpServer } from "#test/servers/http.ts";
import { systemClock } from "#test/support/clock.ts";
import { dnsPort, jobLimits, loopbackEgress, netOf } from "#test/support/net.ts";

const ANSWER = readFileSync(new URL("../../fixtures/rdap/ip-network.json", import.meta.url), "utf8");

const DNS = {
  "dns.example.net": { A: ["8.8.8.8"], AAAA: ["2001:4860:4860::8888"] },
  "mixed.example.net": { A: ["10.0.0.1", "8.8.8.8"] },
  "inside.example.net": { A: ["10.0.0.1"] },
  "lab.example.net": { A: ["127.0.0.9"] },
  "8.8.8.8.in-addr.arpa": { PTR: ["liar.example.org.", "dns.example.net."] },
  "liar.example.org": { A: ["9.9.9.9"] },
  "4.4.8.8.in-addr.arpa": { PTR: ["liar.example.org."] },
  "5.4.8.8.in-addr.arpa": { PTR: ["router.internal."] },
  "6.4.8.8.in-addr.arpa": { PTR: ["broken.example.org."] },
  "8.8.8.8.origin.test": { TXT: ['"15169 64500 | 8.8.8.0/24 | US | arin | 2023-12-28"'] },
  "4.4.8.8.origin.test": { TXT: ['"15169 | 8.8.4.0/24 | EU | ripencc | 2023-12-28"'] },
  "as15169.asn.test": { TXT: ['"15169 | US | arin | 2000-03-30 | GOOGLE - Google LLC, US"'] },
};

let names: DnsServer;
let registry: HttpServer;
let bootstraps = 0;
/** What the registry says to `ip/...`. */
type Answer = (response: ServerResponse, address: string) => void;
const withAnswer: Answer = (response) => void response.end(ANSWER);
let answer = withAnswer;

beforeAll(async () => {
  const behaviours = { "broken.example.org": { status: "SERVFAIL" }, "1.1.1.1.origin.test": { status: "SERVFAIL" } };
  names = await startDnsServer({ zones: DNS, behaviours });
  registry = await startHttpServer({
    handler: (_request, response, { path }) => {
      const [, , kind = "", address = ""] = path.split("/");
      if (/^ipv[46]\.json$/.test(kind)) {
        bootstraps += 1;
        const blocks = kind === "ipv4.json" ? ["8.0.0.0/8", "1.0.0.0/8"] : ["2001:4800::/23"];
        response.end(JSON.stringify({ services: [[blocks, [`${registry.url}/registry/`]]] }));
      } else if (kind === "ip") answer(response, address);
      else return false;
      return true;
    },
  });
});

afterAll(async () => {
  await Promise.all([names.close(), registry.close()]);
});

afterEach(() => {
  answer = withAnswer;
});

interface Setting {
  readonly egress?: Egress;
  readonly services?: Partial<Services>;
  readonly timeoutMs?: number;
}

async function run(host: string, { egress = loopbackEgress, services, timeoutMs = 5000 }: Setting = {}) {
  const limits = jobLimits(timeoutMs);
  const dns = dnsPort([names.address], { egress, limits });
  const http = createHttp({ clock: systemClock, egress, userAgent: "Vantage/test" })(limits, dns);
  const cymruZones = { origin: "origin.test", origin6: "origin6.test", asn: "asn.test" };
  const rdapBootstrapUrl = `${registry.url}/bootstrap`;
  return await ip.run(netOf({ dns, http, services: { rdapBootstrapUrl, cymruZones, ...services } }, limits), { host });
}

async function resultOf(host: string, setting?: Setting): Promise<ResultOf<typeof contract>> {
  const outcome = await run(host, setting);
  if (outcome.status !== "ok") throw new Error(JSON.stringify(outcome));
  expect(Array.from(Value.Errors(contract.result, outcome.data))).toEqual([]);
  return outcome.data;
}

describe("an address on the internet", () => {
  it("is told from its name, the routing data and the registry at once", async () => {
    const { elapsed_ms: elapsed, observed_at: at, limitations, ...result } = await resultOf("8.8.8.8");
    expect(result).toEqual({
      host: "8.8.8.8",
      ip: "8.8.8.8",
      ip_version: 4,
      type: "public",
      hostname: "dns.example.net",
      fcrdns: true,
      continent: { code: "NA", name: "North America" },
      country: { code: "US", name: "United States" },
      country_source: "rir_registration",
      region: null,
      city: null,
      postal: null,
      location: null,
      timezone: null,
      asn: 15_169,
      asns: [15_169, 64_500],
      as_name: "GOOGLE",
      isp: "Google LLC",
      organization: "Example Networks LLC",
      network: "8.8.8.0/24",
      announced_prefix: "8.8.8.0/24",
      registry: "arin",
      rdap: {
        handle: "NET-8-8-8-0-2",
        name: "EXAMPLE-DNS",
        type: "DIRECT ALLOCATION",
        start_address: "8.8.8.0",
        end_address: "8.8.8.255",
        cidrs: ["8.8.8.0/24"],
        parent_handle: "NET-8-0-0-0-0",
        country: "US",
        status: ["active"],
        registered_at: "1990-12-31T23:59:59.000Z",
        changed_at: "2020-02-29T10:00:00.000Z",
        abuse_email: "abuse@example.net",
        url: `${registry.url}/registry/ip/8.8.8.8`,
      },
      all_addresses: [{ ip: "8.8.8.8", ip_version: 4, blocked: false }],
      data: null,
      source: ["dns", "cymru", "rdap"],
    });
    expect(elapsed).toBeGreaterThan(0);
    expect(new Date(at).toISOString()).toBe(at);
    expect(limitations.join(" ")).toMatch(
      /no location database.*where the address block is registered.*Several networks/s,
    );
  });

  it("asks the registry in its own media type", async () => {
    await resultOf("8.8.8.8");
    const request = registry.requests.find(({ path }) => path === "/registry/ip/8.8.8.8");
    const accept = request?.headers.find(([name]) => name.toLowerCase() === "accept")?.[1];
    expect(accept).toContain("application/rdap+json");
  });

  it("follows a registry that refers to another", async () => {
    answer = (response, address) => {
      if (address === "8.8.8.8") response.writeHead(302, { location: "/other/ip/8.8.8.8?from=here" }).end();
      else response.end(ANSWER);
    };
    expect((await resultOf("8.8.8.8")).rdap?.url).toBe(`${registry.url}/other/ip/8.8.8.8?from=here`);
  });

  it("fetches the list of registries once a day, not for each look-up", async () => {
    await resultOf("8.8.8.8");
    const before = bootstraps;
    await resultOf("8.8.8.8");
    await resultOf("8.8.4.4");
    expect(bootstraps).toBe(before);
  });
});

describe("a host name", () => {
  it("is told by its first address that may be used, and lists them all", async () => {
    const result = await resultOf("dns.example.net");
    expect(result).toMatchObject({ host: "dns.example.net", ip: "8.8.8.8", hostname: "dns.example.net" });
    expect(result.all_addresses.map((address) => address.ip)).toEqual(["8.8.8.8", "2001:4860:4860::8888"]);
    expect(result.limitations.join(" ")).toContain("several addresses");
    const mixed = await resultOf("mixed.example.net");
    expect(mixed.ip).toBe("8.8.8.8");
    expect(mixed.all_addresses).toContainEqual({ ip: "10.0.0.1", ip_version: 4, blocked: true });
    expect(mixed.limitations.join(" ")).toContain("blocked");
  });

  it("fails when it does not resolve, and is refused when it leads inside", async () => {
    expect(await run("absent.example.net")).toMatchObject({ status: "failed", stage: "dns", reason: "nxdomain" });
    expect(await run("inside.example.net")).toEqual({ status: "refused" });
  });
});

describe("an address inside", () => {
  it("is classified and shown to nobody outside", async () => {
    const [asked, fetched] = [names.queries.length, registry.requests.length];
    const result = await resultOf("lab.example.net");
    expect(result).toMatchObject({
      ip: "127.0.0.9",
      type: "loopback",
      country: null,
      asn: null,
      rdap: null,
      source: [],
    });
    expect(result.limitations).toEqual(["A loopback address: registries and routing data say nothing about it."]);
    expect(names.queries.slice(asked).filter(({ name }) => name.toLowerCase().includes("origin"))).toEqual([]);
    expect(registry.requests.length).toBe(fetched);
  });

  it("may be opened by the operator", async () => {
    const egress = createEgress({ targets: ["10.0.0.0/8", "127.0.0.0/8"], names: [] });
    expect(await resultOf("inside.example.net", { egress })).toMatchObject({ ip: "10.0.0.1", type: "private" });
  });
});

describe("the reverse name", () => {
  it("is unconfirmed when it leads elsewhere or to a name that may not be used", async () => {
    expect(await resultOf("8.8.4.4")).toMatchObject({ hostname: "liar.example.org", fcrdns: false });
    expect(await resultOf("8.8.4.5")).toMatchObject({ hostname: "router.internal", fcrdns: false });
  });

  it("is neither when it cannot be looked up", async () => {
    const result = await resultOf("8.8.4.6");
    expect(result).toMatchObject({ hostname: "broken.example.org", fcrdns: null });
    expect(result.limitations.join(" ")).toContain("could not be looked up");
  });

  it("is null where there is none", async () => {
    expect(await resultOf("8.8.4.7")).toMatchObject({ hostname: null, fcrdns: null });
  });
});

describe("a source that fails", () => {
  it.each<[string, Answer, string]>([
    ["an error status", (response) => void response.writeHead(404).end('{"errorCode":404}'), "status 404"],
    ["a rate limit", (response) => void response.writeHead(429).end(), "status 429"],
    ["no JSON", (response) => void response.end("<html>"), "not JSON"],
    ["another object", (response) => void response.end('{"objectClassName":"domain"}'), "no registration of this"],
    ["a flood", (response) => void response.end(`"${"x".repeat(2_000_000)}"`), "incomplete answer"],
    ["a reset", (response) => void response.socket?.destroy(), "gave no registration"],
    ["a way inside", (response) => void response.writeHead(302, { location: "http://10.0.0.1/" }).end(), "not allowed"],
  ])("is a limitation: the registry with %s", async (_, behaviour, words) => {
    answer = behaviour;
    const result = await resultOf("8.8.4.4");
    expect(result).toMatchObject({ rdap: null, organization: null, asn: 15_169, network: "8.8.4.0/24" });
    expect(result.registry).toBe("ripencc");
    expect(result.limitations.join(" ")).toContain(words);
  });

  it("is a limitation when the registry never answers, and the rest comes in time", async () => {
    answer = () => undefined;
    const result = await resultOf("8.8.8.8", { timeoutMs: 1500 });
    expect(result).toMatchObject({ rdap: null, asn: 15_169, hostname: "dns.example.net", country: { code: "US" } });
    expect(result.limitations.join(" ")).toContain("RDAP: the registry did not answer in time");
  });

  it("is a limitation when the list of registries cannot be read or names none", async () => {
    const services = { rdapBootstrapUrl: `${registry.url}/status/500` };
    expect((await resultOf("8.8.8.8", { services })).limitations.join(" ")).toContain("list of registries");
    expect((await resultOf("9.9.9.9")).limitations.join(" ")).toContain("no registry is responsible");
  });

  it("is a limitation when routing data are silent or have no prefix", async () => {
    expect((await resultOf("1.1.1.1")).limitations.join(" ")).toContain("zones did not answer");
    const absent = await resultOf("8.8.4.9");
    expect(absent).toMatchObject({ asn: null, asns: [], as_name: null, isp: null, announced_prefix: null });
    expect(absent.limitations.join(" ")).toContain("No prefix in global routing");
  });

  it("leaves no country where the registry names none of ISO 3166-1", async () => {
    answer = (response) => void response.writeHead(404).end();
    expect(await resultOf("8.8.4.4")).toMatchObject({ country: null, country_source: null, continent: null });
  });

  it("reaches no registry at an address the rules refuse, whatever the operator's list says", async () => {
    const egress = createEgress({ targets: [], names: [] });
    const result = await resultOf("8.8.8.8", { egress });
    expect(result.rdap).toBeNull();
    expect(result.limitations.join(" ")).toContain("not allowed");
  });
});
