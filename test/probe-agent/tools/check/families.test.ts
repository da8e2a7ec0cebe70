import { describe, expect, it } from "vitest";
import type { check as contract } from "#shared/tools/check/contract.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { reportFamilies } from "#probe-agent/tools/check/address-families.ts";
import { createHttp } from "#probe-agent/net/http.ts";
import { check } from "#probe-agent/tools/check/check.ts";
import { startDnsServer } from "#test/servers/dns.ts";
import { startHttpServer } from "#test/servers/http.ts";
import { startSilentPort } from "#test/servers/silent.ts";
import { systemClock } from "#test/support/clock.ts";
import { TEST_AGENT } from "#test/support/http-engine.ts";
import { dnsPort, jobLimits, loopbackEgress, netOf } from "#test/support/net.ts";
import { endsBy } from "#test/support/deadlines.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

type Result = ResultOf<typeof contract>;
const http = createHttp({ clock: systemClock, egress: loopbackEgress, userAgent: TEST_AGENT });
const BOTH = { A: ["127.0.0.1"], AAAA: ["::1"] };

/** Two servers on one port, and a third port on which only one family answers. */

const four = await stopAfterAll(startHttpServer({ name: "both.test" }));
const six = await stopAfterAll(startHttpServer({ host: "::1", port: four.port }));
const silent = await stopAfterAll(startSilentPort("::1"));
await stopAfterAll(startHttpServer({ port: silent.port }));
const dns = await stopAfterAll(
  startDnsServer({
    zones: {
      "both.test": BOTH,
      "four.test": { A: ["127.0.0.1"] },
      "six.test": { AAAA: ["::1"] },
      "dead4.test": { A: ["127.0.0.2"], AAAA: ["::1"] },
      "dead6.test": { A: ["127.0.0.1"], AAAA: ["::1"] },
      "inside6.test": { A: ["127.0.0.1"], AAAA: ["fd00::1"] },
      "broken6.test": { A: ["127.0.0.1"] },
    },
    behaviours: { "broken6.test/AAAA": { status: "SERVFAIL" } },
  }),
);

async function run(url: string, input: Readonly<Record<string, unknown>> = {}, timeout = 30): Promise<Result> {
  const limits = jobLimits(timeout * 1000, AbortSignal.timeout(timeout * 1000));
  const resolver = dnsPort([dns.address], { limits });
  const net = netOf({ dns: resolver, http: http(limits, resolver) }, limits);
  const outcome = await check.run(net, { url, method: "GET", follow: true, timeout }, input);
  if (outcome.status !== "ok") throw new Error(JSON.stringify(outcome));
  return outcome.data;
}

const OK4 = { status: "ok", reason: null, ip: "127.0.0.1", connect_ms: expect.any(Number) as number };
const OK6 = { status: "ok", reason: null, ip: "::1", connect_ms: expect.any(Number) as number };
const ABSENT = { status: "absent", reason: null, ip: null, connect_ms: null };
const without = (status: string, reason: string, ip: string | null) => ({ status, reason, ip, connect_ms: null });

describe("a check reports whether both address families accept connections", () => {
  it("both, by one connection to the other family without a request", async () => {
    const before = six.accepted();
    const result = await run(`http://both.test:${four.port}/`);
    expect(result).toMatchObject({ ip: "127.0.0.1", families: { ipv4: OK4, ipv6: OK6 } });
    expect([six.accepted() - before, six.requests.length]).toEqual([1, 0]);
  });

  it("IPv6 without a listener, with the page over IPv4", async () => {
    const alone = await startHttpServer();
    const { families, code } = await run(`http://dead6.test:${alone.port}/`);
    await alone.close();
    expect([code, families]).toEqual([200, { ipv4: OK4, ipv6: without("failed", "refused", "::1") }]);
  });

  it("IPv4 without a listener, with the page over IPv6", async () => {
    const before = six.accepted();
    const { families, ip } = await run(`http://dead4.test:${six.port}/`);
    expect([ip, families]).toEqual(["::1", { ipv4: without("failed", "refused", "127.0.0.2"), ipv6: OK6 }]);
    // Addresses that were tried before are not tried again.
    expect(six.accepted() - before).toBe(1);
  });

  it("IPv6 that does not answer, within a bound and without an effect on the page's timings", async () => {
    // The wait for IPv6, which is far shorter than the check's own time.
    const waitMs = 1500;
    const { families, elapsed_ms } = await endsBy(waitMs, () => run(`http://both.test:${silent.port}/`));
    expect(families).toEqual({ ipv4: OK4, ipv6: without("failed", "timeout", "::1") });
    expect(elapsed_ms).toBeLessThan(waitMs);
  });

  it("IPv6 that does not answer is not a failure if the check has no time left", async () => {
    const { families } = await endsBy(1000, () => run(`http://both.test:${silent.port}/`, {}, 1));
    expect(families).toEqual({ ipv4: OK4, ipv6: without("not_tried", "out_of_time", "::1") });
  });

  it.each([
    ["four.test", { ipv4: OK4, ipv6: ABSENT }],
    ["six.test", { ipv4: ABSENT, ipv6: OK6 }],
    ["127.0.0.1", { ipv4: OK4, ipv6: ABSENT }],
    ["[::1]", { ipv4: ABSENT, ipv6: OK6 }],
    ["inside6.test", { ipv4: OK4, ipv6: without("not_tried", "target_not_allowed", "fd00::1") }],
    ["broken6.test", { ipv4: OK4, ipv6: without("not_tried", "dns_failed", null) }],
  ])("of %s, without a further connection", async (host, families) => {
    const before = four.accepted() + six.accepted();
    expect((await run(`http://${host}:${four.port}/`)).families).toEqual(families);
    expect(four.accepted() + six.accepted() - before).toBe(1);
  });

  it("of the final host only, and of no host if a job omits it", async () => {
    const before = six.accepted();
    expect((await run(`http://both.test:${four.port}/redirect/3`)).families).toEqual({ ipv4: OK4, ipv6: OK6 });
    expect(six.accepted() - before).toBe(1);
    const { families } = await run(`http://both.test:${four.port}/`, { families: false });
    expect(families).toEqual({ ipv4: OK4, ipv6: without("not_tried", "not_asked", "::1") });
    expect(six.accepted() - before).toBe(1);
  });

  it("a probe without a route to the family reports it as not tried", () => {
    const address = { ip: "2001:db8::1", version: 6 } as const;
    const failure = {
      status: "failed",
      stage: "connect",
      source: "probe",
      reason: "unreachable",
      message: "",
    } as const;
    const facts = { addresses: [address], blocked: [], otherFamily: { address, failure, ms: 0.1 } };
    expect(reportFamilies(facts).ipv6).toEqual(without("not_tried", "no_route", address.ip));
    const local = { ...facts.otherFamily, failure: { ...failure, reason: "local_error" } };
    expect(reportFamilies({ ...facts, otherFamily: local }).ipv6).toMatchObject({
      status: "not_tried",
      reason: "local_error",
    });
  });
});
