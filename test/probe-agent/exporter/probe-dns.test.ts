import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { typeName } from "#shared/internet/dns-registry.ts";
import { probeDns } from "#probe-agent/exporter/probe-dns.ts";
import type { DnsOptions, RecordConditions } from "#shared/blackbox/module.ts";
import { startDnsServer, type DnsServer } from "#test/servers/dns.ts";
import { garbage, lyingCounts } from "#test/servers/dns-zones.ts";
import {
  dnsOptions,
  expressions,
  NO_CONDITIONS,
  proberContext,
  recordProbe,
  type RecordedProbe,
} from "#test/probe-agent/exporter/recorded-probe.ts";
import type { Clock } from "#shared/time/clock.ts";
import { until } from "#test/support/until.ts";

/** Appends an OPT record with DO to a reply. */
function withOpt(reply: Uint8Array): Uint8Array {
  const longer = Uint8Array.of(...reply, 0, 0, 41, 4, 208, 0, 0, 0x80, 0, 0, 0);
  longer[11] = 1;
  return longer;
}

const SOA = "ns.example.test. host.example.test. 2024010101 7200 3600 1209600 300";

/** Creates a clock that advances by a millisecond with each reading: what was measured is above zero on any machine. */
function countReadings(): Clock {
  let readings = 0;
  return { now: () => new Date(), monotonic: () => (readings += 1) };
}

