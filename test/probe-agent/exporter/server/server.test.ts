import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { describe, expect, it } from "vitest";
import { NO_OPT_OUTS } from "#shared/internet/opt-out.ts";
import { createTargetRule } from "#probe-agent/exporter/server/start.ts";
import { createPki } from "#test/servers/pki.ts";
import { startHttpServer } from "#test/servers/http.ts";
import { closeAfterEach } from "#test/support/close-after-each.ts";
import { useExporters } from "#test/support/exporter.ts";

const open = useExporters();
const keep = closeAfterEach();
const MODULES = { http_2xx: { prober: "http" } };

function temporaryFolder(): { readonly path: string; close(): void } {
  const path = mkdtempSync(join(tmpdir(), "vantage-web-"));
  return { path, close: () => rmSync(path, { recursive: true }) };
}

/** Asks with any Host, which fetch does not allow. Returns the status. */
function askAs(port: number, headers: Readonly<Record<string, string>>): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({ port, host: "127.0.0.1", path: "/-/healthy", headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.on("error", reject).end();
  });
}

describe("the paths", () => {
  it("are those of blackbox_exporter", async () => {
    const exporter = await open(MODULES);
    const healthy = await exporter.ask("/-/healthy");
    expect([healthy.status, await healthy.text()]).toEqual([200, "Healthy"]);
    expect((await exporter.ask("/-/reload")).status).toBe(405);
    expect((await exporter.ask("/-/reload", { method: "POST" })).status).toBe(200);
    expect((await exporter.ask("/nothing")).status).toBe(404);
    expect((await exporter.ask("/probe", { method: "DELETE" })).status).toBe(405);
    expect(await (await exporter.ask("/config")).text()).toBe("modules:\n  http_2xx:\n    prober: http\n");
    const metrics = await (await exporter.ask("/metrics")).text();
    expect(metrics).toContain("\nblackbox_exporter_config_last_reload_successful 1\n");
    expect(metrics).toContain("\n# TYPE blackbox_module_unknown_total counter\n");
    expect(metrics).toMatch(/\nblackbox_exporter_build_info\{.*version="0\.0\.0"\} 1\n/);
    expect(metrics).toContain("\n# TYPE process_cpu_seconds_total counter\n");
  });

  it("have the prefix of the external URL", async () => {
    const exporter = await open(MODULES, { routePrefix: "/blackbox" });
    expect((await exporter.ask("/blackbox/-/healthy")).status).toBe(200);
    expect((await exporter.ask("/-/healthy")).status).toBe(404);
    expect(await (await exporter.ask("/blackbox")).text()).toContain('href="/blackbox/metrics"');
  });

  it("refuse a scrape that says too little or too much", async () => {
    const exporter = await open({ ...MODULES, hosted: { prober: "http", http: { headers: { host: "a.example" } } } });
    const cases = [
      [{ module: "none", target: "x" }, 'Unknown module "none"\n'],
      [{ module: "http_2xx" }, "Target parameter is missing\n"],
      [{ module: "http_2xx", target: "a".repeat(9000) }, "Target parameter is longer than 8192 characters\n"],
      [
        { module: "hosted", target: "x", hostname: "b.example" },
        "host header defined both in module configuration (a.example) and with URL-parameter 'hostname' (b.example)\n",
      ],
      [{ module: "http_2xx", target: "x", hostname: "a\r\nb: c" }, "The hostname parameter is no host name\n"],
    ] as const;
    for (const [query, message] of cases) {
      const answer = await exporter.probe(query);
      expect([answer.status, answer.text]).toEqual([400, message]);
    }
    const timeout = await exporter.ask("/probe?target=x", {
      headers: { "x-prometheus-scrape-timeout-seconds": "soon" },
    });
    expect([timeout.status, await timeout.text()]).toEqual([
      400,
      "Failed to parse timeout from Prometheus header: it must be a number of seconds\n",
    ]);
    expect(await (await exporter.ask("/metrics")).text()).toContain("\nblackbox_module_unknown_total 1\n");
  });

  it("show the recent probes with their logs, without their markup taking effect", async () => {
    const server = keep(await startHttpServer());
    const exporter = await open(MODULES);
    await exporter.probe({ target: server.url });
    await exporter.probe({ target: "http://<script>alert(1)</script>/" });
    const page = await exporter.ask("/");
    const html = await page.text();
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(html).toContain(`<td>${server.url}</td><td>Success</td><td><a href="/logs?id=0">Logs</a></td>`);
    expect(html).toContain("&lt;script&gt;");
    expect(html).not.toContain("<script>");
    const log = await (await exporter.ask("/logs?id=0")).text();
    expect(log).toContain('level=info msg="Received HTTP response" status_code=200');
    expect(log).toContain("Metrics that would have been returned:\n# HELP probe_dns_lookup_time_seconds");
    expect(log).toContain("Module configuration:\nprober: http\n");
    expect((await exporter.ask("/logs?id=99")).status).toBe(404);
  });
});

