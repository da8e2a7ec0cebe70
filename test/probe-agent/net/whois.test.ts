import { afterEach, describe, expect, it } from "vitest";
import { createEgress, NO_ALLOW_LISTS, type Egress } from "#shared/internet/egress.ts";
import type { Outcome } from "#shared/contracts/outcome.ts";
import type { WhoisReply, WhoisRequest } from "#probe-agent/port/whois.ts";
import { createWhois } from "#probe-agent/net/whois.ts";
import { startDnsServer } from "#test/servers/dns.ts";
import { startWhoisServer, type WhoisBehaviour, type WhoisServer } from "#test/servers/whois.ts";
import { systemClock } from "#test/support/clock.ts";
import { dnsPort, jobLimits, loopbackEgress } from "#test/support/net.ts";

const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()));
});

async function serve(behaviour: WhoisBehaviour): Promise<WhoisServer> {
  const server = await startWhoisServer(() => behaviour);
  closers.push(() => server.close());
  return server;
}

function ask(
  request: Partial<WhoisRequest> & { readonly port: number },
  setting: { readonly egress?: Egress; readonly dnsServer?: string; readonly timeoutMs?: number } = {},
): Promise<Outcome<WhoisReply>> {
  const egress = setting.egress ?? loopbackEgress;
  const limits = jobLimits(setting.timeoutMs ?? 10_000);
  const dns = dnsPort([setting.dnsServer ?? "127.0.0.1:9"], { egress, limits });
  return createWhois({ clock: systemClock, egress })(limits, dns).ask({
    host: "127.0.0.1",
    query: "example.com",
    ...request,
  });
}

describe("a question to a WHOIS server", () => {
  it("is one line that ends in CRLF, and the answer all until the server closes", async () => {
    const server = await serve("Domain Name: EXAMPLE.COM\r\n");
    const outcome = await ask({ port: server.port });
    expect(outcome).toEqual({
      status: "ok",
      data: {
        text: "Domain Name: EXAMPLE.COM\r\n",
        charset: "utf-8",
        ip: "127.0.0.1",
        bytes: 26,
        truncated: false,
        error: null,
      },
    });
    expect(server.received).toEqual(["example.com\r\n"]);
  });

  it.each([
    ["a line break", "example.com\r\nQUIT"],
    ["a bare line feed", "example.com\nx"],
    ["a NUL", "example.com\u0000"],
    ["what is not ASCII", "exämple.com"],
    ["nothing", ""],
    ["a blank", " "],
    ["a flood", "x".repeat(256)],
  ])("with %s is never sent", async (_, query) => {
    const server = await serve("x");
    expect(await ask({ port: server.port, query })).toMatchObject({
      status: "failed",
      stage: "request",
      reason: "bad_query",
    });
    expect(server.received).toEqual([]);
  });

  it("may have blanks in it, as the flags of some registries need", async () => {
    const server = await serve("x");
    await ask({ port: server.port, query: "-T dn,ace example.de" });
    expect(server.queries()).toEqual(["-T dn,ace example.de"]);
  });
});

describe("an answer", () => {
  it("is UTF-8 where it is valid, else Latin-1", async () => {
    const utf8 = await serve(Buffer.from("Registrant: Café ExÄmple 例え\n"));
    expect(await ask({ port: utf8.port })).toMatchObject({
      data: { text: "Registrant: Café ExÄmple 例え\n", charset: "utf-8" },
    });
    const latin1 = await serve(Buffer.from("Registrant: Café ExÄmple\n", "latin1"));
    expect(await ask({ port: latin1.port })).toMatchObject({
      data: { text: "Registrant: Café ExÄmple\n", charset: "latin1" },
    });
  });

  it("without end is cut at 256 KB, in the middle of a character too, and the connection closed", async () => {
    const server = await serve({ endless: "Name Server: ns1.exämple.test\n".repeat(100) });
    const outcome = await ask({ port: server.port });
    expect(outcome).toMatchObject({
      status: "ok",
      data: { truncated: true, charset: "utf-8", bytes: 262_144, error: null },
    });
    await expect.poll(() => server.open()).toBe(0);
  });

  it("of garbage is text like any other", async () => {
    const octets = Uint8Array.from({ length: 2000 }, (_, index) => (index * 7919) % 256);
    const server = await serve(octets);
    expect(await ask({ port: server.port })).toMatchObject({
      status: "ok",
      data: { charset: "latin1", bytes: 2000 },
    });
  });

  it("that drips is taken as far as it came by the question's own time", async () => {
    const server = await serve({ slow: "Domain Name: EXAMPLE.COM\n", everyMs: 40 });
    const outcome = await ask({ port: server.port, timeoutMs: 500 });
    if (outcome.status !== "ok") throw new Error(JSON.stringify(outcome));
    expect(outcome.data.error).toBe("timeout");
    expect("Domain Name: EXAMPLE.COM\n".startsWith(outcome.data.text)).toBe(true);
    expect(outcome.data.text.length).toBeLessThan(25);
  });

  it("that breaks off is kept, and said to lack its end", async () => {
    const server = await serve({ reset: "Domain Name: EXAMPLE.COM\n" });
    expect(await ask({ port: server.port })).toMatchObject({
      status: "ok",
      data: { text: "Domain Name: EXAMPLE.COM\n", error: "reset" },
    });
  });
});

