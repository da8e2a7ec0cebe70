import { Compile } from "typebox/compile";
import { describe, expect, it } from "vitest";
import type { Outcome } from "#shared/contracts/outcome.ts";
import { check as contract } from "#shared/tools/check/contract.ts";
import type { ParamsOf, ResultOf } from "#shared/tools/define.ts";
import { createHttp } from "#probe-agent/net/http.ts";
import type { DnsPort } from "#probe-agent/port/dns.ts";
import type { HttpPort } from "#probe-agent/port/http.ts";
import { check } from "#probe-agent/tools/check/check.ts";
import { startDnsServer } from "#test/servers/dns.ts";
import { startHttpServer } from "#test/servers/http.ts";
import { createPki } from "#test/servers/pki.ts";
import { systemClock } from "#test/support/clock.ts";
import { failureOf, identityOf, TEST_AGENT } from "#test/support/http-engine.ts";
import { dnsPort, jobLimits, loopbackEgress, netOf } from "#test/support/net.ts";
import { endsBy } from "#test/support/deadlines.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

type Result = ResultOf<typeof contract>;
const schema = Compile(contract.result);
const http = createHttp({ clock: systemClock, egress: loopbackEgress, userAgent: TEST_AGENT });

const server = await stopAfterAll(startHttpServer());

async function run(
  params: Partial<ParamsOf<typeof contract>> & { url: string },
  decorate: (port: HttpPort) => HttpPort = (port) => port,
  dns?: DnsPort,
): Promise<Outcome<Result>> {
  const timeout = params.timeout ?? 30;
  const limits = jobLimits(timeout * 1000, AbortSignal.timeout(timeout * 1000));
  const resolver = dns ?? dnsPort([], { limits });
  const net = netOf({ dns: resolver, http: decorate(http(limits, resolver)) }, limits);
  return await check.run(net, { method: "GET", follow: true, timeout, ...params });
}

async function resultOf(...given: Parameters<typeof run>): Promise<Result> {
  const outcome = await run(...given);
  if (outcome.status !== "ok") throw new Error(JSON.stringify(outcome));
  expect([...schema.Errors(outcome.data)]).toEqual([]);
  expect(JSON.parse(JSON.stringify(outcome.data))).toEqual(outcome.data);
  const { redirect_count: _count, ...phases } = outcome.data.timing;
  expect(Object.values(phases).reduce((sum, value) => sum + value, 0)).toBe(outcome.data.elapsed_ms);
  return outcome.data;
}

