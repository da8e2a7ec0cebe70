import { Compile } from "typebox/compile";
import { describe, expect, it } from "vitest";
import { dns as contract } from "#shared/tools/dns/contract.ts";
import type { ParamsOf, ResultOf } from "#shared/tools/define.ts";
import { dns } from "#probe-agent/tools/dns/dns.ts";
import { startDnsServer, type DnsServerOptions } from "#test/servers/dns.ts";
import { compressionLoop, garbage, lyingCounts } from "#test/servers/dns-zones.ts";
import { dnsPort, jobLimits, netOf } from "#test/support/net.ts";
import { endsBy } from "#test/support/deadlines.ts";
import { closeAfterEach } from "#test/support/close-after-each.ts";

type Result = ResultOf<typeof contract>;
const schema = Compile(contract.result);
const ALL = ["A", "AAAA", "MX", "NS", "TXT", "CNAME", "SOA"] as const;
const SOA = "ns1.example.test. hostmaster.example.test. 7 3600 600 86400 300";
const ZONES = {
  "example.test": {
    SOA: [SOA],
    NS: ["ns2.example.test.", "ns1.example.test."],
    A: ["192.0.2.1", "192.0.2.2"],
    AAAA: ["2001:db8::1"],
    MX: ["10 mail.example.test.", "20 Backup.example.test."],
    TXT: ['"v=spf1 " "-all"', '"caf\\195\\169 \\255"'],
  },
  "nomail.example.test": { MX: ["0 ."], TXT: ['""'] },
  "www.example.test": { CNAME: ["web.example.test."] },
  "web.example.test": { CNAME: ["example.test."] },
  "one.example.test": { CNAME: ["other.example.test."] },
  "other.example.test": { CNAME: ["one.example.test."] },
  "huge.example.test": {
    TXT: Array.from({ length: 200 }, (_, index) => `"${"\\001".repeat(200)}${index}"`),
  },
};

const keep = closeAfterEach();

async function run(
  params: Partial<ParamsOf<typeof contract>> = {},
  options: DnsServerOptions = {},
  deadlineMs = 10_000,
) {
  const server = keep(await startDnsServer({ zones: ZONES, ...options }));
  const limits = jobLimits(deadlineMs);
  const net = netOf({ dns: dnsPort([server.address], { limits }) }, limits);
  const outcome = await dns.run(net, { domain: "example.test", types: ALL, dnssec: false, ...params });
  if (outcome.status !== "ok") throw new Error(`the dns tool never fails, but: ${JSON.stringify(outcome)}`);
  expect([...schema.Errors(outcome.data)]).toEqual([]);
  expect(JSON.parse(JSON.stringify(outcome.data))).toEqual(outcome.data);
  return { data: outcome.data, net, server };
}

function ofType(data: Result, type: string): Result["results"][number] {
  const found = data.results.find((result) => result.type === type);
  if (found === undefined) throw new Error(`no ${type} in the result`);
  return found;
}

