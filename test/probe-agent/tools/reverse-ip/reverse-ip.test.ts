import { Value } from "typebox/value";
import { afterEach, describe, expect, it } from "vitest";
import { createEgress, NO_ALLOW_LISTS, type Egress } from "#shared/internet/egress.ts";
import type { Outcome } from "#shared/contracts/outcome.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { reverseIp as contract } from "#shared/tools/reverse-ip/contract.ts";
import { createHttp } from "#probe-agent/net/http.ts";
import { createTls } from "#probe-agent/net/tls.ts";
import { reverseIp } from "#probe-agent/tools/reverse-ip/reverse-ip.ts";
import type { JobInput } from "#probe-agent/tools/implement.ts";
import { startDnsServer } from "#test/servers/dns.ts";
import { startHttpServer } from "#test/servers/http.ts";
import { createPki } from "#test/servers/pki.ts";
import { startTlsServer } from "#test/servers/tls.ts";
import { systemClock, systemRandom } from "#test/support/clock.ts";
import { dnsPort, jobLimits, loopbackEgress, netOf } from "#test/support/net.ts";
import { testServices } from "#test/support/services.ts";
import { builtInData } from "#test/support/tool.ts";
import { endsBy } from "#test/support/deadlines.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

type Result = ResultOf<typeof contract>;

let rows: (path: string) => string | number = () => 404;

const NOW = "2024-11-21T10:00:00.000Z";

const many = Object.fromEntries(
  Array.from({ length: 300 }, (_, n) => [`n${n}.many${n}.example.com`, { A: ["127.0.0.1"] }]),
);
const names = await stopAfterAll(
  startDnsServer({
    zones: {
      "1.0.0.127.in-addr.arpa": { PTR: ["host.example.net.", "Liar.example.org."] },
      "host.example.net": { A: ["127.0.0.1", "127.0.0.2"] },
      "liar.example.org": { A: ["127.0.0.9"] },
      "shop.example.com": { A: ["127.0.0.1"] },
      "moved.example.com": { A: ["192.0.2.1"] },
      "inside.example.com": { A: ["10.0.0.1"] },
      "xn--bcher-kva.example": { A: ["127.0.0.1"] },
      "old.example.net": { A: ["127.0.0.1"] },
      "broken.example.com": {},
      ...many,
    },
    behaviours: { "broken.example.com": { status: "SERVFAIL" }, "slow.example.com": { drop: true } },
  }),
);
const pki = await createPki();
const leaf = await pki.issue({ dns: ["shop.example.com", "*.example.com", "moved.example.com", "SHOP.example.com"] });
const site = await stopAfterAll(startTlsServer({ chain: [leaf, pki.intermediate] }));
const provider = await stopAfterAll(
  startHttpServer({
    handler: (_request, response, { path }) => {
      const answer = rows(path);
      if (typeof answer === "number") response.writeHead(answer).end();
      else response.end(answer);
      return true;
    },
  }),
);

afterEach(() => {
  rows = () => 404;
});

interface Setting {
  readonly input?: JobInput;
  readonly pdns?: boolean;
  readonly port?: number;
  readonly egress?: Egress;
  readonly timeoutMs?: number;
}

async function run(ip: string, setting: Setting = {}): Promise<Outcome<Result>> {
  const egress = setting.egress ?? loopbackEgress;
  const limits = { ...jobLimits(setting.timeoutMs ?? 15_000), now: () => new Date(NOW) };
  const dns = dnsPort([names.address], { egress, limits });
  const http = createHttp({ clock: systemClock, egress, userAgent: "Vantage/test" })(limits, dns);
  const tls = createTls({ clock: systemClock, random: systemRandom, egress })(limits);
  const asked: (number | string | null)[] = [];
  const net = netOf(
    {
      dns,
      http,
      // Port 443 is reserved for root on this system, so the test's server uses another port.
      tls: {
        ...tls,
        inspect(request) {
          asked.push(request.port, request.servername);
          return tls.inspect({ ...request, port: setting.port ?? site.port });
        },
      },
      services: testServices(setting.pdns === true ? { pdnsUrl: `${provider.url}/pdns/query` } : {}),
      data: builtInData(),
    },
    limits,
  );
  const outcome = await reverseIp.run(net, { ip }, setting.input);
  if (asked.length > 0) expect(asked).toEqual([443, null]);
  return outcome;
}

