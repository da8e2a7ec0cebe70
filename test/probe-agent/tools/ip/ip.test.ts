import { afterEach, describe, expect, it } from "vitest";
import { createEgress } from "#shared/internet/egress.ts";
import { RDAP_ANSWER, registered, startIpSources } from "#test/support/ip-sources.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const sources = await stopAfterAll(startIpSources());

afterEach(() => sources.answer(registered()));

describe("an address on the internet", () => {
  it("is reported from its name, the routing data and the registry, all asked at the same time", async () => {
    const { elapsed_ms: elapsed, observed_at: at, limitations, ...result } = await sources.result("8.8.8.8");
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
        url: `${sources.registry.url}/registry/ip/8.8.8.8`,
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
    await sources.result("8.8.8.8");
    const request = sources.registry.requests.find(({ path }) => path === "/registry/ip/8.8.8.8");
    const accept = request?.headers.find(([name]) => name.toLowerCase() === "accept")?.[1];
    expect(accept).toContain("application/rdap+json");
  });

  it("follows a registry that refers to another", async () => {
    sources.answer((response, address) => {
      if (address === "8.8.8.8") response.writeHead(302, { location: "/other/ip/8.8.8.8?from=here" }).end();
      else response.end(RDAP_ANSWER);
    });
    expect((await sources.result("8.8.8.8")).rdap?.url).toBe(`${sources.registry.url}/other/ip/8.8.8.8?from=here`);
  });

  it("can be IPv6", async () => {
    const v6 = { startAddress: "2001:4860::", endAddress: "2001:4860:ffff:ffff:ffff:ffff:ffff:ffff", cidr0_cidrs: [] };
    sources.answer(registered(v6));
    expect(await sources.result("2001:4860:4860::8888")).toMatchObject({
      ip: "2001:4860:4860::8888",
      ip_version: 6,
      type: "public",
      asn: 15_169,
      network: "2001:4860::/32",
      announced_prefix: "2001:4860::/32",
      rdap: { url: `${sources.registry.url}/registry/ip/2001:4860:4860::8888` },
    });
  });

  it("fetches the list of registries once a day, not for each lookup", async () => {
    await sources.result("8.8.8.8");
    const before = sources.bootstraps();
    await sources.result("8.8.8.8");
    await sources.result("8.8.4.4");
    expect(sources.bootstraps()).toBe(before);
  });
});

describe("the registry's data", () => {
  it("takes precedence over routing data if both state the country", async () => {
    sources.answer(registered({ country: "CA" }));
    expect(await sources.result("8.8.8.8")).toMatchObject({ country: { code: "CA", name: "Canada" } });
    sources.answer(registered({ country: "EU" }));
    expect(await sources.result("8.8.8.8")).toMatchObject({ country: { code: "US" }, rdap: { country: "EU" } });
  });

  it.each([
    ["whois.ripe.net", "ripencc"],
    ["whois.apnic.net", "apnic"],
    ["whois.nic.example", null],
  ])("tells the registry by its whois host %s where routing data are silent", async (port43, registryName) => {
    sources.answer(registered({ startAddress: "1.1.1.0", endAddress: "1.1.1.255", cidr0_cidrs: [], port43 }));
    const result = await sources.result("1.1.1.1");
    expect(result).toMatchObject({ registry: registryName, network: "1.1.1.0/24", announced_prefix: null, asn: null });
  });
});

describe("a host name", () => {
  it("is reported by its first allowed address, and lists all addresses", async () => {
    const result = await sources.result("dns.example.net");
    expect(result).toMatchObject({ host: "dns.example.net", ip: "8.8.8.8", hostname: "dns.example.net" });
    expect(result.all_addresses.map((address) => address.ip)).toEqual(["8.8.8.8", "2001:4860:4860::8888"]);
    expect(result.limitations.join(" ")).toContain("several addresses");
    const mixed = await sources.result("mixed.example.net");
    expect(mixed.ip).toBe("8.8.8.8");
    expect(mixed.all_addresses).toContainEqual({ ip: "10.0.0.1", ip_version: 4, blocked: true });
    expect(mixed.limitations.join(" ")).toContain("blocked");
  });

  it("fails when it does not resolve, and is refused when it resolves to an internal address", async () => {
    expect(await sources.run("absent.example.net")).toMatchObject({
      status: "failed",
      stage: "dns",
      reason: "nxdomain",
    });
    expect(await sources.run("inside.example.net")).toEqual({ status: "refused" });
  });
});

