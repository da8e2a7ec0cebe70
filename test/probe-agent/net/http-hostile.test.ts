import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startDnsServer, type DnsServer } from "#test/servers/dns.ts";
import { startHttpServer, type HttpServer } from "#test/servers/http.ts";
import { startSilentPort, type SilentPort } from "#test/servers/silent.ts";
import { startWireServer, writeForever, type WireHandler } from "#test/servers/wire.ts";
import { systemClock } from "#test/support/clock.ts";
import { endsBy } from "#test/support/deadlines.ts";
import { growsAtMost } from "#test/support/memory.ts";
import { dnsPort, jobLimits, loopbackEgress } from "#test/support/net.ts";
import { createHttp } from "#probe-agent/net/http.ts";
import { failureOf, httpEngine, pageOf } from "#test/support/http-engine.ts";
import { until } from "#test/support/until.ts";

/** For what the deadline ends, at whatever stage that is. */
const DEADLINE_MS = 700;
/** For what ends by itself: far above what a busy machine needs, so that the deadline is never the reason. */
const NO_DEADLINE_MS = 60_000;
const CAP = 5 * 1024 * 1024;

const get = httpEngine();
let server: HttpServer;

beforeAll(async () => {
  server = await startHttpServer();
});
afterAll(() => server.close());

/** Runs a fetch that only the end of its job ends, which comes once `isWaiting`: until then the stage is another one. */
const cutShort = (url: string, isWaiting: () => boolean, more: Parameters<typeof get>[0] | object = {}) =>
  get({ url, ...more }, NO_DEADLINE_MS, until(isWaiting, "the fetch waits for the server"));

/** Runs a fetch that must end long before its deadline. */
const unhurried = (url: string) => get({ url }, NO_DEADLINE_MS);

/** Runs the one of the two that this failure needs. */
const fetchUntil = (failure: string, url: string, isWaiting: () => boolean) =>
  failure.endsWith("/timeout") ? cutShort(url, isWaiting) : unhurried(url);