describe("a file that is read again", () => {
  it("takes effect, or is kept as it was with what is wrong in the answer", async () => {
    const exporter = await open(MODULES);
    writeFileSync(exporter.configFile, "modules:\n  other: {prober: tcp}\n");
    expect((await exporter.ask("/-/reload", { method: "POST" })).status).toBe(200);
    expect((await exporter.probe({ module: "http_2xx", target: "x" })).status).toBe(400);
    writeFileSync(exporter.configFile, "modules:\n  other: {prober: tcpp}\n");
    const reload = await exporter.ask("/-/reload", { method: "PUT" });
    expect(reload.status).toBe(500);
    expect(await reload.text()).toContain(
      `${exporter.configFile}:2:11: other.prober has the prober "tcpp", which is not supported`,
    );
    expect(await (await exporter.ask("/config")).text()).toContain("prober: tcp\n");
    const metrics = await (await exporter.ask("/metrics")).text();
    expect(metrics).toContain("\nblackbox_exporter_config_last_reload_successful 0\n");
    expect(exporter.warnings).toHaveLength(1);
  });

  it("stops the start with every fault, as file, line and column", async () => {
    await expect(open("modules:\n  a: {prober: x}\n  b: {prober: y}\n")).rejects.toThrow(
      /blackbox\.yml:2:7: a\.prober .*\n.*:3:7: b\.prober /,
    );
  });
});

describe("who may reach what", () => {
  const config = {
    configFile: null,
    webConfigFile: null,
    externalUrl: null,
    routePrefix: "",
    timeoutOffsetMs: 0,
    historyLimit: 0,
  };
  const loopback = [
    { host: "127.0.0.1", port: 1 },
    { host: "::1", port: 1 },
  ];
  const everywhere = [...loopback, { host: "::", port: 1 }];

  it.each([
    ["10.0.0.1", true, false, true],
    ["127.0.0.1", true, false, false],
    ["::1", true, false, false],
    ["192.0.2.1", true, false, false],
    ["8.8.8.8", true, true, true],
    ["2606:4700::1", true, true, true],
    ["169.254.169.254", false, false, false],
    ["64:ff9b::a9fe:a9fe", false, false, false],
    ["100.100.100.200", false, false, false],
    ["fd00:ec2::254", false, false, false],
    ["::ffff:10.0.0.1", false, false, false],
    ["fe80::1%eth0", false, false, false],
    ["9.9.9.9", false, false, false],
  ])("%s: %s for listeners on loopback, %s for others, %s with ranges that are listed", (ip, near, far, listed) => {
    const optOut = { ...NO_OPT_OUTS, deniesAddress: (address: string) => address === "9.9.9.9" };
    const ranges = ["10.0.0.0/8", "169.254.0.0/16"];
    expect(createTargetRule({ ...config, addresses: loopback, allowTargets: null }, optOut)(ip)).toBe(near);
    expect(createTargetRule({ ...config, addresses: everywhere, allowTargets: null }, optOut)(ip)).toBe(far);
    expect(createTargetRule({ ...config, addresses: everywhere, allowTargets: ranges }, optOut)(ip)).toBe(listed);
  });

  it("a target that is not allowed is no result: the scrape fails with what to set", async () => {
    const server = keep(await startHttpServer());
    const exporter = await open(MODULES, { allowTargets: [], denied: ["denied.localhost"] });
    const answer = await exporter.probe({ target: server.url });
    expect(answer.status).toBe(403);
    expect(answer.text).toContain("is not an allowed target. Add its range to VANTAGE_EXPORTER_ALLOW_TARGETS.");
    expect(server.accepted()).toBe(0);
  });

  it.each([
    [{ host: "exporter.example" }, 200],
    [{ host: "127.0.0.1", "sec-fetch-mode": "navigate", "sec-fetch-site": "none" }, 200],
    [{ host: "localhost:9115", "sec-fetch-mode": "navigate", "sec-fetch-site": "same-origin" }, 200],
    [{ host: "[::1]:9115", origin: "http://[::1]:9115" }, 200],
    [{ host: "public.example", "sec-fetch-mode": "navigate" }, 200],
    [{ host: "rebound.example", "sec-fetch-mode": "cors" }, 403],
    [{ host: "rebound.example:9115", origin: "http://rebound.example:9115" }, 403],
    [{ host: "127.0.0.1:9115", "sec-fetch-mode": "no-cors", "sec-fetch-site": "cross-site" }, 403],
    [{ host: "localhost:9115", "sec-fetch-mode": "no-cors", "sec-fetch-site": "same-site" }, 403],
    [{ host: "127.0.0.1:9115", origin: "https://evil.example" }, 403],
    [{ host: "127.0.0.1:9115", origin: "null" }, 403],
  ])("a request with %j is answered %d", async (headers, status) => {
    const exporter = await open(MODULES, { externalUrl: "https://public.example/" });
    expect(await askAs(exporter.port, headers as Record<string, string>)).toBe(status);
  });
});