describe("check", () => {
  it("reports the published fields of a plain page", async () => {
    const result = await resultOf({ url: `${server.url}/` });
    expect(result).toMatchObject({
      url: `${server.url}/`,
      final_url: `${server.url}/`,
      method: "GET",
      code: 200,
      status_text: "OK",
      http_version: "1.1",
      ip: "127.0.0.1",
      ip_version: 4,
      port: server.port,
      remote: { reverse: null },
      addresses: [{ ip: "127.0.0.1", ip_version: 4, blocked: false }],
      redirects: [],
      stopped: null,
      tls: null,
      findings: [],
      limitations: [],
    });
    expect(result.headers[0]).toEqual({ name: "content-type", value: "text/html; charset=utf-8" });
    expect(result.body).toMatchObject({
      content_type: "text/html",
      charset: "utf-8",
      content_length: null,
      error: null,
    });
    expect(result.body.sha256).toMatch(/^[0-9a-f]{64}$/);
    expect(result.timing).toMatchObject({ dns_ms: 0, tls_ms: 0, redirect_ms: 0, redirect_count: 0 });
    expect(Number.isNaN(Date.parse(result.observed_at))).toBe(false);
  });

  it("lists the followed redirects and reports their time separately", async () => {
    const result = await resultOf({ url: `${server.url}/redirect/2` });
    expect(result).toMatchObject({ url: `${server.url}/redirect/2`, final_url: `${server.url}/`, code: 200 });
    expect(result.redirects).toMatchObject([
      { url: `${server.url}/redirect/2`, code: 302, location: `${server.url}/redirect/1?code=302`, ip: "127.0.0.1" },
      { url: `${server.url}/redirect/1?code=302`, code: 302, location: `${server.url}/`, http_version: "1.1" },
    ]);
    expect(result.timing.redirect_count).toBe(2);
    expect(result.timing_us.redirect_us).toBeGreaterThan(0);
  });

  it("returns the first response if redirects are not followed", async () => {
    const result = await resultOf({ url: `${server.url}/redirect/2`, follow: false });
    expect(result).toMatchObject({ code: 302, redirects: [], stopped: null, timing: { redirect_count: 0 } });
  });

  it("reports a redirect without a usable target as the final response", async () => {
    const result = await resultOf({ url: `${server.url}/to?url=mailto:someone@example.test` });
    expect(result).toMatchObject({ code: 302, stopped: "bad_location" });
  });

  it.each([
    ["/loop", "response/target/redirect_loop"],
    ["/redirect/11", "response/target/too_many_redirects"],
    ["/to?url=http://10.0.0.1/", "refused"],
    ["/to?url=http://u:p@127.0.0.1/", "refused"],
  ])("%s ends as %s", async (path, expected) => {
    expect(failureOf(await run({ url: server.url + path }))).toBe(expected);
  });

  it("ends at its timeout with the stage that it reached", async () => {
    const timeout = 1;
    expect(contract.deadlineMs({ url: "", method: "GET", follow: true, timeout })).toBe(1000);
    const outcome = await endsBy(1000, () => run({ url: `${server.url}/drip-body`, timeout }));
    expect(failureOf(outcome)).toBe("response/target/timeout");
  });

  it("sends the requested method and User-Agent, else the default", async () => {
    const head = await resultOf({ url: `${server.url}/bytes/5`, method: "HEAD", ua: "probe/7" });
    expect(head).toMatchObject({ method: "HEAD", body: { sha256: null, decoded_bytes: 0 } });
    expect(server.requests.at(-1)?.headers).toContainEqual(["User-Agent", "probe/7"]);
    await resultOf({ url: `${server.url}/echo`, method: "POST" });
    expect(server.requests.at(-1)).toMatchObject({ method: "POST", body: "" });
    expect(server.requests.at(-1)?.headers).toContainEqual(["User-Agent", TEST_AGENT]);
    expect(await run({ url: server.url, ua: "a\nb" })).toMatchObject({ status: "invalid", field: "ua" });
  });

  it("keeps many Set-Cookie fields separate and in order", async () => {
    const { headers } = await resultOf({ url: `${server.url}/cookies/120` });
    expect(headers.filter(({ name }) => name === "set-cookie").length).toBe(120);
  });

  it("reports the coding of the body, and that a bomb was truncated", async () => {
    const coded = await resultOf({ url: `${server.url}/encoded/br` });
    expect(coded.body).toMatchObject({ encoding: "br", decoded_bytes: 1400, truncated: false });
    expect(coded.body.content_length).toBe(coded.body.transferred_bytes);
    const bomb = await resultOf({ url: `${server.url}/bomb/zstd?size=20000000` });
    expect(bomb.body).toMatchObject({ truncated: true, error: "inflation_ratio" });
    expect(bomb.limitations.length).toBe(1);
  });

  it.each([
    ["/reset", "reset", "the server reset the connection"],
    ["/short", "incomplete", "the connection was closed before the end"],
  ])("keeps what arrived of a body that is cut short (%s), and reports why", async (path, error, words) => {
    const result = await resultOf({ url: server.url + path });
    expect(result).toMatchObject({ code: 200, status_text: "OK", body: { content_length: 1000, error } });
    expect(result.headers).toContainEqual({ name: "Content-Length", value: "1000" });
    expect(result.body.decoded_bytes).toBeGreaterThan(0);
    expect(result.limitations.join()).toContain(`The body was cut short: ${words}`);
  });

  it("returns a result for a bad certificate and flags it", async () => {
    const pki = await createPki();
    const tls = identityOf(await pki.issue({ ip: ["127.0.0.1"] }), pki.intermediate);
    const secured = await startHttpServer({ tls, h2: true });
    const result = await resultOf({ url: `${secured.url}/` });
    await secured.close();
    expect(result).toMatchObject({ code: 200, http_version: "2", status_text: "" });
    expect(result.tls).toMatchObject({ protocol: "TLSv1.3", alpn: "h2", authorized: false, error: "untrusted_root" });
    expect(result.tls?.certificate).toMatchObject({ san: ["127.0.0.1"], days_left: 88 });
    expect(result.tls?.chain_not_after).toBe(result.tls?.certificate?.not_after);
    expect(result.tls?.path_not_after).toBeNull();
  });

  it("reports the PTR name of a public address, and does not wait long for it", async () => {
    const names = await startDnsServer({
      zones: { "8.8.8.8.in-addr.arpa": { PTR: ["dns.google."] } },
      behaviours: { "1.1.1.1.in-addr.arpa": { drop: true } },
    });
    const seenFrom =
      (ip: string) =>
      (port: HttpPort): HttpPort => ({
        fetch: async (request) => {
          const page = await port.fetch(request);
          if (page.status !== "ok") return page;
          return { ...page, data: { ...page.data, final: { ...page.data.final, ip } } };
        },
      });
    const url = `${server.url}/`;
    const named = await resultOf({ url }, seenFrom("8.8.8.8"), dnsPort([names.address]));
    expect(named.remote.reverse).toBe("dns.google");
    const unnamed = await resultOf({ url }, seenFrom("1.1.1.1"), dnsPort([names.address]));
    expect(unnamed.remote.reverse).toBeNull();
    await names.close();
  });

  it("compares status and final URL across locations, and their times", async () => {
    const result = await resultOf({ url: `${server.url}/redirect/1` });
    expect(contract.across?.agreeOn(result)).toEqual({ code: 200, final_url: `${server.url}/` });
    expect(contract.across?.measure(result)).toEqual({ elapsed_ms: result.elapsed_ms, ttfb_ms: result.timing.ttfb_ms });
  });
});
