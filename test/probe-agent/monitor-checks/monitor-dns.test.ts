import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { Value } from "typebox/value";
import { dns as dnsContract } from "#shared/tools/dns/contract.ts";
import { monitorDns } from "#probe-agent/monitor-checks/monitor-dns.ts";
import { startDnsServer, type DnsServer, type DnsServerOptions } from "#test/servers/dns.ts";
import { failureOf } from "#test/support/http-engine.ts";
import { runMonitor, verdictOf } from "#test/support/monitor-check.ts";

const SIGNATURE = "13 2 300 20300101000000 20250101000000 4711 example.test. AAAA";
const ZONES = {
  "example.test": {
    SOA: ["ns1.example.test. hostmaster.example.test. 2026030401 7200 3600 1209600 300"],
    A: ["192.0.2.1", "192.0.2.2"],
    AAAA: ["2001:db8::1"],
    MX: ["10 mail.example.test.", "20 backup.example.test."],
    NS: ["ns1.example.test.", "ns2.example.test."],
    TXT: ['"v=spf1 " "-all"', '"grüße"'],
    CAA: ['0 issue "letsencrypt.org"'],
  },
  "www.example.test": { CNAME: ["example.test."] },
  "_sip._tcp.example.test": { SRV: ["10 60 5060 sip.example.test."] },
  "empty.example.test": { TXT: ['"only text"'] },
  "loop.example.test": { CNAME: ["pool.example.test."] },
  "pool.example.test": { CNAME: ["loop.example.test."] },
};

let names: DnsServer;
const open: DnsServer[] = [];
beforeAll(async () => {
  names = await startDnsServer({ zones: ZONES });
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});
afterAll(() => names.close());

const check = (given: Readonly<Record<string, unknown>>) =>
  verdictOf(monitorDns, { domain: "example.test", ...given }, { dnsServers: [names.address] });

async function at(options: DnsServerOptions, given: Readonly<Record<string, unknown>> = {}) {
  const server = await startDnsServer(options);
  open.push(server);
  const params = { domain: "example.test", timeout_seconds: 2, ...given };
  return { server, outcome: await runMonitor(monitorDns, params, { dnsServers: [server.address] }) };
}

const faultAt = async (...given: Parameters<typeof at>) => {
  const { outcome } = await at(...given);
  return outcome.status === "ok" ? outcome.data.fault : failureOf(outcome);
};

describe("a name with the expected records", () => {
  it("is up, with the round trip of the query and without the whole result", async () => {
    const { response_ms: time, elapsed_ms: _, ...rest } = await check({});
    const answer = { verdict: "up", http_status: null, fault: null, phases: null, certificate_fingerprint: null };
    expect(rest).toEqual({ ...answer, whole: null });
    expect(time).toBeGreaterThan(0);
  });

  it.each([
    ["A", "equals", ["192.0.2.2", "192.0.2.1"]],
    ["A", "contains", ["192.0.2.1"]],
    ["A", "not_contains", ["192.0.2.3"]],
    ["AAAA", "equals", ["2001:0DB8:0:0::0001"]],
    ["MX", "equals", ["20 BACKUP.example.test", "10 mail.example.test."]],
    ["NS", "contains", ["NS2.Example.Test."]],
    ["TXT", "contains", ["v=spf1 -all"]],
    ["TXT", "contains", ['"v=spf1" " -all"']],
    ["TXT", "contains", ["grüße"]],
    ["TXT", "contains", ["v=spf1", "spf1 -all", "üß"]],
    ["TXT", "not_contains", ["-all grüße", "+all"]],
    ["CAA", "equals", ["0 ISSUE letsencrypt.org"]],
    ["SOA", "contains", ["ns1.example.test. hostmaster.example.test. 2026030401 7200 3600 1209600 300"]],
    ["MX", "not_contains", ["30 mail.example.test."]],
  ])("is up: %s %s %j", async (type, op, values) => {
    expect(await check({ type, op, values })).toMatchObject({ verdict: "up" });
  });

  it("is up through aliases, and for a service", async () => {
    expect(await check({ domain: "www.example.test", op: "contains", values: ["192.0.2.1"] })).toMatchObject({
      verdict: "up",
    });
    expect(
      await check({ domain: "www.example.test", type: "CNAME", op: "equals", values: ["example.test"] }),
    ).toMatchObject({ verdict: "up" });
    const service = {
      domain: "_sip._tcp.example.test",
      type: "SRV",
      op: "equals",
      values: ["10 60 5060 SIP.example.test"],
    };
    expect(await check(service)).toMatchObject({ verdict: "up" });
  });
});

