import { afterAll, afterEach, describe, expect, it } from "vitest";
import { monitorDomain } from "#probe-agent/monitor-checks/monitor-domain.ts";
import { failureOf } from "#test/support/http-engine.ts";
import { runMonitor, verdictOf } from "#test/support/monitor-check.ts";
import { rdapDomain } from "#test/support/registries.ts";
import { startWhoisBench } from "#test/support/whois.ts";

const bench = await startWhoisBench();
afterAll(() => bench.close());
afterEach(() => bench.reset());
const setting = {
  now: () => new Date("2024-11-21T10:00:00Z"),
  services: {
    rdapBootstrapUrl: bench.registries.bootstrapUrl,
    whoisServer: { host: "127.0.0.1", port: bench.first.port },
  },
};
const check = (given: object = {}) => verdictOf(monitorDomain, { domain: "example.com", ...given }, setting);

const events = (expires: string) => [
  { eventAction: "registration", eventDate: "1995-08-14T04:00:00Z" },
  { eventAction: "expiration", eventDate: expires },
];

describe("a domain", () => {
  it("that is registered is up; the whole result is that of the whois tool, without the unprocessed answer", async () => {
    bench.registries.answer(() => rdapDomain());
    const result = await check({ always_whole: true });
    expect(result).toMatchObject({ verdict: "up", fault: null, certificate_fingerprint: null });
    expect(result.whole).toMatchObject({
      kind: "domain",
      registered: true,
      expires: "2025-08-13T04:00:00.000Z",
      raw: null,
    });
  });

  it.each([
    ["expired", rdapDomain({ events: events("2024-11-20T00:00:00Z") }), "the registration expired on 2024-11-20"],
    [
      "pending_delete",
      rdapDomain({ status: ["pending delete"] }),
      "the registry is deleting the domain (pendingDelete)",
    ],
    ["redemption_period", rdapDomain({ status: ["redemption period"] }), /restored/],
    ["on_hold", rdapDomain({ status: ["client hold"] }), /on hold \(clientHold\)/],
    ["not_registered", null, "the domain is not registered: nobody holds it"],
  ])("is down if it is %s", async (reason, answer, message) => {
    bench.registries.answer(() => answer);
    const { verdict, fault } = await check();
    expect({ verdict, ...fault }).toMatchObject({ verdict: "down", stage: "response", reason });
    expect(fault?.message).toMatch(message);
  });

  it("whose registry limits questions is a failure of the service, which says so", async () => {
    bench.registries.answer((_path, response) => void response.writeHead(429, { "retry-after": "3600" }).end());
    bench.says.first = () => "Error: query rate limit exceeded. Try again later.\r\n";
    const outcome = await runMonitor(monitorDomain, { domain: "example.com", timeout_seconds: 10 }, setting);
    expect(failureOf(outcome)).toBe("response/service/rate_limited");
  });
});