describe("a server that gives no answer", () => {
  it("fails by what happened", async () => {
    const mute = await serve({ nothing: "closed" });
    expect(await ask({ port: mute.port })).toMatchObject({ status: "failed", stage: "response", reason: "empty" });
    const silent = await serve({ nothing: "open" });
    expect(await ask({ port: silent.port, timeoutMs: 200 })).toMatchObject({
      status: "failed",
      stage: "response",
      reason: "timeout",
    });
    expect(await ask({ port: 9 })).toMatchObject({ status: "failed", stage: "connect", reason: "refused" });
    const reset = await serve({ reset: "" });
    expect(await ask({ port: reset.port })).toMatchObject({ status: "failed", stage: "response", reason: "reset" });
  });

  it("does not hold the job beyond its own deadline", async () => {
    const silent = await serve({ nothing: "open" });
    expect(await ask({ port: silent.port }, { timeoutMs: 300 })).toMatchObject({ status: "failed", reason: "timeout" });
  });
});

describe("the address of a server", () => {
  const strict = createEgress(NO_ALLOW_LISTS);

  it("is vetted as a literal and after the look-up, and nothing is sent to a refused one", async () => {
    const server = await serve("x");
    const names = await startDnsServer({ zones: { "whois.inside.test": { A: ["127.0.0.1", "10.0.0.1"] } } });
    closers.push(() => names.close());
    const setting = { egress: strict, dnsServer: names.address };
    expect(await ask({ port: server.port }, setting)).toEqual({ status: "refused" });
    expect(await ask({ port: server.port, host: "whois.inside.test" }, setting)).toEqual({ status: "refused" });
    expect(await ask({ port: server.port, host: "localhost" }, setting)).toEqual({ status: "refused" });
    expect(server.open() + server.received.length).toBe(0);
  });

  it("is vetted once more on the standing connection, before anything is sent", async () => {
    const server = await serve("x");
    let looks = 0;
    const egress: Egress = { ...loopbackEgress, allowsAddress: () => (looks += 1) === 1 };
    const names = await startDnsServer({ zones: { "whois.example.test": { A: ["127.0.0.1"] } } });
    closers.push(() => names.close());
    const request = { port: server.port, host: "whois.example.test" };
    expect(await ask(request, { egress, dnsServer: names.address })).toEqual({ status: "refused" });
    expect(server.received).toEqual([]);
  });

  it("is free of the rules where the operator named it", async () => {
    const server = await serve("x");
    const names = await startDnsServer({ zones: { "whois.inside.test": { A: ["127.0.0.1"] } } });
    closers.push(() => names.close());
    const setting = { egress: strict, dnsServer: names.address };
    expect(await ask({ port: server.port, host: "whois.inside.test", trusted: true }, setting)).toMatchObject({
      status: "ok",
    });
    expect(await ask({ port: server.port, trusted: true }, setting)).toMatchObject({ status: "ok" });
  });

  it("that does not exist is the look-up's failure", async () => {
    const names = await startDnsServer({ zones: { test: { SOA: ["ns. host. 1 2 3 4 5"] } } });
    closers.push(() => names.close());
    expect(await ask({ port: 43, host: "whois.absent.test" }, { dnsServer: names.address })).toMatchObject({
      status: "failed",
      stage: "dns",
      reason: "nxdomain",
    });
  });
});
