import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { check as checkContract } from "#shared/tools/check/contract.ts";
import { Value } from "typebox/value";
import { createEgress } from "#shared/internet/egress.ts";
import { monitorHttp } from "#probe-agent/monitor-checks/monitor-http.ts";
import { startDnsServer, type DnsServer } from "#test/servers/dns.ts";
import { startHttpServer, type HttpServer } from "#test/servers/http.ts";
import { startWireServer } from "#test/servers/wire.ts";
import { freePort } from "#test/support/free-port.ts";
import { failureOf } from "#test/support/http-engine.ts";
import { runMonitor, verdictOf } from "#test/support/monitor-check.ts";
import { until } from "#test/support/until.ts";

let server: HttpServer;
let other: HttpServer;
let names: DnsServer;

beforeAll(async () => {
  server = await startHttpServer();
  other = await startHttpServer();
  names = await startDnsServer({ zones: { "inside.example.net": { A: ["10.0.0.1"] } } });
});
afterAll(() => Promise.all([server.close(), other.close(), names.close()]));

const verdict = (path: string, given: Readonly<Record<string, unknown>> = {}) =>
  verdictOf(monitorHttp, { url: server.url + path, ...given });
const failure = async (url: string, given: Readonly<Record<string, unknown>> = {}) =>
  failureOf(await runMonitor(monitorHttp, { url, timeout_seconds: 1, ...given }));

describe("a page that answers as expected", () => {
  it("is up, with its status and the time to its first byte, and without the whole result", async () => {
    const { response_ms: time, elapsed_ms: elapsed, ...rest } = await verdict("/");
    expect(rest).toEqual({
      verdict: "up",
      http_status: 200,
      fault: null,
      phases: {
        redirect_ms: 0,
        dns_ms: 0,
        connect_ms: expect.any(Number),
        tls_ms: 0,
        processing_ms: expect.any(Number),
      },
      certificate_fingerprint: null,
      whole: null,
    });
    expect(time).toBeGreaterThan(0);
    expect(time).toBeLessThanOrEqual(elapsed + 1);
  });

  it("is read up to a megabyte, so that a body without an end is up", async () => {
    for (const path of ["/endless-body", "/endless-chunks", "/bomb/gzip", "/bytes/6000000"]) {
      expect(await verdict(path), path).toMatchObject({ verdict: "up", http_status: 200 });
    }
    await until(() => server.open() === 0, "every connection is closed");
  });

  it.each([
    ["/status/204", [[200, 299]]],
    ["/status/404", [[404, 404]]],
    [
      "/status/503",
      [
        [200, 200],
        [500, 599],
      ],
    ],
  ])("may answer %s if one of %j is expected", async (path, expected) => {
    expect(await verdict(path, { expected })).toMatchObject({ verdict: "up" });
  });
});

describe("an unexpected status", () => {
  it.each([
    ["/status/503", [[200, 200]], "expected 200, got 503", 503],
    ["/status/404", [[200, 299]], "expected 200-299, got 404", 404],
    [
      "/status/500",
      [
        [200, 200],
        [301, 302],
      ],
      "expected 200, 301-302, got 500",
      500,
    ],
  ])("%s is down where %j is expected: %s", async (path, expected, message, code) => {
    expect(await verdict(path, { expected })).toMatchObject({
      verdict: "down",
      http_status: code,
      fault: { stage: "response", reason: "unexpected_status", message },
    });
  });

  it("may be outside of the registry: 999", async () => {
    const wire = await startWireServer("HTTP/1.1 999 Request Denied\r\nContent-Length: 0\r\n\r\n");
    const result = await verdictOf(monitorHttp, { url: `http://127.0.0.1:${wire.port}/` });
    await wire.close();
    expect(result).toMatchObject({ http_status: 999, fault: { message: "expected 200, got 999" } });
  });
});