describe("an internal address", () => {
  it("is classified and not sent to outside services", async () => {
    const [asked, fetched] = [sources.names.queries.length, sources.registry.requests.length];
    const result = await sources.result("lab.example.net");
    expect(result).toMatchObject({
      ip: "127.0.0.9",
      type: "loopback",
      country: null,
      asn: null,
      rdap: null,
      source: [],
    });
    expect(result.limitations).toEqual(["A loopback address: registries and routing data do not cover it."]);
    expect(sources.names.queries.slice(asked).filter(({ name }) => name.toLowerCase().includes("origin"))).toEqual([]);
    expect(sources.registry.requests.length).toBe(fetched);
  });

  it("can be opened by the operator", async () => {
    const egress = createEgress({ targets: ["10.0.0.0/8", "127.0.0.0/8"], names: [] });
    expect(await sources.result("inside.example.net", { egress })).toMatchObject({ ip: "10.0.0.1", type: "private" });
  });
});

describe("the reverse name", () => {
  it("is unconfirmed when it resolves to another address or to a name that is not allowed", async () => {
    expect(await sources.result("8.8.4.4")).toMatchObject({ hostname: "liar.example.org", fcrdns: false });
    expect(await sources.result("8.8.4.5")).toMatchObject({ hostname: "router.internal", fcrdns: false });
    expect(await sources.result("8.8.4.7")).toMatchObject({ hostname: "gone.example.org", fcrdns: false });
  });

  it("is neither confirmed nor unconfirmed when it cannot be looked up", async () => {
    const result = await sources.result("8.8.4.6");
    expect(result).toMatchObject({ hostname: "broken.example.org", fcrdns: null });
    expect(result.limitations.join(" ")).toContain("could not be verified");
  });

  it("is null if there is none", async () => {
    expect(await sources.result("8.8.4.8")).toMatchObject({ hostname: null, fcrdns: null });
  });
});

describe("the operator's databases", () => {
  const database = { source: "Test-City", build_epoch: 1_731_578_400, licence: null };
  const place = {
    continent: { code: "EU", name: "Europe" },
    country: { code: "DE", name: "Germany" },
    region: { code: "BE", name: "State of Berlin" },
    city: "Berlin",
    postal: "10178",
    location: { latitude: 52.5244, longitude: 13.4105, accuracy_radius_km: 20 },
    timezone: "Europe/Berlin",
  };
  const owner = { asn: 15_169, as_name: "Google LLC", isp: "Example ISP", organization: "Example Org" };
  const now = () => new Date("2024-11-21T10:00:00Z");

  it("locate the host, which its registration does not", async () => {
    const data = { geo: () => ({ database, place }), asn: () => ({ database, owner, prefix: 24 }) };
    const result = await sources.result("8.8.8.8", { data, now });
    expect(result).toMatchObject({
      ...place,
      country_source: "geo_db",
      isp: "Example ISP",
      organization: "Example Networks LLC",
      asn: 15_169,
      as_name: "GOOGLE",
      data: { ...database, age_days: 7 },
      source: ["dns", "cymru", "rdap", "geo_db", "asn_db"],
    });
    expect(result.limitations.join(" ")).not.toMatch(/no location database|where the address block is registered/);
  });

  it("leave the registration's country if they do not contain the address", async () => {
    const data = { geo: () => ({ database, place: null }) };
    const result = await sources.result("8.8.8.8", { data, now });
    expect(result).toMatchObject({ city: null, country: { code: "US" }, country_source: "rir_registration" });
    expect(result.data?.source).toBe("Test-City");
    expect(result.limitations.join(" ")).toContain("does not contain the address");
  });

  it("provide the network if routing data do not answer", async () => {
    const data = { asn: () => ({ database, owner, prefix: 24 }) };
    const result = await sources.result("1.1.1.1", { data, now });
    expect(result).toMatchObject({ asn: 15_169, asns: [15_169], as_name: "Google LLC", announced_prefix: null });
    expect(result.limitations.join(" ")).toContain("taken from the operator's database");
  });

  it("are not asked about an internal address", async () => {
    const data = {
      geo: () => {
        throw new Error("asked");
      },
    };
    expect(await sources.result("lab.example.net", { data })).toMatchObject({ data: null, type: "loopback" });
  });
});
