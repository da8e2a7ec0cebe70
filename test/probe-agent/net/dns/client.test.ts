import { afterEach, describe, expect, it } from "vitest";
import type { DnsPort } from "#probe-agent/port/dns.ts";
import { startDnsServer, type DnsServer, type DnsServerOptions } from "#test/servers/dns.ts";
import { compressionLoop, garbage, lyingCounts, pointingToQuestion } from "#test/servers/dns-zones.ts";
import { dnsPort } from "#test/support/net.ts";

const ZONES = {
  "example.test": {
    SOA: ["ns1.example.test. hostmaster.example.test. 7 3600 600 86400 300"],
    A: ["192.0.2.1"],
    NS: ["ns1.example.test."],
    TXT: ['"v=spf1 -all"'],
  },
  "www.example.test": { CNAME: ["Example.test."] },
  "many.test": { TXT: Array.from({ length: 60 }, (_, index) => `"${"x".repeat(80)}${index}"`) },
};

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

async function start(options: DnsServerOptions = {}): Promise<{ server: DnsServer; dns: DnsPort }> {
  const server = await startDnsServer({ zones: ZONES, ...options });
  open.push(server);
  return { server, dns: dnsPort([server.address]) };
}

const A = { name: "example.test", type: "A" };
const withAll = (behaviour: NonNullable<DnsServerOptions["behaviours"]>[string]) => ({
  behaviours: { "*": behaviour },
});