describe("a name with other records", () => {
  it.each([
    ["A", "equals", ["192.0.2.1"], "records_differ", "A of example.test is 192.0.2.1, 192.0.2.2, expected 192.0.2.1"],
    ["A", "contains", ["192.0.2.9"], "record_missing", "A of example.test is 192.0.2.1, 192.0.2.2, without 192.0.2.9"],
    ["A", "not_contains", ["192.0.2.2"], "record_present", "A of example.test contains 192.0.2.2"],
    ["MX", "contains", ["10 other.example.test"], "record_missing", expect.stringContaining("10 other.example.test.")],
    ["TXT", "contains", ["V=SPF1 -all"], "record_missing", expect.any(String)],
    ["TXT", "contains", ["v=spf1", "+all"], "record_missing", expect.stringMatching(/, without \+all$/)],
    ["TXT", "not_contains", ["spf1"], "record_present", "TXT of example.test contains spf1"],
    ["TXT", "equals", ["v=spf1", "grüße"], "records_differ", expect.any(String)],
    ["AAAA", "contains", ["not an address"], "record_missing", expect.stringContaining("not an address")],
  ])("is down: %s %s %j: %s", async (type, op, values, reason, message) => {
    expect(await check({ type, op, values })).toMatchObject({
      verdict: "down",
      fault: { stage: "dns", reason, message },
    });
  });

  it("is down without any record, unless none of the values may be there", async () => {
    const domain = "empty.example.test";
    expect(await check({ domain })).toMatchObject({
      fault: { reason: "no_records", message: "there is no A record of empty.example.test" },
    });
    expect(await check({ domain, op: "equals", values: ["192.0.2.1"] })).toMatchObject({
      fault: { message: "there is no A record of empty.example.test, expected 192.0.2.1" },
    });
    expect(await check({ domain, op: "not_contains", values: ["192.0.2.1"] })).toMatchObject({ verdict: "up" });
    expect(await check({ domain, op: "equals", values: [] })).toMatchObject({ verdict: "up" });
  });

  it("is down if it does not exist, or if its aliases lead in a circle", async () => {
    expect(await check({ domain: "absent.example.test" })).toMatchObject({
      fault: { reason: "nxdomain", message: "NXDOMAIN for absent.example.test: the name does not exist" },
    });
    expect(await check({ domain: "loop.example.test" })).toMatchObject({ fault: { reason: "alias_loop" } });
  });

  it("is described in bounded, printable text", async () => {
    const many = Array.from({ length: 60 }, (_, index) => `"\\013\\010${String(index).repeat(60)}"`);
    const fault = await faultAt(
      { zones: { "example.test": { TXT: many } } },
      { type: "TXT", op: "equals", values: ["x"] },
    );
    const { message } = fault as { message: string };
    expect(message.length).toBeLessThanOrEqual(500);
    // oxlint-disable-next-line no-control-regex -- the expression searches for control characters
    expect(message).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
    expect(message).toContain("and 57 more");
  });
});

describe("a resolver", () => {
  it.each([
    ["does not answer", { drop: true } as const, "dns/resolver/timeout"],
    ["fails with and without validation", { status: "SERVFAIL" }, "dns/resolver/servfail"],
    ["refuses", { status: "REFUSED" }, "dns/resolver/refused"],
    [
      "truncates its answer over UDP and is silent over TCP",
      { truncate: true, dropOver: "tcp", drop: true } as const,
      "dns/resolver/timeout",
    ],
  ])("that %s is a failure", async (_what, behaviour, expected) => {
    expect(await faultAt({ zones: ZONES, behaviours: { "*": behaviour } }, { timeout_seconds: 1 })).toBe(expected);
  });
});

describe("DNSSEC", () => {
  const SIGNED = { "example.test": { ...ZONES["example.test"], RRSIG: [`A ${SIGNATURE}`] } };
  const bogus = { status: "SERVFAIL", unlessChecked: true, ede: [{ code: 7, text: "expired" }] };

  it("is down for data that fails validation, with the reason", async () => {
    const fault = await faultAt({ zones: SIGNED, behaviours: { "*": bogus } });
    expect(fault).toMatchObject({ stage: "dns", reason: "dnssec_bogus" });
    expect((fault as { message: string }).message).toContain("Signature Expired");
  });

  it("is ignored if the monitor ignores it", async () => {
    expect(await faultAt({ zones: SIGNED, behaviours: { "*": bogus } }, { dnssec: "ignore" })).toBeNull();
  });

  it("is not needed for unsigned data, which costs one query", async () => {
    const { server, outcome } = await at({ zones: ZONES });
    expect(outcome).toMatchObject({ status: "ok", data: { verdict: "up" } });
    expect(server.queries).toHaveLength(1);
  });

  it("is confirmed by a validating resolver with one query", async () => {
    const { server, outcome } = await at(
      { zones: SIGNED, behaviours: { "*": { authentic: true } } },
      { dnssec: "secure" },
    );
    expect(outcome).toMatchObject({ status: "ok", data: { verdict: "up" } });
    expect(server.queries).toHaveLength(1);
  });

  it("is down for unsigned data that must be secure, and unknown where nobody can validate", async () => {
    const root = {
      ".": { NS: ["a.root-servers.test."], RRSIG: ["NS 8 0 518400 20300101000000 20250101000000 20326 . AAAA"] },
    };
    const validating = { zones: { ...ZONES, ...root }, behaviours: { ".": { authentic: true } } };
    expect(await faultAt(validating, { dnssec: "secure" })).toMatchObject({ reason: "dnssec_insecure" });
    const blind = { zones: ZONES, behaviours: { "*": { edns: "ignore" as const } } };
    expect(await faultAt(blind, { dnssec: "secure" })).toBe("dns/probe/dnssec_indeterminate");
  });
});

describe("the whole result", () => {
  it("is that of the dns tool, sent when the verdict changes", async () => {
    const { whole } = await check({ op: "equals", values: ["192.0.2.1"] });
    expect(Array.from(Value.Errors(dnsContract.result, whole))).toEqual([]);
    expect(whole).toMatchObject({ domain: "example.test", records: { A: ["192.0.2.1", "192.0.2.2"] }, dnssec: null });
    expect(await check({ type: "SRV", domain: "_sip._tcp.example.test", always_whole: true })).toMatchObject({
      whole: { records: { SRV: ["10 60 5060 sip.example.test."] } },
    });
  });
});
