import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { monitorHttp } from "#probe-agent/monitor-checks/monitor-http.ts";
import { startHttpServer, type HttpServer } from "#test/servers/http.ts";
import { createPki, issue, type Issued, type Pki } from "#test/servers/pki.ts";
import { identityOf } from "#test/support/http-engine.ts";
import { verdictOf } from "#test/support/monitor-check.ts";

// Certificates have whole seconds.
const NOW = new Date(Math.floor(Date.now() / 1_000) * 1_000);
const now = () => NOW;
const ago = (seconds: number) => new Date(NOW.getTime() - seconds * 1_000);

let pki: Pki;
const servers: HttpServer[] = [];
beforeAll(async () => {
  pki = await createPki();
});
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function serve(leaf: Issued, ...above: Issued[]): Promise<HttpServer> {
  const server = await startHttpServer({ tls: identityOf(leaf, ...above), h2: true });
  servers.push(server);
  return server;
}

const good = (options: Parameters<Pki["issue"]>[0] = {}) =>
  pki.issue({ ip: ["127.0.0.1"], notBefore: ago(86_400), notAfter: ago(-86_400 * 60), ...options });
const check = (server: HttpServer, given: Readonly<Record<string, unknown>> = {}, path = "/") =>
  verdictOf(monitorHttp, { url: server.url + path, ...given }, { roots: [pki.root.pem], now });

describe("an https page", () => {
  it("is up with a trusted certificate", async () => {
    const server = await serve(await good(), pki.intermediate);
    expect(await check(server)).toMatchObject({ verdict: "up", http_status: 200, fault: null });
  });

  it("is down when its certificate has expired, by the control plane's time", async () => {
    const server = await serve(await good({ notAfter: ago(200) }), pki.intermediate);
    const result = await check(server);
    expect(result).toMatchObject({
      verdict: "down",
      http_status: 200,
      fault: { stage: "tls", reason: "expired", message: "certificate expired 3 minutes ago" },
    });
    expect(result.whole).toMatchObject({ code: 200, tls: { authorized: false, error: "expired" } });
  });

  it("is down when its certificate is not valid yet", async () => {
    const server = await serve(await good({ notBefore: ago(-7_300) }), pki.intermediate);
    expect((await check(server)).fault).toMatchObject({
      reason: "not_yet_valid",
      message: "certificate becomes valid in 2 hours",
    });
  });

  it("is down when its certificate is for another name, and says for which", async () => {
    const leaf = await good({ ip: [], dns: ["a.example", "b.example", "c.example", "d.example"] });
    const server = await serve(leaf, pki.intermediate);
    expect((await check(server)).fault).toEqual({
      stage: "tls",
      reason: "hostname_mismatch",
      message: "certificate is for a.example, b.example, c.example and 1 more, not for 127.0.0.1",
    });
  });

  it("is down when its issuer is unknown, self-signed or not sent", async () => {
    const stranger = await createPki({ name: "Stranger" });
    const untrusted = await serve(await stranger.issue({ ip: ["127.0.0.1"] }), stranger.intermediate);
    expect((await check(untrusted, {})).fault).toMatchObject({
      reason: "untrusted_root",
      message: expect.stringContaining("Stranger Root"),
    });
    const selfSigned = await serve(await good({ issuer: null }));
    expect((await check(selfSigned)).fault).toMatchObject({ reason: "self_signed" });
    const alone = await serve(await good());
    expect((await check(alone)).fault?.reason).toMatch(/missing_intermediate|untrusted_root/);
  });

  it("is up when a trusted path is hidden behind another issuer of the same name", async () => {
    const stranger = await createPki({ name: "Stranger" });
    const { name: subject, keys: key } = pki.intermediate;
    const crossSign = await issue({ ca: true, subject, key, issuer: stranger.root });
    const leaf = await good();
    const server = await serve(leaf, crossSign, pki.intermediate);
    expect(await check(server)).toMatchObject({ verdict: "up", fault: null });
    expect(await check(server, { keyword: "Hello" })).toMatchObject({ verdict: "up" });
    expect(await check(server, { known: "down" })).toMatchObject({ whole: { tls: { authorized: true } } });
    const target = await serve(await good(), pki.intermediate);
    expect(await check(server, {}, `/to?url=${target.url}/`)).toMatchObject({ verdict: "up", fault: null });
    const blind = await serve(leaf, crossSign);
    expect((await check(blind)).fault).toMatchObject({ reason: "untrusted_root" });
  });

  it("names the certificate before a wrong status or a missing keyword", async () => {
    const server = await serve(await good({ notAfter: ago(86_400 * 2) }), pki.intermediate);
    const result = await check(server, { keyword: "nothing" }, "/status/503");
    expect(result).toMatchObject({ http_status: 503, fault: { message: "certificate expired 2 days ago" } });
  });

  it("is down when a redirect leads over a host whose certificate is not trusted", async () => {
    const expired = await serve(await good({ notAfter: ago(60) }), pki.intermediate);
    const first = await serve(await good(), pki.intermediate);
    const result = await check(first, {}, `/to?url=${expired.url}/`);
    expect(result.fault).toMatchObject({
      reason: "expired",
      message: `after a redirect, at 127.0.0.1:${expired.port}: certificate expired 1 minute ago`,
    });
    const back = await check(expired, {}, `/to?url=${first.url}/`);
    expect(back).toMatchObject({ http_status: 200, fault: { reason: "expired" } });
  });
});