describe("a hostile server", () => {
  it.each([
    ["/silent", "response/target/timeout"],
    ["/drip?ms=20", "response/target/timeout"],
    ["/drip-body?ms=20", "response/target/timeout"],
    ["/endless-headers", "response/target/headers_overflow"],
    ["/hints/forever", "response/target/informational_flood"],
    ["/hints/33", "response/target/informational_flood"],
    ["/reset-early", "response/target/reset"],
    ["/wire?bytes=", "response/target/closed"],
    ["/wire?bytes=HTTP/1.1 200 OK", "response/target/closed"],
    ["/wire?bytes=<html>This is HTTP/0.9</html>", "response/target/not_http"],
    ["/wire?bytes=%00%01%02%03%04garbage", "response/target/not_http"],
    ["/wire?bytes=HTTP/1.1 huh%0D%0A%0D%0A", "response/target/protocol_error"],
  ])("%s ends as %s, in time, and the connection is closed", async (path, expected) => {
    const before = server.requests.length;
    const isAsked = () => server.requests.length > before;
    expect(failureOf(await fetchUntil(expected, server.url + path, isAsked))).toBe(expected);
    await until(() => server.open() === 0, "the connection is closed");
  });

  it.each([
    [
      "HTTP/1.1 099 What",
      "protocol_error",
      '"HTTP/1.1 099 What" is not valid: the status code "099" is not between 100',
    ],
    ["HTTP/1.1 000", "protocol_error", '"HTTP/1.1 000" is not valid: the status code "000" is not between 100 and 599'],
    ["HTTP/1.1 1000", "protocol_error", 'the status code "1000" is not three digits (RFC 9110 section 15)'],
    ["HTTP/1.1 abc", "protocol_error", 'the status code "abc" is not three digits'],
    ["HTTP/1.1 20%C3%BC OK", "protocol_error", "is not three digits"],
    ["HTTP/1.1 ", "protocol_error", '"HTTP/1.1 " is not valid: the status code is missing'],
    ["HTTP/1.1", "protocol_error", "the status code is missing"],
    ["HTTP/one 200 OK", "protocol_error", "it does not start with an HTTP version"],
    [`HTTP/1.1 ${"9".repeat(500)}`, "protocol_error", `the status code "${"9".repeat(15)}…" is not three digits`],
    ["ICY 200 OK", "not_http", 'not HTTP/1 but SHOUTcast (ICY); it starts with "ICY 200 OK'],
    ["SSH-2.0-OpenSSH_9.2%0D%0A", "not_http", 'not HTTP/1 but SSH; it starts with "SSH-2.0-OpenSSH_9.2'],
    ["%15%03%03%00%02%02%28", "not_http", "not HTTP/1 but TLS (use https://)"],
    ["220 mail.example ESMTP%0D%0A", "not_http", "not HTTP/1 but SMTP or FTP"],
    ["%00%00%06%04%00%00%00%00%00%00%03%00%00%00%64", "not_http", "not HTTP/1 but HTTP/2 without TLS"],
    ["%0D%0AHTTP/1.1 200 OK", "not_http", "not HTTP/1 but an empty line where the status line should be"],
    ["<html>", "not_http", "not HTTP/1 but HTTP/0.9 or a bare page"],
    ["junk%00%1B[31m", "not_http", 'not HTTP/1 but another protocol; it starts with "junk\ufffd\ufffd[31m'],
  ])("that answers %j gets a failure that names the cause", async (line, reason, words) => {
    const outcome = await unhurried(`${server.url}/wire?bytes=${line}%0D%0A%0D%0A`);
    expect(failureOf(outcome)).toBe(`response/target/${reason}`);
    expect(outcome).toMatchObject({ message: expect.stringContaining(words) as string });
    // oxlint-disable-next-line no-control-regex -- control characters are what this looks for
    expect((outcome as { message: string }).message).toMatch(/^[^\u0000-\u001f]{1,260}$/);
  });

  it.each([
    ["HTTP/1.1 600 Odd", 600, "1.1", ["status_code_out_of_range"]],
    ["HTTP/1.1 999", 999, "1.1", ["status_code_out_of_range"]],
    ["HTTP/3.0 200", 200, "1.1", ["status_line_version_3.0"]],
    ["HTTP/2 200 OK", 200, "1.1", ["status_line_version_2"]],
    ["HTTP/0.9 200 OK", 200, "1.0", ["status_line_version_0.9"]],
    ["HTTP/1.1 599", 599, "1.1", []],
  ])("that answers %j gets a result that names the fault", async (line, code, version, faults) => {
    const { final } = pageOf(await unhurried(`${server.url}/wire?bytes=${line}%0D%0A%0D%0Ahello`));
    expect([final.code, final.httpVersion, final.faults]).toEqual([code, version, faults]);
  });

  it("with a header that is too large gets a failure with the limit", async () => {
    const outcome = await unhurried(`${server.url}/endless-headers`);
    expect(outcome).toMatchObject({ message: expect.stringContaining("over 64 KB or 1000 lines") as string });
  });

  it("cannot extend the deadline with a chain of slow redirects", async () => {
    const slow = await startHttpServer({
      handler: (_request, response, { path }) => {
        const step = Number(path.slice(1));
        setTimeout(() => response.writeHead(302, { location: `/${step + 1}` }).end(), 200);
        return true;
      },
    });
    const outcome = await endsBy(DEADLINE_MS, () => get({ url: `${slow.url}/1` }, DEADLINE_MS));
    // It may come between two answers, while the connection of the next hop is made.
    expect(failureOf(outcome)).toMatch(/^(?:connect|response)\/target\/timeout$/);
    expect(slow.requests.length).toBeLessThan(6);
    await slow.close();
  });

  it.each([
    ["/endless-body", null],
    ["/bomb/gzip?size=200000000", null],
    ["/bomb/br?size=20000000", "inflation_ratio"],
    ["/bomb/zstd?size=200000000", "inflation_ratio"],
  ])("%s is truncated at the limit", async (path, error) => {
    // The server creates its bomb in this process, so its size is added to the limit.
    const outcome = await growsAtMost(400 << 20, () => unhurried(server.url + path));
    const { body } = pageOf(outcome);
    expect(body).toMatchObject({ truncated: true, error });
    expect(body.bytes.length).toBeLessThanOrEqual(CAP);
    expect(body.transferredBytes).toBeLessThan(CAP + 200_000);
    await until(() => server.open() === 0, "the connection is closed");
  });

  it.each([
    ["/short", "incomplete", "only this"],
    ["/reset", "reset", "some of it"],
    ["/endless-chunks", "chunk_overhead", "xxxx"],
    ["/lying/gzip", "bad_encoding", ""],
    ["/lying/zstd", "bad_encoding", ""],
    ["/lying/compress", "unknown_encoding", "this is plain text"],
    ["/wire?bytes=HTTP/1.1 200 OK%0ATransfer-Encoding: chunked%0A%0A5%0Ahello", "incomplete", "hello"],
    ["/wire?bytes=HTTP/1.1 200 OK%0ATransfer-Encoding: chunked%0A%0Azz%0A", "bad_chunk", ""],
    ["/wire?bytes=HTTP/1.1 200 OK%0AContent-Length: 5, 6%0A%0Ahello", "bad_content_length", "hello"],
    ["/wire?bytes=HTTP/1.1 200 OK%0AContent-Length: 2%0A%0Ahello", null, "he"],
    ["/wire?bytes=HTTP/1.1 200 OK%0AContent-Length: 99999999999999%0A%0Ahello", "incomplete", "hello"],
  ])("with wrong facts about its body (%s) gets a result with the error %s", async (path, error, text) => {
    const { body, final } = pageOf(await unhurried(server.url + path));
    expect(final.code).toBe(200);
    expect(body).toMatchObject({ error, truncated: false });
    expect(Buffer.from(body.bytes).toString()).toBe(text);
    await until(() => server.open() === 0, "the connection is closed");
  });

  it("that never reads the request fails at the stage request", async () => {
    const deaf = await startWireServer((socket) => void setImmediate(() => socket.pause()));
    const body = Buffer.alloc(64 << 20);
    const isConnected = () => deaf.accepted() > 0;
    const outcome = await cutShort(`http://127.0.0.1:${deaf.port}/`, isConnected, { method: "POST", body });
    expect(failureOf(outcome)).toBe("request/target/timeout");
    await deaf.close();
  });
});

