import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createEgress } from "#shared/internet/egress.ts";
import { registered, startIpSources, type IpSources, type RegistryAnswer } from "#test/support/ip-sources.ts";

let sources: IpSources;

beforeAll(async () => {
  sources = await startIpSources();
});

afterAll(() => sources.close());

afterEach(() => sources.answer(registered()));

describe("a source that fails", () => {
  it.each<[string, RegistryAnswer, string]>([
    ["an error status", (response) => void response.writeHead(404).end('{"errorCode":404}'), "status 404"],
    ["a rate limit", (response) => void response.writeHead(429).end(), "status 429"],
    ["no JSON", (response) => void response.end("<html>"), "not JSON"],
    ["another object", (response) => void response.end('{"objectClassName":"domain"}'), "not a registration of this"],
    ["a flood", (response) => void response.end(`"${"x".repeat(2_000_000)}"`), "incomplete answer"],
    ["a reset", (response) => void response.socket?.destroy(), "returned no registration"],
    ["a way inside", (response) => void response.writeHead(302, { location: "http://10.0.0.1/" }).end(), "not allowed"],
  ])("is a limitation: the registry with %s", async (_, behaviour, words) => {
    sources.answer(behaviour);
    const result = await sources.result("8.8.4.4");
    expect(result).toMatchObject({ rdap: null, organization: null, asn: 15_169, network: "8.8.4.0/24" });
    expect(result.registry).toBe("ripencc");
    expect(result.limitations.join(" ")).toContain(words);
  });

  it("is a limitation when the registry never answers, and the rest arrives in time", async () => {
    sources.answer(() => undefined);
    const result = await sources.result("8.8.8.8", { timeoutMs: 1500 });
    expect(result).toMatchObject({ rdap: null, asn: 15_169, hostname: "dns.example.net", country: { code: "US" } });
    expect(result.limitations.join(" ")).toContain("RDAP: the registry did not answer in time");
  });

  it("is a limitation when the list of registries cannot be read or contains none", async () => {
    const services = { rdapBootstrapUrl: `${sources.registry.url}/status/500` };
    expect((await sources.result("8.8.8.8", { services })).limitations.join(" ")).toContain("list of registries");
    expect((await sources.result("9.9.9.9")).limitations.join(" ")).toContain("no registry is responsible");
  });

  it("is a limitation when routing data do not answer or have no prefix", async () => {
    expect((await sources.result("1.1.1.1")).limitations.join(" ")).toContain("zones did not answer");
    const absent = await sources.result("8.8.4.9");
    expect(absent).toMatchObject({ asn: null, asns: [], as_name: null, isp: null, announced_prefix: null });
    expect(absent.limitations.join(" ")).toContain("No prefix in global routing");
  });

  it("leaves the country null if the registry names none of ISO 3166-1", async () => {
    sources.answer((response) => void response.writeHead(404).end());
    expect(await sources.result("8.8.4.4")).toMatchObject({ country: null, country_source: null, continent: null });
  });

  it("contacts no registry at an address that the rules refuse, whatever the operator's list contains", async () => {
    const egress = createEgress({ targets: [], names: [] });
    const result = await sources.result("8.8.8.8", { egress });
    expect(result.rdap).toBeNull();
    expect(result.limitations.join(" ")).toContain("not allowed");
  });
});
