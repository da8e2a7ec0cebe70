import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TraceHop } from "#probe-agent/port/packets.ts";
import { nameHops } from "#probe-agent/tools/ping/traceroute.ts";
import { scheduleEchoes, summarize } from "#probe-agent/tools/ping/part.ts";
import { startDnsServer, type DnsServer } from "#test/servers/dns.ts";
import { testServices } from "#test/support/services.ts";
import { builtInData } from "#test/support/tool.ts";
import { dnsPort, netOf } from "#test/support/net.ts";

describe("the time of a ping", () => {
  it("is the sum of the gaps and the wait for the last reply", () => {
    expect(scheduleEchoes(4, 200, 3_600)).toEqual({ count: 4, waitMs: 2_000, limitations: [] });
    expect(scheduleEchoes(4, 200, 1_500)).toEqual({ count: 4, waitMs: 900, limitations: [] });
  });

  it("allows fewer echoes when the lookup used it up, and says so", () => {
    const schedule = scheduleEchoes(10, 200, 1_000);
    expect(schedule).toMatchObject({ count: 4, waitMs: 400 });
    expect(schedule?.limitations.join()).toMatch(/only 4 of 10/);
    expect(scheduleEchoes(4, 200, 399)).toBeNull();
  });
});

describe("the figures of a ping", () => {
  it("count intact answers of the target itself, once per echo", () => {
    const replies = [
      { seq: 1, rtt_ms: 10, ttl: 60, status: "ok" },
      { seq: 1, rtt_ms: 11, ttl: 60, status: "duplicate" },
      { seq: 3, rtt_ms: 1_500, ttl: 60, status: "late" },
      { seq: 4, rtt_ms: 12, ttl: 60, status: "corrupt" },
      { seq: 5, rtt_ms: null, ttl: null, status: "unreachable", code: 1 },
      { seq: 2, rtt_ms: null, ttl: null, status: "timeout" },
    ] as const;
    expect(summarize(5, replies)).toMatchObject({
      packets_sent: 5,
      packets_received: 2,
      packet_loss_percent: 60,
      rtt: { min_ms: 10, max_ms: 1_500, jitter_ms: 1_490 },
    });
  });
});

describe("the names of a path", () => {
  let names: DnsServer;
  beforeAll(async () => {
    names = await startDnsServer({
      zones: {
        "1.0.77.10.in-addr.arpa": { PTR: ["gateway.example.net."] },
        "8.8.8.8.in-addr.arpa": { PTR: ["dns.example.net."] },
        "8.8.8.8.origin.test": { TXT: ['"15169 | 8.8.8.0/24 | US | arin | 2023-12-28"'] },
        "as15169.asn.test": { TXT: ['"15169 | US | arin | 2000-03-30 | GOOGLE - Google LLC, US"'] },
      },
      behaviours: { "9.9.9.9.origin.test": { status: "SERVFAIL" } },
    });
  });
  afterAll(() => names?.close());

  it("come from PTR and Team Cymru, and internal addresses are not sent outside", async () => {
    const reply = { rttMs: 1, icmpType: 11, icmpCode: 0 };
    const hops: TraceHop[] = ["10.77.0.1", "8.8.8.8", "8.8.8.8", "9.9.9.9"].map((ip, index) => ({
      hop: index + 1,
      sent: 2,
      roundTripsMs: [1],
      evidence: { sampled: 2, lost: 1, unclear: 0 },
      replies: [
        { ip, ...reply },
        { ip: null, rttMs: null, icmpType: null, icmpCode: null },
      ],
    }));
    const services = testServices();
    const named = await nameHops(netOf({ dns: dnsPort([names.address]), services, data: builtInData() }), hops, 3_000);
    expect(Object.fromEntries(named.names)).toEqual({
      "10.77.0.1": { hostname: "gateway.example.net", asn: null, asName: null, country: null },
      "8.8.8.8": { hostname: "dns.example.net", asn: 15_169, asName: "GOOGLE", country: "US" },
      "9.9.9.9": { hostname: null, asn: null, asName: null, country: null },
    });
    expect(named.limitations.join()).toMatch(/1 of 3 addresses/);
    expect(names.queries.some(({ name }) => name.includes("1.0.77.10.origin"))).toBe(false);
  });

  it("come from the operator's databases if they contain the address, and then no service is asked", async () => {
    const database = { source: "Test", build_epoch: 1, licence: null };
    const owner = { asn: 64_496, as_name: "Example", isp: null, organization: null };
    const country = { code: "DE", name: "Germany" };
    const nowhere = { continent: null, region: null, city: null, postal: null, location: null, timezone: null };
    const data = {
      ...builtInData(),
      asn: () => ({ database, owner, prefix: 24 }),
      geo: () => ({ database, place: { ...nowhere, country } }),
    };
    const asked = names.queries.length;
    const replies = [{ ip: "9.9.9.9", rttMs: 1, icmpType: 11, icmpCode: 0 }];
    const evidence = { sampled: 1, lost: 0, unclear: 0 };
    const net = netOf({ dns: dnsPort([names.address]), services: testServices(), data });
    const named = await nameHops(net, [{ hop: 1, sent: 1, roundTripsMs: [1], evidence, replies }], 3_000);
    expect(named.names.get("9.9.9.9")).toEqual({ hostname: null, asn: 64_496, asName: "Example", country: "DE" });
    expect(named.limitations).toEqual([]);
    expect(names.queries.slice(asked).filter(({ name }) => name.includes("origin"))).toEqual([]);
  });
});