describe("redirects", () => {
  it("that were followed are named where a redirect is expected", async () => {
    expect((await verdict("/redirect/2", { expected: [[301, 302]] })).fault).toMatchObject({
      reason: "unexpected_status",
      message: "expected 301-302, got 200 after a redirect was followed; with follow false the first response counts",
    });
    expect((await verdict("/redirect/2", { expected: [[204, 204]] })).fault?.message).toBe("expected 204, got 200");
    expect((await verdict("/", { expected: [[301, 301]] })).fault?.message).toBe("expected 301, got 200");
  });

  it("are followed to the final response, whose status counts, and are part of the time", async () => {
    expect(await verdict("/redirect/2")).toMatchObject({ verdict: "up", http_status: 200 });
    expect(await verdict("/redirect/2", { follow: false, expected: [[302, 302]] })).toMatchObject({
      verdict: "up",
      http_status: 302,
    });
  });

  it.each([
    ["/loop", "redirect_loop"],
    ["/redirect/11", "too_many_redirects"],
  ])("without an end are a fault: %s", async (path, reason) => {
    const result = await verdict(path);
    expect(result).toMatchObject({
      verdict: "down",
      http_status: 302,
      whole: null,
      fault: { stage: "response", reason },
    });
  });

  it("to a target that cannot be followed leave the redirect as the response", async () => {
    const path = "/to?url=mailto:someone@example.test";
    expect(await verdict(path)).toMatchObject({
      verdict: "down",
      http_status: 302,
      fault: { reason: "bad_location", message: "the redirect (302) leads to mailto:someone@example.test" },
    });
    const { fault } = await verdict("/status/301");
    expect(fault).toMatchObject({ reason: "bad_location", message: "the redirect (301) has no usable Location" });
    expect(await verdict(path, { expected: [[302, 302]] })).toMatchObject({ verdict: "up", http_status: 302 });
    expect((await verdict(path, { follow: false })).fault?.message).toBe("expected 200, got 302");
  });

  it("to a refused address refuse the check", async () => {
    expect(await failure(`${server.url}/to?url=http://10.0.0.1/`)).toBe("refused");
  });

  it("to another origin drop the body and the headers of the user but those that describe the client", async () => {
    const headers = [
      ["Authorization", "Basic c2VjcmV0"],
      ["X-Plain", "secret"],
      ["Accept-Language", "de"],
    ];
    await verdict(`/to?url=${other.url}/echo&code=307`, { method: "POST", body: "secret", headers });
    const sent = (seen: HttpServer) => seen.requests.at(-1)?.headers.map(([name]) => name.toLowerCase()) ?? [];
    expect(sent(server)).toEqual(expect.arrayContaining(["authorization", "x-plain", "accept-language"]));
    expect(server.requests.at(-1)?.body).toBe("secret");
    expect(sent(other)).toContain("accept-language");
    expect(sent(other)).not.toContain("authorization");
    expect(sent(other)).not.toContain("x-plain");
    expect(other.requests.at(-1)).toMatchObject({ method: "POST", body: "" });
  });
});

describe("a request", () => {
  it("has the configured method, headers and body", async () => {
    const body = '{"häuser": 2}';
    const headers = [["Content-Type", "application/json"]];
    expect(await verdict("/echo", { method: "POST", body, headers })).toMatchObject({ verdict: "up" });
    const seen = server.requests.at(-1);
    expect(seen).toMatchObject({ method: "POST", body: Buffer.from(body).toString("latin1") });
    expect(seen?.headers).toContainEqual(["Content-Type", "application/json"]);
    expect(await verdict("/", { method: "HEAD" })).toMatchObject({ verdict: "up", http_status: 200 });
    expect(server.requests.at(-1)?.method).toBe("HEAD");
  });

  it("sends a body with POST only", async () => {
    await verdict("/echo", { method: "GET", body: "x=1" });
    expect(server.requests.at(-1)).toMatchObject({ method: "GET", body: "" });
  });

  it.each([["Host"], ["Transfer-Encoding"], ["Connection"]])("cannot replace %s", async (name) => {
    const outcome = await runMonitor(monitorHttp, { url: server.url, headers: [[name, "x"]] });
    expect(outcome).toMatchObject({ status: "invalid", field: "request_headers" });
  });
});

