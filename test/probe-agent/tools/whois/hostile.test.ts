import { afterAll, afterEach, describe, expect, it } from "vitest";
import { SILENT_MS } from "#shared/protocol/wire.ts";
import { createEgress, NO_ALLOW_LISTS } from "#shared/internet/egress.ts";
import { failed, ok } from "#shared/contracts/outcome.ts";
import { askWhois } from "#probe-agent/sources/whois.ts";
import { netOf } from "#test/support/net.ts";
import { testServices } from "#test/support/services.ts";
import { startWhoisServer, type WhoisBehaviour, type WhoisServer } from "#test/servers/whois.ts";
import { startWhoisBench, whoisFixture } from "#test/support/whois.ts";
import { cpuTime } from "#test/support/cpu-time.ts";
import { endsBy } from "#test/support/deadlines.ts";

const bench = await startWhoisBench();

afterAll(() => bench.close());

afterEach(() => bench.reset());

describe("referrals", () => {
  const refer = (server: WhoisServer) => () => `refer: ${server.address}\n`;

  it("in a circle end, and so does the check", async () => {
    bench.says.first = refer(bench.second);
    bench.says.second = refer(bench.first);
    const { outcome } = await bench.run("example.test");
    expect(outcome).toMatchObject({ status: "failed", reason: "no_registration_data" });
    expect(JSON.stringify(outcome)).toContain("lead back");
  });

  it("are followed at most three times", async () => {
    const chain: WhoisServer[] = [];
    try {
      for (let n = 0; n < 5; n += 1) {
        const next = chain.at(-1);
        chain.push(await startWhoisServer(() => (next === undefined ? "x" : `refer: ${next.address}\n`)));
      }
      bench.says.first = refer(chain.at(-1) ?? bench.first);
      const { outcome } = await bench.run("example.test");
      expect(JSON.stringify(outcome)).toContain("more than 3 referrals");
      expect(chain.map((server) => server.queries().length)).toEqual([0, 0, 1, 1, 1]);
    } finally {
      await Promise.all(chain.map((server) => server.close()));
    }
  });

  it("to internal addresses are not followed, even from the operator's own server", async () => {
    const egress = createEgress(NO_ALLOW_LISTS);
    const asked = bench.second.queries().length;
    bench.says.first = refer(bench.second);
    const { outcome } = await bench.run("example.test", { egress });
    expect(outcome).toMatchObject({ status: "failed" });
    expect(JSON.stringify(outcome)).toContain("not allowed");
    for (const inside of ["10.0.0.1", "localhost", "[::1]:4343", "169.254.169.254"]) {
      bench.says.first = () => `refer: ${inside}\n`;
      expect((await bench.run("example.test", { egress })).outcome.status).toBe("failed");
    }
    expect(bench.second.queries().length).toBe(asked);
  });

  it("to other services than WHOIS are not followed", async () => {
    for (const odd of ["127.0.0.1:25", "http://127.0.0.1/", "127.0.0.1:6667", "a b", "x".repeat(5000)]) {
      bench.says.first = () => `refer: ${odd}\n`;
      expect(JSON.stringify((await bench.run("example.test")).outcome)).toContain("an unusable WHOIS server");
    }
  });

  it("that fail leave the registry's answer", async () => {
    bench.says.first = () => whoisFixture("verisign").replace("whois.registrar.example", "127.0.0.1:9999");
    const result = await bench.getResult("example.com", { services: { rdapBootstrapUrl: "http://127.0.0.1:9" } });
    expect(result).toMatchObject({ registered: true, registrar: { iana_id: "9999" }, registrant: null });
    expect(result.limitations.join(" ")).toContain("127.0.0.1:9999 did not answer");
  });
});

describe("an answer made to be slow", () => {
  it.each(["example.com", "8.8.8.8"])("does not hold up the agent's other work (%s)", async (host) => {
    const line = `Domain Status: a${"\t".repeat(900)}x\n`;
    bench.says.first = () => `Domain Name: example.com\nRegistrar: B\nCreation Date: 2020-01-01\n${line.repeat(280)}`;
    // This thread runs all of the agent's work. What it does for this answer delays the rest.
    const before = cpuTime();
    await bench.run(host, { services: { rdapBootstrapUrl: "http://127.0.0.1:9" } });
    // Time after which the control plane treats an agent as hung.
    expect(cpuTime() - before).toBeLessThan(SILENT_MS);
  });

  it("that takes too long to parse is reported as a failure of this server", async () => {
    const failure = failed("response", "target", "page_too_complex", "the received data takes too long to analyse");
    const reply = { text: "x", charset: "utf-8", ip: "192.0.2.1", bytes: 1, truncated: false, error: null } as const;
    const net = netOf({ whois: { ask: () => Promise.resolve(ok(reply)) }, services: testServices() });
    const server = { host: "whois.example", port: 43 };
    const trail = await askWhois(net, { kind: "domain", name: "a.example" }, server, () => Promise.resolve(failure));
    expect(trail).toMatchObject({ failure, steps: [{ outcome: "page_too_complex", answer: null }] });
    expect(trail.limitations.join()).toContain("could not be read (the received data takes too long to analyse)");
  });
});