async function look(ip: string, setting: Setting = {}): Promise<Result> {
  const outcome = await run(ip, setting);
  if (outcome.status !== "ok") throw new Error(JSON.stringify(outcome));
  expect(Array.from(Value.Errors(contract.result, outcome.data))).toEqual([]);
  expect(Buffer.byteLength(JSON.stringify(outcome))).toBeLessThan(256 * 1024);
  return outcome.data;
}

const seen = (host: string, first = "2024-01-01T00:00:00.000Z", last = "2024-02-01T00:00:00.000Z") => ({
  host,
  first_seen: first,
  last_seen: last,
});

describe("an address", () => {
  it("is reported from reverse DNS, its certificate, observations and passive DNS together", async () => {
    const row = (rrname: string, rdata: string | readonly string[], more: object = {}) =>
      JSON.stringify({ rrname, rrtype: "A", rdata, ...more });
    const listed = [
      row("old.example.net.", "127.0.0.1", { time_first: 1_600_000_000, time_last: 1_650_000_000, count: 3 }),
      row("shop.example.com", ["192.0.2.1", "127.0.0.1"], { time_first: "1500000000", time_last: 1_700_000_000 }),
      row("other.example.net", "192.0.2.1"),
      row("text.example.net", "127.0.0.1", { rrtype: "TXT" }),
    ];
    rows = (path) => (path === "/pdns/query/127.0.0.1" ? listed.join("\n") : 500);
    const input = { observations: [seen("shop.example.com"), seen("moved.example.com"), seen("bücher.example")] };
    const found = await look("127.0.0.1", { input, pdns: true });
    const { elapsed_ms: _elapsed, limitations, certificate, domains, ...result } = found;
    expect(
      domains.map((one) => [one.domain, one.sources.join(), one.first_seen, one.last_seen, one.still_resolves]),
    ).toEqual([
      ["host.example.net", "ptr", null, NOW, true],
      ["old.example.net", "provider", "2020-09-13T12:26:40.000Z", NOW, true],
      ["shop.example.com", "observation,certificate,provider", "2017-07-14T02:40:00.000Z", NOW, true],
      ["xn--bcher-kva.example", "observation", "2024-01-01T00:00:00.000Z", NOW, true],
      ["*.example.com", "certificate", null, null, null],
      ["liar.example.org", "ptr", null, null, false],
      ["moved.example.com", "observation,certificate", "2024-01-01T00:00:00.000Z", "2024-02-01T00:00:00.000Z", false],
    ]);
    for (const { source, sources } of domains) expect(source).toBe(sources[0]);
    expect(result).toEqual({
      ip: "127.0.0.1",
      ip_version: 4,
      ptr: ["host.example.net", "Liar.example.org"],
      fcrdns: true,
      total: 7,
      registrable_domains: 3,
      sources_used: ["ptr", "observation", "certificate", "provider"],
      complete: false,
      shared_hosting_hint: false,
      cdn: null,
      source: ["dns", "tls", "passive_dns"],
      observed_at: NOW,
    });
    expect(certificate).toMatchObject({ names: 4 });
    expect(limitations).toEqual([
      "No source knows every name that resolves to an address, so the list is never complete.",
    ]);
  });

  it("for which no source has a name has no names and no hint", async () => {
    const result = await look("127.0.0.77", { port: 9 });
    expect(result).toMatchObject({
      ptr: [],
      fcrdns: null,
      domains: [],
      total: 0,
      shared_hosting_hint: null,
      sources_used: [],
      certificate: null,
      complete: false,
    });
    expect(result.limitations.join(" ")).toMatch(
      /never complete.*Port 443 sent no certificate \(refused\).*not configured a service/,
    );
  });

  it("that the rules refuse is refused, and only an address is accepted", async () => {
    expect(await run("127.0.0.1", { egress: createEgress(NO_ALLOW_LISTS) })).toEqual({ status: "refused" });
    for (const ip of ["example.com", "1.2.3", "127.1", "::1%lo"])
      expect(await run(ip)).toMatchObject({ status: "invalid", field: "ip" });
  });

  it("can be IPv6", async () => {
    expect(await look("2001:DB8:0::1", { port: 9, timeoutMs: 4000 })).toMatchObject({
      ip: "2001:db8::1",
      ip_version: 6,
    });
  });
});