describe("the dns tool", () => {
  it("answers for all seven types with data, fields and groups", async () => {
    const { data, net } = await run();
    expect(data).toMatchObject({ domain: "example.test", ascii: "example.test", registrable_domain: "example.test" });
    expect(data.results.map(({ type }) => type)).toEqual(ALL);
    expect(data.records).toEqual({
      A: ["192.0.2.1", "192.0.2.2"],
      AAAA: ["2001:db8::1"],
      MX: ["10 mail.example.test.", "20 Backup.example.test."],
      NS: ["ns2.example.test.", "ns1.example.test."],
      TXT: ['"v=spf1 " "-all"', '"caf\\195\\169 \\255"'],
      CNAME: [],
      SOA: [SOA],
    });
    expect(ofType(data, "MX").records[0]).toEqual({
      name: "example.test",
      ttl: 300,
      type: "MX",
      data: "10 mail.example.test.",
      preference: 10,
      exchange: "mail.example.test",
    });
    expect(ofType(data, "SOA").records[0]).toMatchObject({ mname: "ns1.example.test", serial: 7, minimum: 300 });
    expect(ofType(data, "TXT").records[0]).toMatchObject({ strings: ["v=spf1 ", "-all"], text: "v=spf1 -all" });
    expect(data).toMatchObject({ dnssec: null, limitations: [] });
    expect(net.events.map(({ kind }) => kind)).toEqual(ALL.map(() => "answer"));
  });

  it("distinguishes a name without records from a name that does not exist, with the zone's SOA", async () => {
    const { data } = await run();
    const none = ofType(data, "CNAME");
    expect(none).toMatchObject({ status: "NOERROR", records: [], authority_soa: { serial: 7, name: "example.test" } });
    const absent = await run({ domain: "nope.example.test", types: ["A"] });
    expect(ofType(absent.data, "A")).toMatchObject({ status: "NXDOMAIN", records: [], authority_soa: { serial: 7 } });
    expect(absent.data.registrable_domain).toBe("example.test");
  });

  it("keeps null MX, empty text and octets that are not text", async () => {
    const { data } = await run({ domain: "nomail.example.test", types: ["MX", "TXT"] });
    expect(data.records).toEqual({ MX: ["0 ."], TXT: ['""'] });
    expect(ofType(data, "MX").records[0]).toMatchObject({ preference: 0, exchange: "." });
    const odd = await run({ types: ["TXT"] });
    expect(ofType(odd.data, "TXT").records[1]).toMatchObject({ text: "caf\u00c3\u00a9 \u00ff" });
  });

  it("follows aliases and lists them", async () => {
    const { data } = await run({ domain: "www.example.test", types: ["A", "CNAME"] });
    expect(ofType(data, "A").cname_chain).toEqual(["web.example.test", "example.test"]);
    expect(ofType(data, "A").records.map(({ name, address }) => [name, address])).toEqual([
      ["example.test", "192.0.2.1"],
      ["example.test", "192.0.2.2"],
    ]);
    expect(data.records.CNAME).toEqual(["web.example.test."]);
  });

  it("ends at a circle of aliases and reports it", async () => {
    const { data } = await run({ domain: "one.example.test", types: ["A"] });
    expect(ofType(data, "A")).toMatchObject({ records: [], cname_chain: ["other.example.test", "one.example.test"] });
    expect(data.limitations).toEqual(["A: the aliases (CNAME) lead in a circle"]);
  });

  it("finds the circle behind a resolver that only fails, and sends no more questions if there is no circle", async () => {
    const failing = { "one.example.test/A": { status: "SERVFAIL" }, "example.test/A": { status: "SERVFAIL" } };
    const circle = await run({ domain: "one.example.test", types: ["A"] }, { behaviours: failing });
    expect(ofType(circle.data, "A")).toMatchObject({ status: "SERVFAIL", records: [] });
    expect(circle.data.limitations).toEqual([
      "A: the aliases (CNAME) lead in a circle: one.example.test, other.example.test, one.example.test",
    ]);
    const plain = await run({ types: ["A", "MX"] }, { behaviours: failing });
    expect(plain.data.limitations).toEqual([]);
    expect(plain.server.queries.filter(({ type }) => type === "CNAME")).toHaveLength(1);
  });

  it("stops following a chain of aliases that never ends", async () => {
    const zones = Object.fromEntries(
      Array.from({ length: 40 }, (_, index) => [`n${index}.example.test`, { CNAME: [`n${index + 1}.example.test.`] }]),
    );
    const behaviours = { "n0.example.test/A": { status: "SERVFAIL" } };
    const { data, server } = await run({ domain: "n0.example.test", types: ["A"] }, { zones, behaviours });
    expect(data.limitations).toEqual([]);
    expect(server.queries.length).toBeLessThan(20);
  });

  it("shows an international name in Unicode and as A-labels", async () => {
    const zones = { "xn--bcher-kva.test": { A: ["192.0.2.1"] } };
    const { data } = await run({ domain: "xn--bcher-kva.test", types: ["A"] }, { zones });
    expect(data).toMatchObject({
      domain: "b\u00fccher.test",
      ascii: "xn--bcher-kva.test",
      records: { A: ["192.0.2.1"] },
    });
    const odd = await run({ domain: "xn--zz.test", types: ["A"] }, { zones });
    expect(odd.data).toMatchObject({ domain: "xn--zz.test", ascii: "xn--zz.test" });
  });

  it("looks up public suffixes and the root", async () => {
    const zones = { ".": { NS: ["a.root-servers.net."] }, test: { NS: ["a.nic.test."] } };
    const root = await run({ domain: ".", types: ["NS"] }, { zones });
    expect(root.data).toMatchObject({
      domain: ".",
      ascii: ".",
      registrable_domain: null,
      records: { NS: ["a.root-servers.net."] },
    });
    const suffix = await run({ domain: "test", types: ["NS"] }, { zones });
    expect(suffix.data).toMatchObject({ registrable_domain: null, records: { NS: ["a.nic.test."] } });
  });

  it.each(["SERVFAIL", "NXDOMAIN"])("reports %s with the resolver's reasons", async (status) => {
    const behaviours = { "*": { status, ede: [{ code: 22, text: "at delegation" }] } };
    const { data } = await run({ types: ["A"] }, { behaviours });
    expect(ofType(data, "A")).toMatchObject({
      status,
      ede: [{ code: 22, name: "No Reachable Authority", text: "at delegation" }],
    });
  });

  it("reports TIMEOUT for the types that a resolver does not answer, and the answers for the others", async () => {
    const { data } = await run({ types: ["A", "MX"] }, { behaviours: { "example.test/MX": { drop: true } } }, 600);
    expect(ofType(data, "MX")).toMatchObject({ status: "TIMEOUT", rtt_ms: null, records: [] });
    expect(ofType(data, "A")).toMatchObject({ status: "NOERROR" });
    expect(data.records).toEqual({ A: ["192.0.2.1", "192.0.2.2"], MX: [] });
  });

  it("keeps to the job's deadline", async () => {
    const server = keep(await startDnsServer({ behaviours: { "*": { drop: true } } }));
    const limits = jobLimits(400);
    const net = netOf({ dns: dnsPort([server.address], { limits }) }, limits);
    const outcome = await endsBy(400, () => dns.run(net, { domain: "example.test", types: ALL, dnssec: true }));
    expect(outcome).toMatchObject({ status: "ok", data: { dnssec: { status: "indeterminate", validated_by: null } } });
  });

  it.each([
    ["a compression loop", compressionLoop],
    ["lying counts", lyingCounts],
    ["garbage", garbage],
  ])("reports %s as the server's failure", async (_what, rewrite) => {
    const { data } = await run({ types: ["A"] }, { behaviours: { "*": { rewrite } } });
    expect(ofType(data, "A")).toMatchObject({ status: "SERVFAIL", records: [] });
    expect(data.limitations).toEqual(["A: the resolver's answer is not a readable DNS message"]);
  });

  it("reports the transport of a long answer, and whether it stayed truncated", async () => {
    const long = await run({ types: ["TXT"] }, { behaviours: { "*": { truncate: true } } });
    expect(ofType(long.data, "TXT")).toMatchObject({ transport: "tcp", flags: { tc: false } });
    const cut = await run({ types: ["A"] }, { behaviours: { "*": { truncate: true, rewrite: tcpOnlySilence } } }, 600);
    expect(ofType(cut.data, "A")).toMatchObject({ transport: "udp", flags: { tc: true } });
    expect(cut.data.limitations).toEqual(["A: the answer was truncated and could not be fetched over TCP"]);
  });

  it("shortens data that is too large for a result and says so", async () => {
    const { data } = await run({ domain: "huge.example.test" });
    expect(JSON.stringify(data).length).toBeLessThan(256_000);
    const shown = ofType(data, "TXT").records.length;
    expect(shown).toBeGreaterThan(20);
    expect(data.limitations).toEqual([`TXT: the first ${shown} of 200 records are shown`]);
  });
});