describe("a check without a registration", () => {
  it.each<[string, WhoisBehaviour, string]>([
    ["a rate limit", "WHOIS LIMIT EXCEEDED\n", "rate_limited"],
    ["legal text alone", "% All rights reserved.\n", "no_registration_data"],
    ["garbage", Uint8Array.from({ length: 3000 }, (_, n) => (n * 7919) % 256), "no_registration_data"],
    ["text without end", { endless: "blah blah\n".repeat(1000) }, "no_registration_data"],
    ["a reset", { reset: "" }, "reset"],
    ["nothing at all", { nothing: "closed" }, "empty"],
  ])("is a failed check: %s", async (_, behaviour, reason) => {
    bench.says.first = () => behaviour;
    expect((await bench.run("example.test")).outcome).toMatchObject({ status: "failed", source: "service", reason });
  });

  it("says which server limits queries, in its own words, without the probe's address", async () => {
    bench.says.first = () => "% Terms of use.\n\nthe WHOIS query quota for 127.0.0.1 has been exceeded, wait 45 s\n";
    const { outcome } = await bench.run("example.test");
    expect(outcome).toMatchObject({ status: "failed", stage: "response", reason: "rate_limited" });
    const message = outcome.status === "failed" ? outcome.message : "";
    expect(message).toContain(`${bench.first.address} refused the query because of its rate limit`);
    expect(message).toContain('"the WHOIS query quota for this probe has been exceeded, wait 45 s"');
    expect(message).toContain("Try again later.");
  });

  it.each(["example.com", "8.8.8.8", "AS15169"])(
    "says that the registry of %s limits, though its WHOIS cannot be reached",
    async (host) => {
      bench.registries.answer((_path, response) => void response.writeHead(429).end());
      bench.says.first = () => ({ reset: "" });
      const { outcome } = await bench.run(host);
      expect(outcome).toMatchObject({ status: "failed", stage: "response", reason: "rate_limited" });
      expect(JSON.stringify(outcome)).toContain("its rate limit is reached, status 429");
    },
  );

  it("is not the domain's fault if the server's own name does not exist", async () => {
    const services = { whoisServer: { host: "whois.nowhere.test", port: 43 }, rdapBootstrapUrl: "http://127.0.0.1:9" };
    const { outcome } = await bench.run("example.com", { services });
    expect(outcome).toMatchObject({ status: "failed", stage: "dns", source: "resolver" });
    expect(JSON.stringify(outcome)).toContain("whois.nowhere.test did not answer");
  });

  it("says that an answer contains no registration", async () => {
    bench.says.first = () => "% All rights reserved.\n";
    const { outcome } = await bench.run("example.test");
    expect(JSON.stringify(outcome)).toContain("its answer contains no readable registration");
  });

  it("is not the result of a registrar's rate limit, which is reported", async () => {
    bench.says.first = () => whoisFixture("verisign").replace("whois.registrar.example", bench.second.address);
    bench.says.second = () => "Your query is too frequent.\n";
    const result = await bench.getResult("example.com", { services: { rdapBootstrapUrl: "http://127.0.0.1:9" } });
    expect(result).toMatchObject({ registered: true, registrant: null });
    expect(result.limitations.join(" ")).toContain(
      `${bench.second.address} refused the query because of its rate limit`,
    );
  });

  it("fails in time if no server answers", async () => {
    bench.says.first = () => ({ nothing: "open" });
    bench.registries.answer(() => undefined);
    const { outcome } = await endsBy(2500, () => bench.run("example.com", { timeoutMs: 2500 }));
    expect(outcome).toMatchObject({ status: "failed" });
  });

  it("is not the result of a slow server that has sent enough", async () => {
    bench.says.first = () => ({
      slow: `Domain Name: EXAMPLE.TEST\nRegistrar: Slow Inc.\n${" ".repeat(5000)}`,
      everyMs: 1,
    });
    const result = await bench.getResult("example.test", { timeoutMs: 2500 });
    expect(result.registered).toBe(true);
    expect(result.limitations.join(" ")).toContain("broke off");
  });

  it.each([
    "",
    ".",
    "exa mple.com",
    "example.com\r\nQUIT",
    "http://example.com",
    "99999999999",
    "as4294967296",
    "a..b",
  ])("is an invalid parameter: %j", async (host) => {
    const asked = bench.first.received.length;
    const done = host === "" ? null : await bench.run(host);
    if (done !== null) expect(done.outcome).toMatchObject({ status: "invalid", field: "host" });
    expect(bench.first.received.length).toBe(asked);
  });
});