describe("a DNS probe", () => {
  let server: DnsServer;
  beforeAll(async () => {
    server = await startDnsServer({
      zones: {
        "example.test": { SOA: [SOA] },
        "www.example.test": { A: ["192.0.2.1", "192.0.2.2"] },
        "opt.example.test": { A: ["192.0.2.1"] },
        "late.example.test": { A: ["192.0.2.1"] },
        "large.example.test": { TXT: Array.from({ length: 9 }, (_, index) => `"${index}${"x".repeat(100)}"`) },
        "odd.example.test": { AAAA: ["\\# 3 010203"] },
      },
      behaviours: {
        "opt.example.test": { rewrite: withOpt },
        "late.example.test": { before: ["wrong_id", "wrong_question", "wrong_type", "not_a_response"] },
        "silent.example.test": { drop: true },
        "lying.example.test": { rewrite: lyingCounts },
        "garbage.example.test": { rewrite: garbage },
        "failing.example.test": { status: "SERVFAIL" },
      },
    });
  });
  afterAll(() => server?.close());

  async function run(options: Partial<DnsOptions> = {}, probe: RecordedProbe = recordProbe(server.address)) {
    const verdict = await probeDns(probe, dnsOptions(options), proberContext({ clock: countReadings() }));
    const errors = probe.lines.filter(({ level }) => level === "error");
    return { verdict, metrics: probe.metrics(), lines: probe.lines, errors: errors.map(({ message }) => message) };
  }
  const conditions = (changes: Partial<RecordConditions>): RecordConditions => ({ ...NO_CONDITIONS, ...changes });

  it("counts the records of the answer and sets every phase", async () => {
    const { verdict, metrics } = await run();
    expect(verdict).toBe("success");
    expect(metrics).toEqual({
      probe_dns_additional_rrs: 0,
      probe_dns_answer_rrs: 2,
      probe_dns_authority_rrs: 0,
      'probe_dns_duration_seconds{phase="connect"}': expect.any(Number),
      'probe_dns_duration_seconds{phase="request"}': expect.any(Number),
      'probe_dns_duration_seconds{phase="resolve"}': expect.any(Number),
      probe_dns_lookup_time_seconds: expect.any(Number),
      probe_dns_query_succeeded: 1,
      probe_ip_addr_hash: 3668918509,
      probe_ip_protocol: 4,
    });
    expect(metrics['probe_dns_duration_seconds{phase="request"}']).toBeGreaterThan(0);
  });

  it("sends one query without EDNS in the given letter case, with the flag, class and type of the module", async () => {
    await run({ query_name: "WwW.example.test" });
    const plain = server.queries.at(-1);
    expect(plain).toMatchObject({ name: "WwW.example.test", type: "A", transport: "udp" });
    expect(plain?.message).toMatchObject({ edns: null, flags: { rd: true, cd: false, ad: false } });
    await run({ query_type: "ANY", query_class: 3, recursion_desired: false });
    const [question] = server.queries.at(-1)?.message.questions ?? [];
    expect([typeName(question?.type ?? 0), question?.class]).toEqual(["ANY", 3]);
    expect(server.queries.at(-1)?.message.flags.rd).toBe(false);
  });

  it("takes names with escapes and other characters, and refuses those that are no names", async () => {
    await run({ query_name: "a\\.b.é x.test" });
    expect(server.queries.at(-1)?.name).toBe("a\\.b.\\195\\169\\032x.test");
    await run({ query_name: "." });
    expect(server.queries.at(-1)?.name).toBe(".");
    const before = server.queries.length;
    const { verdict, metrics } = await run({ query_name: "a..b" });
    expect(verdict).toBe("failure");
    expect(metrics).toMatchObject({ probe_dns_query_succeeded: 0, 'probe_dns_duration_seconds{phase="request"}': 0 });
    expect(server.queries.length).toBe(before);
  });

  it("takes a truncated answer as it is over UDP, and the whole one over TCP", async () => {
    const large = { query_name: "large.example.test", query_type: "TXT" } as const;
    const udp = await run(large);
    expect([udp.verdict, udp.metrics["probe_dns_answer_rrs"]]).toEqual(["success", 0]);
    expect(server.queries.at(-1)?.transport).toBe("udp");
    const tcp = await run({ ...large, transport_protocol: "tcp" });
    expect([tcp.verdict, tcp.metrics["probe_dns_answer_rrs"]]).toEqual(["success", 9]);
    expect(server.queries.at(-1)?.transport).toBe("tcp");
  });

  it("shows the serial of a zone for SOA alone, 0 if the answer has none", async () => {
    const zone = await run({ query_name: "example.test", query_type: "SOA" });
    expect(zone.metrics["probe_dns_serial"]).toBe(2024010101);
    const none = await run({ query_type: "SOA" });
    expect([none.verdict, none.metrics["probe_dns_serial"]]).toEqual(["success", 0]);
    expect((await run()).metrics).not.toHaveProperty("probe_dns_serial");
  });

  it("counts OPT among the additional records and validates it last", async () => {
    const required = conditions({ fail_if_not_matches_regexp: expressions("OPT PSEUDOSECTION.*\n.*flags: do") });
    const { verdict, metrics } = await run({ query_name: "opt.example.test", validate_additional_rrs: required });
    expect([verdict, metrics["probe_dns_additional_rrs"]]).toEqual(["success", 1]);
  });

  it("fails for an RCODE that is not valid, after the records were counted", async () => {
    const missing = await run({ query_name: "no.example.test" });
    expect(missing).toMatchObject({ verdict: "failure", errors: ["Rcode is not one of the valid rcodes"] });
    expect(missing.metrics).toMatchObject({ probe_dns_query_succeeded: 1, probe_dns_authority_rrs: 1 });
    expect((await run({ query_name: "no.example.test", valid_rcodes: [2, 3] })).verdict).toBe("success");
    expect((await run({ query_name: "failing.example.test", valid_rcodes: [2, 3] })).verdict).toBe("success");
    expect((await run({ valid_rcodes: [3] })).verdict).toBe("failure");
  });

  // The verdicts are those of blackbox_exporter 0.23 for the same sections; fail_if_all_match_regexp is the reverse of its
  // name there.
  it.each<[keyof RecordConditions, readonly string[], "success" | "failure"]>([
    ["fail_if_matches_regexp", ["192\\.0\\.2\\.2$"], "failure"],
    ["fail_if_matches_regexp", ["AAAA", "192\\.0\\.2\\.3$"], "success"],
    ["fail_if_not_matches_regexp", ["^www\\.example\\.test\\.\t300\tIN\tA\t192"], "success"],
    ["fail_if_not_matches_regexp", ["IN\tA", "\\.1$"], "failure"],
    ["fail_if_all_match_regexp", ["IN\tA"], "success"],
    ["fail_if_all_match_regexp", ["IN\tA", "\\.1$"], "failure"],
    ["fail_if_none_matches_regexp", ["MX", "\\.2$"], "success"],
    ["fail_if_none_matches_regexp", ["MX"], "failure"],
  ])("with the condition %s %j on its answer ends as with the exporter: %s", async (condition, sources, verdict) => {
    const { errors, ...result } = await run({
      validate_answer_rrs: conditions({ [condition]: expressions(...sources) }),
    });
    expect(result.verdict).toBe(verdict);
    expect(errors.at(-1)).toBe(verdict === "success" ? undefined : "Answer RRs validation failed");
    expect(result.metrics["probe_dns_query_succeeded"]).toBe(1);
  });

  it("fails a section without records only where a record must match", async () => {
    const empty = (condition: keyof RecordConditions) =>
      run({ validate_authority_rrs: conditions({ [condition]: expressions("x") }) });
    expect((await empty("fail_if_not_matches_regexp")).errors).toEqual([
      "fail_if_not_matches_regexp specified but no RRs returned",
      "Authority RRs validation failed",
    ]);
    expect((await empty("fail_if_none_matches_regexp")).verdict).toBe("failure");
    expect((await empty("fail_if_matches_regexp")).verdict).toBe("success");
    expect((await empty("fail_if_all_match_regexp")).verdict).toBe("success");
  });

  it("waits for its own answer among forged ones", async () => {
    const { verdict, metrics } = await run({ query_name: "late.example.test" });
    expect([verdict, metrics["probe_dns_answer_rrs"]]).toEqual(["success", 1]);
  });

  it("ends when forged datagrams flood it", async () => {
    const flood = createSocket("udp4").bind(0, "127.0.0.1");
    await once(flood, "listening");
    const over = new AbortController();
    flood.once("message", (query, { port, address }) => {
      const forged = Buffer.from(query);
      forged.writeUInt16BE(forged.readUInt16BE(0) ^ 1, 0);
      const send = (): void => {
        if (over.signal.aborted) return;
        for (let index = 0; index < 50; index += 1) flood.send(forged, port, address);
        setImmediate(send);
      };
      send();
    });
    flood.on("error", () => {});
    const { verdict, lines } = await run({}, recordProbe(`127.0.0.1:${flood.address().port}`));
    over.abort();
    flood.close();
    expect(verdict).toBe("failure");
    expect(lines.at(-1)?.fields["err"]).toContain("no_answer_among_datagrams");
  });

  it("takes an answer with too few records, and none that is malformed", async () => {
    const lying = await run({ query_name: "lying.example.test" });
    expect([lying.verdict, lying.metrics["probe_dns_answer_rrs"]]).toEqual(["success", 0]);
    const failures = [
      await run({ query_name: "garbage.example.test" }),
      await run({ query_name: "odd.example.test", query_type: "AAAA" }),
    ];
    for (const { verdict, metrics, errors } of failures) {
      expect([verdict, metrics["probe_dns_query_succeeded"], metrics["probe_dns_answer_rrs"]]).toEqual([
        "failure",
        0,
        0,
      ]);
      expect(errors).toEqual(["Error while sending a DNS query"]);
    }
  });

  it.each(["udp", "tcp"] as const)("ends with its signal while a server is silent over %s", async (transport) => {
    const ended = new AbortController();
    const before = server.queries.length;
    const silent = { query_name: "silent.example.test", transport_protocol: transport };
    const running = run(silent, recordProbe(server.address, { signal: ended.signal }));
    await until(() => server.queries.length > before, "the query");
    ended.abort();
    const { verdict, metrics, lines } = await running;
    expect([verdict, metrics["probe_dns_query_succeeded"]]).toEqual(["failure", 0]);
    expect(metrics['probe_dns_duration_seconds{phase="request"}']).toBeGreaterThan(0);
    expect(lines.at(-1)?.fields["err"]).toMatch(new RegExp(`^read ${transport}4 .*i/o timeout$`));
  });

  it("ends at its deadline", async () => {
    const { verdict } = await run({ query_name: "silent.example.test" }, recordProbe(server.address, { ms: 50 }));
    expect(verdict).toBe("failure");
  });

  it("names what stops it when nothing listens", async () => {
    const closing = createServer().listen(0, "127.0.0.1");
    await once(closing, "listening");
    const { port } = closing.address() as { readonly port: number };
    closing.close();
    await once(closing, "close");
    const udp = await run({}, recordProbe(`127.0.0.1:${port}`));
    expect([udp.verdict, udp.lines.at(-1)?.fields["err"]]).toEqual([
      "failure",
      `read udp4 127.0.0.1:${port}: ECONNREFUSED`,
    ]);
    const tcp = await run({ transport_protocol: "tcp" }, recordProbe(`127.0.0.1:${port}`));
    expect([tcp.verdict, tcp.lines.at(-1)?.fields["err"]]).toEqual([
      "failure",
      `dial tcp 127.0.0.1:${port}: ECONNREFUSED`,
    ]);
    expect(tcp.metrics['probe_dns_duration_seconds{phase="request"}']).toBe(0);
    expect(tcp.metrics['probe_dns_duration_seconds{phase="connect"}']).toBeGreaterThan(0);
  });

  it("has all its families, at zero, when the host has no address or is not allowed", async () => {
    const zeros = {
      probe_dns_additional_rrs: 0,
      probe_dns_answer_rrs: 0,
      probe_dns_authority_rrs: 0,
      'probe_dns_duration_seconds{phase="connect"}': 0,
      'probe_dns_duration_seconds{phase="request"}': 0,
      'probe_dns_duration_seconds{phase="resolve"}': 0,
      probe_dns_lookup_time_seconds: expect.any(Number) as number,
      probe_dns_query_succeeded: 0,
      probe_ip_addr_hash: 0,
      probe_ip_protocol: 0,
    };
    const unknown = await run({}, recordProbe(":53"));
    expect([unknown.verdict, unknown.metrics]).toEqual(["failure", zeros]);
    const before = server.queries.length;
    const denied = recordProbe(server.address);
    expect(await probeDns(denied, dnsOptions(), proberContext({ allows: () => false }))).toBe("refused");
    expect(denied.metrics()).toEqual(zeros);
    expect(server.queries.length).toBe(before);
  });

  it.each<[target: string, where: string | null, isTls: boolean]>([
    ["127.0.0.1", "127.0.0.1:53", false],
    ["127.0.0.1", "127.0.0.1:853", true],
    ["127.0.0.1:5353", "127.0.0.1:5353", false],
    ["::1", "[::1]:53", false],
    ["[::1]:5353", "[::1]:5353", true],
    ["127.0.0.1:99999", "127.0.0.1:?", false],
    ["[::1]", null, false],
    ["a:b:c", null, false],
  ])("takes the target %s for the server %s", async (target, where, isTls) => {
    const probe = recordProbe(target, { signal: AbortSignal.abort() });
    const transport = isTls ? "tcp" : "udp";
    expect((await run({ dns_over_tls: isTls, transport_protocol: transport }, probe)).verdict).toBe("failure");
    const line = probe.lines.find(({ message }) => message === "Making DNS query");
    expect(line?.fields["target"] ?? null).toBe(where);
  });

  it.each(["udp", "tcp"] as const)(
    "leaves from the given address over %s, or says why it cannot",
    async (transport) => {
      const from = await run({ source_ip_address: "127.0.0.5", transport_protocol: transport });
      expect([from.verdict, server.queries.at(-1)?.sourceIp]).toEqual(["success", "127.0.0.5"]);
      for (const source of ["198.51.100.1", "::1"]) {
        const { verdict, metrics, lines } = await run({ source_ip_address: source, transport_protocol: transport });
        expect([verdict, metrics['probe_dns_duration_seconds{phase="request"}']]).toEqual(["failure", 0]);
        expect(lines.at(-1)?.fields["err"]).toMatch(/^dial /);
      }
    },
  );

  it("fails over TLS if the transport is UDP or the server speaks none", async () => {
    const udp = await run({ dns_over_tls: true });
    expect(udp.errors).toEqual(["Configuration error: Expected transport protocol tcp for DoT"]);
    const closing = createServer((socket) => void socket.once("data", () => socket.destroy())).listen(0, "127.0.0.1");
    await once(closing, "listening");
    const { port } = closing.address() as { readonly port: number };
    const plain = await run({ dns_over_tls: true, transport_protocol: "tcp" }, recordProbe(`127.0.0.1:${port}`));
    closing.close();
    expect([plain.verdict, plain.errors]).toEqual(["failure", ["Error while sending a DNS query"]]);
    expect(plain.metrics['probe_dns_duration_seconds{phase="request"}']).toBe(0);
  });

  it("works over IPv6", async (context) => {
    const six = await startDnsServer({ host: "::1", zones: { "www.example.test": { A: ["192.0.2.1"] } } }).catch(
      () => null,
    );
    if (six === null) return context.skip("skipped: no IPv6 here");
    const { verdict, metrics } = await run({}, recordProbe(`[::1]:${six.port}`));
    await six.close();
    expect([verdict, metrics["probe_ip_protocol"]]).toEqual(["success", 6]);
    return undefined;
  });
});
