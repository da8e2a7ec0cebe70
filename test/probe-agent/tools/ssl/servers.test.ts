import { afterAll, describe, expect, it } from "vitest";
import { startTlsVariant, TLS_HOST } from "#test/servers/tls-variants.ts";
import { startHttpServer } from "#test/servers/http.ts";
import { startTlsServer } from "#test/servers/tls.ts";
import { identityOf } from "#test/support/http-engine.ts";
import { startSslBench, TRUSTED, findingIds } from "#test/support/ssl-bench.ts";
import type { SslResult } from "#test/support/ssl-status.ts";

const bench = await startSslBench();
const { pki, run, check, result } = bench;
afterAll(() => bench.close());

describe("handshakes that fail after the certificate", () => {
  it.each([
    ["client_certificate", "certificate_required"],
    ["client_certificate_tls12", "handshake_failure"],
    ["half_alert", "internal_error"],
    ["half_close", "closed"],
    ["half_reset", "reset"],
  ] as const)("still show it: %s", async (variant, reason) => {
    const data = await result(variant);
    expect(data).toMatchObject({ ...TRUSTED, handshake_error: { reason } });
    expect(data.client_certificate_requested).toBe(variant.startsWith("client"));
  });

  it("are reported if the server stops answering", async () => {
    expect(await result("half_hanging")).toMatchObject({
      handshake_error: { reason: "timeout" },
      protocol: null,
      protocols: { tls1_2: true },
    });
  });
});

describe("servers without a certificate", () => {
  it.each([
    ["plain_text", "plain_text"],
    ["garbage", "not_tls"],
    ["hanging", "timeout"],
    ["closing", "closed"],
    ["reset", "reset"],
    ["alert_handshake_failure", "handshake_failure"],
  ] as const)("fail in stage tls: %s", async (variant, reason) => {
    expect(await check(variant)).toMatchObject({ status: "failed", stage: "tls", source: "target", reason });
  });

  it("that do not listen fail in stage connect", async () => {
    const server = await startTlsVariant("good", pki);
    await server.close();
    expect(await run(server.port)).toMatchObject({ status: "failed", stage: "connect", reason: "refused" });
  });

  it("whose name does not exist fail in stage dns", async () => {
    expect(await run(443, "nowhere.example")).toMatchObject({ status: "failed", stage: "dns", reason: "nxdomain" });
  });
});

describe("hosts and addresses", () => {
  it("an IP literal is matched against addresses and sends no SNI", async () => {
    const server = await startTlsServer({ chain: [await pki.issue({ ip: ["127.0.0.1"] }), pki.intermediate] });
    const outcome = await run(server.port, "127.0.0.1");
    await server.close();
    expect(outcome).toMatchObject({ status: "ok", data: { ...TRUSTED, servername: null } });
    expect(server.servernames[0]).toBeNull();
  });

  it("the next address is tried if one refuses the connection", async () => {
    const server = await startTlsVariant("wrong_host", pki);
    const outcome = await run(server.port, "two.example");
    await server.close();
    expect(outcome).toMatchObject({ status: "ok", data: { ip: "127.0.0.1" } });
  });

  it("a forbidden address is shown but not contacted; a host with only forbidden addresses is refused", async () => {
    const server = await startTlsVariant("wrong_host", pki);
    const outcome = await run(server.port, "blocked.example");
    await server.close();
    const addresses = [
      { ip: "127.0.0.1", ip_version: 4, blocked: false },
      { ip: "10.0.0.1", ip_version: 4, blocked: true },
    ];
    expect(outcome).toMatchObject({ status: "ok", data: { ip: "127.0.0.1", addresses } });
    expect(await run(server.port, "private.example")).toEqual({ status: "refused" });
  });

  it("a server of another application protocol is checked too", async () => {
    expect(await result("other_alpn")).toMatchObject({ ...TRUSTED, alpn: null });
  });
});

describe("web servers", () => {
  async function site(hsts: string | null, h2 = true): Promise<SslResult> {
    const leaf = await pki.issue({ dns: [TLS_HOST] });
    const server = await startHttpServer({
      tls: { ...identityOf(leaf, pki.intermediate), ciphers: "ECDHE+AESGCM:@SECLEVEL=0" },
      h2,
      handler: (_request, response) => {
        response.writeHead(200, hsts === null ? {} : { "strict-transport-security": hsts }).end("hello");
        return true;
      },
    });
    const outcome = await run(server.port);
    await server.close();
    if (outcome.status !== "ok") throw new Error(JSON.stringify(outcome));
    return outcome.data;
  }

  it("with a year of HSTS get an A+", async () => {
    const data = await site("max-age=31536000; includeSubDomains");
    expect(data).toMatchObject({
      grade: "A+",
      grade_caps: [],
      http_alpn: ["h2", "http/1.1"],
      hsts: { present: true, max_age_s: 31_536_000, include_subdomains: true, preload: false },
    });
  });

  it.each([
    [null, { present: false, value: null, max_age_s: null }, "info:no-hsts"],
    ["max-age=86400", { present: true, value: "max-age=86400", max_age_s: 86_400 }, "info:short-hsts"],
    ["max-age=31536000; max-age=1", { present: false, max_age_s: null }, "info:no-hsts"],
  ])("with the header %s earn an A", async (header, hsts, warning) => {
    const data = await site(header);
    expect(data).toMatchObject({ grade: "A", hsts, grade_caps: [{ grade: "A" }] });
    expect(findingIds(data)).toEqual([warning]);
  });

  it("without HTTP/2 are reported as such", async () => {
    const leaf = await pki.issue({ dns: [TLS_HOST] });
    const server = await startTlsServer({ chain: [leaf, pki.intermediate], ALPNProtocols: ["http/1.1"] });
    const outcome = await run(server.port, TLS_HOST, 8000);
    await server.close();
    expect(outcome).toMatchObject({ status: "ok", data: { http_alpn: ["http/1.1"], hsts: null, grade: "A" } });
    const { limitations } = (outcome as { data: SslResult }).data;
    expect(limitations.join(" ")).toMatch(/Whether the server sends HSTS could not be determined/);
  });
});