/** Lets only truncated answers out. TCP does not answer. */
function tcpOnlySilence(reply: Uint8Array): Uint8Array | null {
  return ((reply[2] ?? 0) & 2) === 0 ? null : reply;
}

describe("several locations", () => {
  const across = contract.across;

  it("agree when their data is the same in any order", async () => {
    const zones = { "example.test": { ...ZONES["example.test"], A: ["192.0.2.2", "192.0.2.1"] } };
    const [one, same] = [(await run()).data, (await run({}, { zones })).data];
    expect(across?.agreeOn(same)).toEqual(across?.agreeOn(one));
    expect(across?.measure(one)["rtt_ms"]).toBeGreaterThan(0);
  });

  it("differ when one has other data or no answer", async () => {
    const zones = { "example.test": { ...ZONES["example.test"], A: ["192.0.2.3"] } };
    const one = (await run({ types: ["A"] })).data;
    expect(across?.agreeOn((await run({ types: ["A"] }, { zones })).data)).not.toEqual(across?.agreeOn(one));
    const silent = (await run({ types: ["A"] }, { behaviours: { "*": { drop: true } } }, 600)).data;
    expect(across?.agreeOn(silent)).not.toEqual(across?.agreeOn(one));
    expect(across?.measure(silent)).toEqual({ rtt_ms: null });
  });
});