describe("a target without an answer", () => {
  it.each([
    ["/silent", "response/target/timeout"],
    ["/drip?ms=50", "response/target/timeout"],
    ["/reset-early", "response/target/reset"],
    ["/endless-headers", "response/target/headers_overflow"],
    ["/hints/forever", "response/target/informational_flood"],
    ["/wire?bytes=junk", "response/target/not_http"],
  ])("%s fails as %s", async (path, expected) => {
    expect(await failure(server.url + path)).toBe(expected);
  });

  it("fails if nothing listens, if the name does not exist, and if no resolver answers", async () => {
    expect(await failure(`http://127.0.0.1:${await freePort()}/`)).toBe("connect/target/refused");
    const setting = { dnsServers: [names.address] };
    const absent = await runMonitor(monitorHttp, { url: "http://absent.example.net/" }, setting);
    expect(failureOf(absent)).toBe("dns/target/nxdomain");
    expect(await failure("http://www.example.net/")).toBe("dns/resolver/timeout");
  });

  it("is refused if its name resolves to a refused address", async () => {
    const outcome = await runMonitor(
      monitorHttp,
      { url: "http://inside.example.net/" },
      { dnsServers: [names.address], egress: createEgress({ targets: ["127.0.0.0/8"], names: [] }) },
    );
    expect(outcome).toEqual({ status: "refused" });
  });
});

describe("the whole result", () => {
  it("is that of the check tool for the same request, sent when the verdict changes", async () => {
    const before = server.requests.length;
    const down = await verdict("/status/503", { known: "up" });
    expect(server.requests.length - before).toBe(1);
    expect(Array.from(Value.Errors(checkContract.result, down.whole))).toEqual([]);
    expect(down.whole).toMatchObject({ url: `${server.url}/status/503`, code: 503, ip: "127.0.0.1" });
    expect(await verdict("/status/503", { known: "down" })).toMatchObject({ whole: null });
    expect((await verdict("/", { known: "down" })).whole).toMatchObject({ code: 200, body: { truncated: false } });
    expect((await verdict("/", { known: null })).whole).toMatchObject({ code: 200 });
  });

  it("is sent in any case if it is asked for, and has the same time as the short one", async () => {
    const { whole, response_ms: time } = await verdict("/redirect/1", { always_whole: true });
    const { timing_us: us } = whole as { readonly timing_us: Readonly<Record<string, number>> };
    const toFirstByte = ["redirect_us", "dns_us", "connect_us", "tls_us", "ttfb_us"].map((phase) => us[phase] ?? 0);
    expect(time).toBeCloseTo(toFirstByte.reduce((sum, value) => sum + value, 0) / 1_000, 6);
  });

  it("says that a body was not read to its end", async () => {
    const cut = await verdict("/short", { always_whole: true });
    expect(cut).toMatchObject({ verdict: "down", whole: { body: { error: "incomplete" } } });
    const unread = await verdict("/status/500", { known: "up" });
    expect(unread.whole).toMatchObject({ body: { truncated: true, transferred_bytes: 0 } });
  });

  it("is left out if it does not fit into the answer", async () => {
    // Ten redirects between long URLs, and a header of octets that JSON shows as two each.
    const hostile = await startHttpServer({
      handler(_request, response, { path }) {
        const step = Number(path.slice(1).split("?")[0]);
        const long = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`x-${at}`, "\u00ff".repeat(3_000)]));
        if (step < 10) response.writeHead(302, { location: `/${step + 1}?${"x".repeat(7_500)}` });
        else response.writeHead(500, long);
        response.end();
        return true;
      },
    });
    const result = await verdictOf(monitorHttp, { url: `${hostile.url}/0` });
    await hostile.close();
    expect(result).toMatchObject({ verdict: "down", http_status: 500, whole: null });
  });
});
