import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ResolverEntry } from "#shared/settings/resolvers.ts";
import type { PropagationResult } from "#shared/tools/propagation/contract.ts";
import { propagationOn } from "#probe-agent/tools/propagation/propagation.ts";
import { startDnsServer, type DnsServer, type DnsServerOptions } from "#test/servers/dns.ts";
import { lookUp, makeRecord, type ZoneAnswer, type Zones } from "#test/servers/dns-zones.ts";
import { resultOf, runTool } from "#test/support/tool.ts";

const servers: DnsServer[] = [];
let first: DnsServer;
let own: DnsServer;

const soa = (serial: number) => [`ns1.site.test. admin.site.test. ${serial} 7200 900 1209600 300`];
const zoneWith = (serial: number, www: readonly string[]): Zones => ({
  "site.test": { SOA: soa(serial), NS: ["ns1.site.test.", "ns2.site.test."] },
  "ns1.site.test": { A: ["127.0.0.1"] },
  "ns2.site.test": { A: ["127.0.0.3"] },
  "www.site.test": { A: www },
  "alias.site.test": { CNAME: ["target.other.test."] },
  "other.test": { SOA: soa(9), NS: ["ns1.site.test."] },
  "target.other.test": { A: ["192.0.2.9"] },
  "text.site.test": { TXT: ['"v=Case"'] },
});
const NOW = zoneWith(7, ["192.0.2.1"]);

async function start(options: DnsServerOptions): Promise<DnsServer> {
  const server = await startDnsServer(options);
  servers.push(server);
  return server;
}

/** A server of site.test only. It knows the alias, but not the records of its target. */
function aliasAlone(name: string, type: string): ZoneAnswer {
  const found = lookUp(NOW, name.toLowerCase(), type, false);
  if (name.toLowerCase() !== "alias.site.test") return found;
  return { ...found, answers: found.answers.slice(0, 1), authority: [] };
}

/** Returns an answer with the TTL that a cache would show. */
function aged(name: string, type: string, data: string, ttl: number): ZoneAnswer {
  return { status: "NOERROR", answers: [{ ...makeRecord(name, type, data), ttl }], authority: [] };
}

beforeAll(async () => {
  // An authoritative server with a different answer for clients of 127.0.9.0/24.
  const forNetwork = (name: string, type: string, options: readonly { code: number; data: Uint8Array }[]) => {
    const subnet = options.find(({ code }) => code === 8)?.data;
    const isThere = subnet !== undefined && Buffer.from(subnet).toString("hex") === "000118007f0009";
    return isThere && name.toLowerCase() === "www.site.test" && type === "A"
      ? aged(name, type, "192.0.2.66", 300)
      : aliasAlone(name, type);
  };
  first = await start({
    authoritative: true,
    answer: (name, type, { message }) => forNetwork(name, type, message.edns?.options ?? []),
  });
  own = await start({ zones: NOW });
});
afterAll(() => Promise.all(servers.map((server) => server.close())));

interface Case {
  readonly domain?: string;
  readonly type?: string;
  readonly resolvers: readonly DnsServer[];
  readonly second?: DnsServerOptions;
  readonly input?: object;
}

function dataOf(resolvers: readonly DnsServer[]) {
  return {
    resolvers: resolvers.map(({ address }, at): ResolverEntry => {
      return { id: `r${at}`, name: `Resolver ${at}`, location: "here", address, transport: "udp" };
    }),
  };
}

async function ask({
  domain = "www.site.test",
  type = "A",
  resolvers,
  second = {},
  input,
}: Case): Promise<PropagationResult> {
  const behind = await start({ authoritative: true, zones: NOW, ...second, host: "127.0.0.3", port: first.port });
  const setting = { dnsServers: [own.address], data: dataOf(resolvers) };
  const given = input === undefined ? {} : { input: input as never };
  const result = await resultOf(propagationOn(first.port), { domain, type }, { ...setting, ...given });
  await behind.close();
  servers.splice(servers.indexOf(behind), 1);
  return result;
}

const verdicts = ({ resolvers }: PropagationResult) => resolvers.map(({ id, verdict }) => `${id} ${verdict}`);