describe("names from sources", () => {
  it("resolve to the address, to another one (as internal addresses are), or not at all", async () => {
    const hosts = [
      "shop.example.com",
      "moved.example.com",
      "inside.example.com",
      "absent.example.com",
      "broken.example.com",
    ];
    const result = await look("127.0.0.1", { port: 9, input: { observations: hosts.map((host) => seen(host)) } });
    const verdicts = Object.fromEntries(result.domains.map(({ domain, still_resolves }) => [domain, still_resolves]));
    expect(verdicts).toMatchObject({
      "shop.example.com": true,
      "moved.example.com": false,
      "inside.example.com": false,
      "absent.example.com": false,
      "broken.example.com": null,
    });
  });

  it("of many customers hint at shared hosting", async () => {
    const observations = Array.from({ length: 300 }, (_, n) => seen(`n${n}.many${n}.example.com`));
    expect((await look("127.0.0.1", { port: 9, input: { observations } })).shared_hosting_hint).toBe(false);
    const domains = ["a.test", "b.test", "c.test", "d.test", "e.github.io", "f.github.io"].map((host) => seen(host));
    const result = await look("127.0.0.1", { port: 9, input: { observations: domains } });
    // None of them resolves to this address any more.
    expect(result).toMatchObject({ registrable_domains: 1, shared_hosting_hint: false });
  });

  it("are looked up up to a limit, and the result says that the rest is not", async () => {
    const observations = Array.from({ length: 300 }, (_, n) => seen(`n${n}.many${n}.example.com`));
    const before = names.queries.length;
    const result = await look("127.0.0.1", { port: 9, input: { observations } });
    expect(result.domains.filter((row) => row.still_resolves === true).length).toBeGreaterThan(100);
    expect(result.limitations.join(" ")).toContain("names were not looked up again");
    // One question for each name, then reverse DNS.
    expect(names.queries.length - before).toBeLessThan(300);
  });

  it("are looked up within a time limit", async () => {
    const observations = Array.from({ length: 100 }, (_, n) =>
      seen(n % 2 === 0 ? "slow.example.com" : `x${n}.slow.example.com`),
    );
    const result = await endsBy(3000, () => look("127.0.0.1", { port: 9, timeoutMs: 3000, input: { observations } }));
    expect(result.total).toBeGreaterThan(50);
  });

  it("that are not host names are left out, and so are times that are none", async () => {
    const observations = ["a b.test", "ok.test"].map((host) => seen(host, "x", "y"));
    const { domains } = await look("127.0.0.77", { port: 9, input: { observations } });
    expect(domains).toMatchObject([{ domain: "ok.test", first_seen: null, last_seen: null }]);
  });

  it("that do not have the form of an input are ignored", async () => {
    for (const input of [
      {},
      { observations: "x" },
      { observations: [{ host: 7 }] },
      { observations: Array.from({ length: 501 }, () => seen("a.test")) },
    ]) {
      expect((await look("127.0.0.77", { port: 9, input })).total).toBe(0);
    }
  });
});

describe("passive DNS", () => {
  const row = (n: number) =>
    JSON.stringify({ rrname: `p${n}.test`, rrtype: "A", rdata: "127.0.0.77", time_last: 1_700_000_000 });

  it.each<[string, string | number, string]>([
    ["an error", 500, "status 500"],
    ["a web page", "<html>\n<body>", "cannot be read"],
    ["a flood", `${row(1)}\n`.repeat(60_000), "more than the size limit allows"],
  ])("with %s is a limitation", async (_, answer, words) => {
    rows = () => answer;
    expect((await look("127.0.0.77", { port: 9, pdns: true })).limitations.join(" ")).toContain(words);
  });

  it("that has no names is not a limitation", async () => {
    rows = () => 404;
    const { limitations } = await look("127.0.0.77", { port: 9, pdns: true });
    expect(limitations.join(" ")).not.toContain("Passive");
  });

  it("with very many names is cut to the size of a result", async () => {
    rows = () => Array.from({ length: 3000 }, (_, n) => row(n)).join("\n");
    const result = await look("127.0.0.77", { port: 9, pdns: true });
    expect(result.domains).toHaveLength(500);
    expect(result.total).toBe(2000);
    expect(result.limitations.join(" ")).toContain("Only the first 500 of 2000");
    // A name that was not looked up may still resolve to this address.
    expect(result.shared_hosting_hint).toBe(true);
  });
});
