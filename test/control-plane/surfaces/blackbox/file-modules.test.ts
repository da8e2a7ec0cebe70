import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadModulesFile } from "#shared/process/module-files.ts";
import { createFileModules } from "#control-plane/surfaces/blackbox/file-modules.ts";
import type { FileModule, ModuleQuery } from "#control-plane/surfaces/blackbox/module.ts";

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "vantage-file-modules-"));
  for (const name of ["ca", "cert", "key", "name", "word"]) writeFileSync(join(folder, name), `${name} of ours\n`);
  writeFileSync(join(folder, "body"), " a body\n");
  writeFileSync(join(folder, "large"), "x".repeat(256 * 1024 + 1));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Creates the module whose options are these; "./" begins the path of a file. */
function moduleOf(options: string): FileModule {
  const path = join(folder, "blackbox.yml");
  writeFileSync(path, `modules: { a: { ${options.replaceAll("./", `${folder}/`)} } }\n`);
  const loaded = loadModulesFile(path);
  if (!loaded.ok) throw new Error(loaded.lines.join("\n"));
  const module = createFileModules(loaded).get("a");
  if (module === undefined) throw new Error("the file has no module a");
  return module;
}

function callOf(options: string, target: string, query: Partial<ModuleQuery> = {}) {
  return moduleOf(options).call(target, { queryName: null, queryType: null, ...query });
}

describe("a module of a file", () => {
  it.each([
    ["prober: http", "check"],
    ["prober: grpc, grpc: { tls: true }", "check"],
    ["prober: tcp", "ping"],
    ["prober: tcp, tcp: { tls: true }", "ssl"],
    ["prober: icmp", "ping"],
    ["prober: dns, dns: { query_name: a.example }", "dns"],
  ])("{ %s } needs the scope %s", (options, scope) => {
    expect(moduleOf(options).contract.scope).toBe(scope);
  });

  it.each([
    ["http", "basic_auth: { username: a }"],
    ["http", "authorization: { credentials_file: ./word }"],
    ["http", "bearer_token: b"],
    ["http", "oauth2: { client_id: a, token_url: 'http://a.example/' }"],
    ["http", "headers: { Cookie: a }"],
    ["http", "headers: { Accept: a, X-Any: b }"],
    ["http", "proxy_url: 'http://a.example'"],
    ["http", "proxy_from_environment: true"],
    ["http", "tls_config: { cert_file: ./cert, key_file: ./key }"],
    ["tcp", "tls_config: { cert_file: ./cert, key_file: ./key }"],
    ["tcp", "source_ip_address: 192.0.2.1"],
    ["icmp", "source_ip_address: 192.0.2.1"],
    ["dns", "query_name: a, source_ip_address: 192.0.2.1"],
    ["dns", "query_name: a, tls_config: { cert_file: ./cert, key_file: ./key }"],
    ["grpc", "tls_config: { cert_file: ./cert, key_file: ./key }"],
  ])("of %s with { %s } is for the operator alone", (prober, section) => {
    expect(moduleOf(`prober: ${prober}, ${prober}: { ${section} }`).isForOperator).toBe(true);
  });

  it.each([
    "prober: http, http: { headers: { Accept: text/html, User-Agent: me }, body: a, tls_config: { ca_file: ./ca } }",
    "prober: tcp, tcp: { tls: true, query_response: [{ send: a }] }",
    // Of another prober.
    "prober: tcp, http: { bearer_token: b }",
    "prober: icmp",
  ])("{ %s } is for everybody", (options) => {
    expect(moduleOf(options).isForOperator).toBe(false);
  });

  it("is sent with the content of its files, without white space around secrets", async () => {
    const tls = "tls_config: { ca_file: ./ca, cert_file: ./cert, key_file: ./key }";
    const options = `prober: http, http: { basic_auth: { username_file: ./name, password_file: ./word }, body_file: ./body, ${tls} }`;
    expect(await callOf(options, "a.example")).toMatchObject({
      params: {
        options: {
          prober: "http",
          http: {
            basic_auth: { username: "name of ours", password: "word of ours" },
            body: " a body\n",
            tls_config: { ca: "ca of ours", cert: "cert of ours", key: "key of ours" },
          },
        },
      },
    });
    const { params } = (await callOf(options, "a.example")) as { params: unknown };
    expect(JSON.stringify(params)).not.toMatch(/_file|vantage-file-modules/);
  });

  it("does not take the name of a header field for the name of an option", async () => {
    expect(await callOf("prober: http, http: { headers: { body_file: ./body } }", "a.example")).toMatchObject({
      params: { options: { http: { headers: { body_file: `${folder}/body` } } } },
    });
  });

  it("is not sent if it is too large for a job", async () => {
    await expect(callOf("prober: http, http: { body_file: ./large }", "a.example")).rejects.toMatchObject({
      code: "probe_unavailable",
    });
    const body = "x".repeat(1_000_001);
    await expect(callOf(`prober: http, http: { body: ${body} }`, "a.example")).rejects.toMatchObject({
      code: "probe_unavailable",
    });
  });

  it.each([
    ["http", "a.example/x", "http://a.example/x", { kind: "url", target: "http://a.example/x" }],
    ["http", "https://a.example", "https://a.example", { kind: "url", target: "https://a.example" }],
    ["tcp", "a.example:22", "a.example:22", { kind: "host", target: "a.example" }],
    ["tcp", "[2001:db8::1]:22", "[2001:db8::1]:22", { kind: "host", target: "2001:db8::1" }],
    ["icmp", "[2001:db8::1]", "2001:db8::1", { kind: "host", target: "2001:db8::1" }],
    ["grpc", "a.example", "a.example", { kind: "host", target: "a.example" }],
  ])("of %s reads the target %s", async (prober, given, target, reaches) => {
    expect(await callOf(`prober: ${prober}`, given)).toMatchObject({ params: { target }, reaches });
  });

  it.each([
    ["http", "ftp://a.example"],
    ["http", "http://me@a.example"],
    ["tcp", "a.example"],
    ["tcp", "a.example:0"],
    ["icmp", "a.example:7"],
    ["icmp", "http://a.example"],
    ["grpc", "a.example:0"],
  ])("of %s refuses the target %s", async (prober, target) => {
    expect(await callOf(`prober: ${prober}`, target)).toMatchObject({ field: "target" });
  });

  it.each([
    ["", null, 60_000],
    ["timeout: 5s, ", null, 5_000],
    ["timeout: 5s, ", 9_500, 5_000],
    ["", 9_500, 9_250],
    ["", 200, 100],
    ["timeout: 2h, ", null, 60_000],
  ])("with { %s} and %s ms for the scrape has %i ms", async (timeout, timeoutMs, expected) => {
    expect(await callOf(`${timeout}prober: icmp`, "a.example", { timeoutMs })).toMatchObject({
      params: { timeout_ms: expected },
    });
  });
});