describe("propagation", () => {
  it("compares every resolver with the domain's own servers", async () => {
    const fresh = await start({ zones: NOW });
    const result = await ask({ resolvers: [fresh] });
    expect(result).toMatchObject({ verdict: "propagated", consistent: true, agreement_pct: 100, expected_in_s: null });
    expect(verdicts(result)).toEqual(["r0 match", "own match"]);
    expect(result.authoritative).toMatchObject({
      zone: "site.test",
      ns: ["ns1.site.test", "ns2.site.test"],
      answers: ["192.0.2.1"],
      serials: [
        { ns: "ns1.site.test", serial: 7 },
        { ns: "ns2.site.test", serial: 7 },
      ],
      consistent: true,
    });
    expect(result.distinct_answers).toEqual([
      { answers: ["192.0.2.1"], status: "NOERROR", count: 2, resolvers: ["r0", "own"] },
    ]);
  });

  it("detects an older answer in a cache, and reports when it expires", async () => {
    const stale = await start({ answer: (name, type) => aged(name, type, "198.51.100.7", 120) });
    const result = await ask({ resolvers: [stale] });
    expect(result).toMatchObject({ verdict: "propagating", consistent: false, agreement_pct: 50, expected_in_s: 120 });
    expect(result.resolvers[0]).toMatchObject({ verdict: "stale", authoritative_match: false, ttl: 120 });
  });

  it("detects a cache that still holds a denial of a record that was added, and reports when it expires", async () => {
    const [zoneSoa = ""] = soa(6);
    const denial = { ...makeRecord("site.test", "SOA", zoneSoa), ttl: 170 };
    const unaware = await start({ answer: () => ({ status: "NXDOMAIN", answers: [], authority: [denial] }) });
    const bare = await start({ answer: () => ({ status: "NOERROR", answers: [], authority: [] }) });
    const result = await ask({ resolvers: [unaware, bare] });
    expect(result).toMatchObject({ verdict: "propagating", expected_in_s: 170 });
    expect(result.resolvers[0]).toMatchObject({ verdict: "stale", status: "NXDOMAIN", answers: [], ttl: 170 });
    expect(result.resolvers[1]).toMatchObject({ verdict: "stale", answers: [], ttl: null });
    // The TTL of the servers' own denial is not the remaining time of a cache.
    const gone = await ask({ domain: "gone.site.test", resolvers: [unaware] });
    expect(gone.authoritative?.servers.map(({ ttl }) => ttl)).toEqual([null, null]);
    expect(gone.resolvers[0]).toMatchObject({ verdict: "match", ttl: 170 });
  });

  it("recognizes a location's own answer by asking the domain's servers for clients of that network", async () => {
    const far = await start({ host: "127.0.9.1", answer: (name, type) => aged(name, type, "192.0.2.66", 90) });
    const result = await ask({ resolvers: [far] });
    expect(result).toMatchObject({ verdict: "geo", consistent: true, agreement_pct: 100 });
    expect(verdicts(result)).toEqual(["r0 geo", "own match"]);
    const there = { region: "far", country: null, city: null, status: "NOERROR", rtt_ms: 3 };
    const records = [{ type: "A", data: "192.0.2.66", ttl: 90 }];
    const probes = ["127.0.9.1#53", "127.0.8.1#53", "nobody"].map((server) => ({ ...there, server, records }));
    const elsewhere = await ask({ resolvers: [], input: { vantages: probes } });
    expect(verdicts(elsewhere)).toEqual(["own match", "agent-far geo", "agent-far-2 stale", "agent-far-3 stale"]);
  });

  it("shows servers of the domain that lag behind or are lame", async () => {
    const fresh = await start({ zones: NOW });
    const lagging = await ask({ resolvers: [fresh], second: { zones: zoneWith(6, ["198.51.100.1"]) } });
    expect(lagging.verdict).toBe("propagating");
    expect(lagging.authoritative).toMatchObject({ consistent: false, answers: ["192.0.2.1", "198.51.100.1"] });
    expect(lagging.authoritative?.serials.map(({ serial }) => serial)).toEqual([7, 6]);
    const lame = await ask({ resolvers: [fresh], second: { authoritative: false } });
    expect(lame.authoritative?.servers[1]).toMatchObject({ authoritative: false, error: "lame" });
    expect(lame.authoritative?.consistent).toBe(false);
  });

  it("follows an alias into the zone it leads to", async () => {
    const fresh = await start({ zones: NOW });
    const result = await ask({ domain: "alias.site.test", resolvers: [fresh], second: { answer: aliasAlone } });
    expect(result.authoritative).toMatchObject({
      zone: "other.test",
      name: "target.other.test",
      answers: ["192.0.2.9"],
    });
    expect(verdicts(result)).toEqual(["r0 match", "own match"]);
    expect(result.resolvers[0]?.cname_chain).toEqual(["target.other.test"]);
  });

  it("is broken, and not a failure of the check, if every resolver that answers fails", async () => {
    const failing = await start({ behaviours: { "*": { status: "SERVFAIL" } } });
    const setting = { dnsServers: [failing.address], data: dataOf([failing]) };
    const result = await resultOf(propagationOn(first.port), { domain: "www.site.test" }, setting);
    expect(verdicts(result)).toEqual(["r0 broken", "own broken"]);
    expect(result).toMatchObject({ verdict: "broken", consistent: false, agreement_pct: 0, authoritative: null });
  });

  it("names DNSSEC if a failing resolver answers with checking disabled", async () => {
    const validating = await start({
      answer: (name, type, { message }) =>
        message.flags.cd
          ? lookUp(NOW, name.toLowerCase(), type, false)
          : { status: "SERVFAIL", answers: [], authority: [] },
    });
    const fresh = await start({ zones: NOW });
    const result = await ask({ resolvers: [validating, fresh] });
    expect(result.verdict).toBe("broken_at_some");
    expect(result.resolvers[0]).toMatchObject({
      verdict: "broken",
      cause: "dnssec",
      recheck: { status: "SERVFAIL", unchecked_status: "NOERROR" },
    });
    expect(result.failures).toMatchObject([{ cause: "dnssec", resolvers: ["r0"] }]);
    // The domain's servers are found anyway, although this probe's own resolver validates.
    const all = await resultOf(
      propagationOn(first.port),
      { domain: "www.site.test" },
      { dnsServers: [validating.address], data: { resolvers: [] } },
    );
    expect(all).toMatchObject({ verdict: "broken", authoritative: { answers: ["192.0.2.1"] } });
  });

  it("counts other probes' answers, and does not count resolvers that do not answer", async () => {
    const silent = await start({ behaviours: { "*": { drop: true } } });
    const refusing = await start({ behaviours: { "*": { status: "REFUSED" } } });
    const cutting = await start({ zones: NOW, behaviours: { "*": { truncate: true, dropOver: "tcp" } } });
    const vantage = (region: string, data: string) => {
      const there = { region, country: "DE", city: null, server: "127.0.8.1#53", rtt_ms: 3 };
      return { ...there, status: "NOERROR", records: [{ type: "A", data, ttl: 10 }] };
    };
    const ede = [{ code: 7, text: "signature expired" }];
    const failing = { ...vantage("ap", ""), status: "SERVFAIL", records: [], ede };
    const input = { vantages: [vantage("eu", "192.0.2.1"), vantage("us", "198.51.100.9"), failing] };
    const result = await ask({ resolvers: [silent, refusing, cutting], input });
    const [r0, r1, r2, ...others] = verdicts(result);
    expect([r0, r1, r2]).toEqual(["r0 error", "r1 broken", "r2 error"]);
    expect(others).toEqual(["own match", "agent-eu match", "agent-us stale", "agent-ap broken"]);
    expect(result.resolvers.slice(0, 3).map(({ error }) => error)).toEqual(["timeout", "refused", "truncated"]);
    // Five resolvers answered. Two that fail and one that is stale are not current.
    expect(result).toMatchObject({ verdict: "broken_at_some", agreement_pct: 40, consistent: false });
    expect(result.failures).toMatchObject([
      { cause: "refused", resolvers: ["r1"] },
      { cause: "dnssec", resolvers: ["agent-ap"], detail: expect.stringContaining("(EDE 7)") as string },
    ]);
  });

  it("keeps the letter case of texts and reports names that do not exist", async () => {
    const fresh = await start({ zones: NOW });
    const text = await ask({ domain: "text.site.test", type: "TXT", resolvers: [fresh] });
    expect(text.authoritative?.answers).toEqual(['"v=Case"']);
    const gone = await ask({ domain: "gone.site.test", resolvers: [fresh] });
    expect(gone).toMatchObject({ verdict: "propagated", authoritative: { status: "NXDOMAIN", answers: [] } });
    expect(gone.distinct_answers).toMatchObject([{ status: "NXDOMAIN", count: 2 }]);
  });

  it("is a failure only if no resolver and no server answers", async () => {
    const { outcome } = await runTool(
      propagationOn(first.port),
      { domain: "www.site.test" },
      { dnsServers: ["127.0.0.1:9"], data: { resolvers: [] } },
    );
    expect(outcome).toMatchObject({ status: "failed", stage: "dns", source: "resolver", reason: "no_answer" });
  });

  it("reads only as much of a hostile answer as it shows", async () => {
    const many = Array.from({ length: 200 }, (_, at) => `"${String(at).padStart(3, "0")}${"x".repeat(200)}"`);
    const flood = await start({ zones: { "text.site.test": { TXT: many } } });
    const result = await ask({ domain: "text.site.test", type: "TXT", resolvers: [flood, flood, flood] });
    expect(result.resolvers[0]?.answers).toHaveLength(60);
    expect(JSON.stringify(result).length).toBeLessThan(256_000);
  });
});