describe("a hostile TLS port", () => {
  it.each<[string, WireHandler, string]>([
    ["speaks plain HTTP", (socket) => void socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"), "tls/target/not_tls"],
    ["says nothing", () => undefined, "tls/target/timeout"],
    ["closes", (socket) => void socket.end(), "tls/target/closed"],
    ["resets", (socket) => void socket.resetAndDestroy(), "tls/target/reset"],
    ["never stops", (socket) => writeForever(socket, Buffer.alloc(65_536, 0x16)), "tls/target/not_tls"],
    [
      "answers with an alert",
      (socket) => void socket.end(Buffer.from([21, 3, 3, 0, 2, 2, 40])),
      "tls/target/handshake_failure",
    ],
    [
      "knows no such name",
      (socket) => void socket.end(Buffer.from([21, 3, 3, 0, 2, 2, 112])),
      "tls/target/unrecognized_name",
    ],
    [
      "wants another version",
      (socket) => void socket.end(Buffer.from([21, 3, 1, 0, 2, 2, 70])),
      "tls/target/protocol_version",
    ],
  ])("that %s ends in time with the reason", async (_what, handler, expected) => {
    const wire = await startWireServer(handler);
    const isConnected = () => wire.accepted() > 0;
    expect(failureOf(await fetchUntil(expected, `https://127.0.0.1:${wire.port}/`, isConnected))).toBe(expected);
    await until(() => wire.open() === 0, "the connection is closed");
    await wire.close();
  });
});

describe("a port that speaks another protocol than TLS", () => {
  it.each<[string, string, boolean, string]>([
    ["plain HTTP", "HTTP/1.1 400 Bad Request\r\n\r\n", false, "plain HTTP (use http://)"],
    ["SSH, and speaks first", "SSH-2.0-OpenSSH_9.2\r\n", true, "SSH"],
    ["SMTP, and speaks first", "220 mail.example ESMTP\r\n", true, "SMTP or FTP"],
  ])("is reported with its name: %s", async (_what, bytes, atOnce, name) => {
    const wire = await startWireServer(bytes, { atOnce });
    const outcome = await unhurried(`https://127.0.0.1:${wire.port}/`);
    expect(failureOf(outcome)).toBe("tls/target/not_tls");
    const [line = ""] = bytes.split("\r\n");
    const words = `the port does not speak TLS but ${name}, it answers "${line}`;
    expect(outcome).toMatchObject({ message: expect.stringContaining(words) as string });
    expect(wire.accepted()).toBe(2);
    await until(() => wire.open() === 0, "the connection is closed");
    await wire.close();
  });
});

describe("a port that does not answer", () => {
  let silent: SilentPort;
  let dns: DnsServer;

  beforeAll(async () => {
    silent = await startSilentPort("127.0.0.1");
    dns = await startDnsServer({
      zones: { "half.test": { A: ["127.0.0.1", "127.0.0.2"] } },
      behaviours: { "slow.test": { drop: true } },
    });
  });
  afterAll(async () => {
    await silent.close();
    await dns.close();
  });

  it("is a connect timeout at the deadline", async () => {
    const url = `http://127.0.0.1:${silent.port}/`;
    expect(failureOf(await endsBy(DEADLINE_MS, () => get({ url }, DEADLINE_MS)))).toBe("connect/target/timeout");
  });

  it("uses its share of the time, then the next address is tried", async () => {
    const second = await startHttpServer({ host: "127.0.0.2", port: silent.port });
    const named = httpEngine({ dnsServers: [dns.address] });
    const page = pageOf(await named({ url: `http://half.test:${silent.port}/` }, 3000));
    expect(page.final.ip).toBe("127.0.0.2");
    await second.close();
  });

  it("is a DNS timeout if the resolver does not answer", async () => {
    const named = httpEngine({ dnsServers: [dns.address] });
    const outcome = await endsBy(DEADLINE_MS, () => named({ url: "http://slow.test/" }, DEADLINE_MS));
    expect(failureOf(outcome)).toBe("dns/resolver/timeout");
  });
});

describe("a job that has ended before it starts", () => {
  it("contacts no server", async () => {
    const wire = await startWireServer("HTTP/1.1 200 OK\r\n\r\n");
    const http = createHttp({ clock: systemClock, egress: loopbackEgress, userAgent: "x" });
    const job = jobLimits(0, AbortSignal.abort());
    const fetched = http(job, dnsPort([])).fetch({
      url: `http://127.0.0.1:${wire.port}/`,
      method: "GET",
      follow: true,
    });
    expect(failureOf(await fetched)).toBe("connect/target/timeout");
    expect(wire.accepted()).toBe(0);
    await wire.close();
  });
});