describe("a query over UDP", () => {
  it("returns records, flags, server and time", async () => {
    const { server, dns } = await start();
    const answer = await dns.query(A);
    expect(answer).toMatchObject({ status: "NOERROR", transport: "udp", server: `127.0.0.1#${server.port}`, ede: [] });
    expect(answer.flags).toEqual({ aa: false, tc: false, rd: true, ra: true, ad: false, cd: false });
    expect(answer.answers).toMatchObject([{ name: "example.test", type: "A", data: "192.0.2.1", ttl: 300 }]);
    expect(answer.rttMs).toBeGreaterThan(0);
  });

  it("uses a new id, source port and letter case each time, and never shows that case", async () => {
    const { server, dns } = await start();
    const names = new Set<string>();
    for (let index = 0; index < 12; index += 1) {
      const answer = await dns.query({ name: "www.Example.test.", type: "NS" });
      const [alias, owner] = answer.answers;
      expect(alias).toMatchObject({ name: "www.Example.test", data: "Example.test." });
      // If the random case is that of the zone, the server compresses this name to a part of the question.
      expect(owner?.name).toMatch(/^[Ee]xample\.test$/);
      expect(owner?.data).toBe("ns1.example.test.");
    }
    for (const query of server.queries) names.add(query.name);
    expect(names.size).toBeGreaterThan(1);
    expect(new Set(server.queries.map((query) => query.sourcePort)).size).toBeGreaterThan(1);
    expect(new Set(server.queries.map((query) => query.message.id)).size).toBeGreaterThan(10);
  });

  it("sends DO, CD and no RD if requested, and always EDNS with 1232 octets", async () => {
    const { server, dns } = await start();
    await dns.query({ ...A, dnssecOk: true, checkingDisabled: true, recursionDesired: false });
    const [sent] = server.queries;
    expect(sent?.message.edns).toMatchObject({ dnssecOk: true, udpSize: 1232, version: 0 });
    expect(sent?.message.flags).toMatchObject({ rd: false, cd: true });
  });

  it.each(["wrong_id", "wrong_question", "wrong_type", "wrong_source", "not_a_response"] as const)(
    "ignores a forged answer (%s) and waits for the true one",
    async (kind) => {
      const { dns, server } = await start(withAll({ before: [kind, kind] }));
      expect((await dns.query(A)).status).toBe("NOERROR");
      expect(server.queries).toHaveLength(1);
    },
  );

  it("asks again without mixed case if the answer does not repeat the case", async () => {
    const { server, dns } = await start(withAll({ lowerCase: true }));
    for (let index = 0; index < 6; index += 1) expect((await dns.query(A)).status).toBe("NOERROR");
    expect(server.queries.length).toBeGreaterThan(6);
  });

  it("hides its random case in names that point to the question as well", async () => {
    const { dns } = await start(withAll({ rewrite: pointingToQuestion }));
    for (let index = 0; index < 4; index += 1) {
      const { answers } = await dns.query({ name: "sub.Example.test", type: "NS" });
      expect(answers).toMatchObject([{ name: "sub.Example.test", data: "sub.Example.test." }]);
    }
  });

  it("asks over TCP when the answer is truncated, by the server or because of its size", async () => {
    const { dns } = await start({ behaviours: { "example.test": { truncate: true } } });
    expect(await dns.query(A)).toMatchObject({ status: "NOERROR", transport: "tcp", flags: { tc: false } });
    const many = await dns.query({ name: "many.test", type: "TXT" });
    expect(many.transport).toBe("tcp");
    expect(many.answers).toHaveLength(60);
  });

  it("shows the truncated answer if TCP does not answer", async () => {
    const { dns } = await start(withAll({ truncate: true, dropOver: "tcp" }));
    const answer = await dns.query({ ...A, timeoutMs: 400 });
    expect(answer).toMatchObject({ status: "NOERROR", transport: "udp", flags: { tc: true }, answers: [] });
  });

  it.each(["FORMERR", "NOTIMP", "BADVERS"] as const)("falls back to plain DNS on %s to EDNS", async (edns) => {
    const { server, dns } = await start(withAll({ edns }));
    expect((await dns.query(A)).status).toBe("NOERROR");
    expect(server.queries.map((query) => query.message.edns === null)).toEqual([false, true]);
  });

  it("finally asks without EDNS if EDNS queries are dropped", async () => {
    const { dns } = await start(withAll({ edns: "drop" }));
    expect((await dns.query({ ...A, timeoutMs: 4_000 })).status).toBe("NOERROR");
  });

  it("asks again after a lost packet", async () => {
    const { server, dns } = await start(withAll({ drop: 1 }));
    expect((await dns.query(A)).status).toBe("NOERROR");
    expect(server.queries).toHaveLength(2);
  });

  it("accepts an answer that arrives after the question was repeated", async () => {
    const { dns } = await start(withAll({ delayMs: 1_300 }));
    const answer = await dns.query({ ...A, timeoutMs: 1_900 });
    expect(answer.status).toBe("NOERROR");
    expect(answer.rttMs).toBeGreaterThanOrEqual(1_290);
  });

  it.each(["SERVFAIL", "REFUSED", "NXDOMAIN", "NOTIMP", "FORMERR", "NOTAUTH"])("reports %s", async (status) => {
    const { dns } = await start(withAll({ status, ede: [{ code: 22, text: "no one\u0000" }] }));
    expect(await dns.query(A)).toMatchObject({ status, answers: [], ede: [{ code: 22, text: "no one" }] });
  });

  it.each([
    ["a compression loop", compressionLoop],
    ["record counts that lie", lyingCounts],
    ["garbage for records", garbage],
  ])("reports %s as MALFORMED, over both transports", async (_what, rewrite) => {
    const { server, dns } = await start(withAll({ rewrite }));
    expect(await dns.query(A)).toMatchObject({ status: "MALFORMED", answers: [] });
    expect(server.queries.map((query) => query.transport)).toEqual(["udp", "tcp"]);
  });

  it("reads an answer over TCP that was malformed only over UDP", async () => {
    const spoilt: Uint8Array[] = [];
    const spoilFirst = (reply: Uint8Array): Uint8Array => (spoilt.push(reply) === 1 ? garbage(reply) : reply);
    const { dns } = await start(withAll({ rewrite: spoilFirst }));
    expect(await dns.query(A)).toMatchObject({ status: "NOERROR", transport: "tcp" });
  });
});