describe("the web configuration", () => {
  // "scrape-me" with a cost of 4.
  const HASH = "$2b$04$RlSW8WW3Psb5V180lKjUO./eD6TSzUfGMR2ITAktaRhD1iupL1DKC";

  it("asks for a user's password, and adds its fields", async () => {
    const web = {
      basic_auth_users: { prometheus: HASH },
      http_server_config: { headers: { "X-Frame-Options": "deny" } },
    };
    const exporter = await open(MODULES, { web });
    const ask = (pair: string | null) =>
      exporter.ask(
        "/-/healthy",
        pair === null ? {} : { headers: { authorization: `Basic ${Buffer.from(pair).toString("base64")}` } },
      );
    const unnamed = await ask(null);
    expect([unnamed.status, unnamed.headers.get("www-authenticate")]).toEqual([401, "Basic"]);
    expect((await ask("prometheus:wrong")).status).toBe(401);
    expect((await ask("nobody:scrape-me")).status).toBe(401);
    expect((await ask(`prometheus:${"x".repeat(80)}`)).status).toBe(401);
    const good = await ask("prometheus:scrape-me");
    expect([good.status, good.headers.get("x-frame-options")]).toEqual([200, "deny"]);
    expect((await ask("prometheus:scrape-me")).status).toBe(200);
    expect((await ask("prometheus:wrong")).status).toBe(401);
  });

  it.each([true, false])("serves TLS, with HTTP/2 where it is wanted: %s", async (http2) => {
    const folder = keep(temporaryFolder());
    const pki = await createPki();
    const leaf = await pki.issue({ ip: ["127.0.0.1"] });
    const [certFile, keyFile] = [join(folder.path, "cert.pem"), join(folder.path, "key.pem")];
    writeFileSync(certFile, `${leaf.pem}\n${pki.intermediate.pem}`);
    writeFileSync(keyFile, leaf.keyPem);
    const tls = { cert_file: certFile, key_file: keyFile, min_version: "TLS13" };
    const exporter = await open(MODULES, { web: { tls_server_config: tls, http_server_config: { http2 } } });
    const socket = connect({
      port: exporter.port,
      host: "127.0.0.1",
      ca: pki.root.pem,
      ALPNProtocols: ["h2", "http/1.1"],
    });
    await once(socket, "secureConnect");
    expect([socket.authorized, socket.getProtocol(), socket.alpnProtocol]).toEqual([
      true,
      "TLSv1.3",
      http2 ? "h2" : "http/1.1",
    ]);
    socket.destroy();
    const [status] = await new Promise<[number | undefined]>((resolve, reject) => {
      const request = httpsRequest(
        { port: exporter.port, host: "127.0.0.1", path: "/-/healthy", ca: pki.root.pem },
        (response) => {
          response.resume();
          resolve([response.statusCode]);
        },
      );
      request.on("error", reject).end();
    });
    expect(status).toBe(200);
  });

  it.each([
    [{ basic_auth_users: { a: "plain" } }, "basic_auth_users.a must be a bcrypt hash with a cost of at most 15"],
    [
      { basic_auth_users: { a: "$2b$20$abcdefghijklmnopqrstuuJr1H5m8y0gqQ2vFJ1eJk2mJ0GmQbq2y" } },
      "must be a bcrypt hash",
    ],
    [
      { tls_server_config: { cert_file: "/none" } },
      "tls_server_config.cert_file must be the path of a PEM file that can be read: there is no such file",
    ],
    [{ tls_server_config: {} }, "tls_server_config needs cert_file and key_file"],
    [{ tls_server_config: { cipher_suites: ["TLS_NONE"] } }, "has the unknown cipher suite TLS_NONE"],
    [{ tls_server_config: { curve_preferences: ["P1"] } }, "has the unknown curve P1"],
    [
      { tls_server_config: { client_auth_type: "RequireAnyClientCert" } },
      "is not supported: use RequireAndVerifyClientCert",
    ],
    [{ basic_auth_user: {} }, "basic_auth_user is no option: did you mean basic_auth_users?"],
  ])("with %j stops the start", async (web, message) => {
    await expect(open(MODULES, { web })).rejects.toThrow(message);
  });
});
