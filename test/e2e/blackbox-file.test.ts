import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startHttpServer, type HttpServer } from "#test/servers/http.ts";
import { startTalker, type Talker } from "#test/servers/talker.ts";
import { callExport, exportIn } from "#test/support/audit.ts";
import { startAgent, type AgentProcess } from "#test/support/agent-process.ts";
import type { Answer } from "#test/support/control-plane.ts";
import { startControlPlaneProcess, type ControlPlaneProcess } from "#test/support/control-plane-process.ts";
import { createTestDatabase, type TestDatabase } from "#test/support/postgres.ts";
import { attachScripted, helloOf, type ScriptedAgent } from "#test/support/scripted-agent.ts";

const SECRET = "token-of-the-operator-4711";
const PASSWORD = "password-in-the-file-0815";

let database: TestDatabase;
let plane: ControlPlaneProcess;
let agent: AgentProcess;
let old: ScriptedAgent;
let web: HttpServer;
let talker: Talker;
let folder: string;
let captain: string;
let free: string;
const answers: string[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "vantage-modules-"));
  writeFileSync(join(folder, "token"), `${SECRET}\n`);
  writeFileSync(join(folder, "moved"), SECRET);
  writeFileSync(
    join(folder, "blackbox.yml"),
    `modules:
  html:
    prober: http
    http:
      fail_if_header_not_matches: [{ header: Content-Type, regexp: "^text/html" }]
    # Of another prober: it is not sent.
    tcp:
      tls_config: { ca_file: ${join(folder, "token")} }
  http_2xx:
    prober: http
    http: { valid_status_codes: [418] }
  greeting:
    prober: tcp
    tcp:
      query_response: [{ expect: "^220 (\\\\S+) ready" }, { send: "QUIT" }, { expect: "^221" }]
  token:
    prober: http
    http: { bearer_token_file: ${join(folder, "token")} }
  password:
    prober: http
    http: { basic_auth: { username: me, password: ${PASSWORD} } }
  marked:
    prober: http
    http: { headers: { X-Marked: "yes" } }
  moved:
    prober: http
    http: { bearer_token_file: ${join(folder, "moved")} }
  icmp:
    prober: icmp
    icmp: { source_ip_address: 127.0.0.1 }
`,
  );
  web = await startHttpServer();
  talker = await startTalker({ greeting: "220 here.example ready\r\n", on: { QUIT: "221 bye\r\n" } });
  database = await createTestDatabase();
  plane = await startControlPlaneProcess(database.url, {
    settings: { VANTAGE_BLACKBOX_CONFIG: join(folder, "blackbox.yml"), VANTAGE_LOG_LEVEL: "trace" },
  });
  rmSync(join(folder, "moved"));
  captain = await plane.createKey();
  free = await plane.createKey("free");
  agent = await startAgent(plane, "eu-west", { VANTAGE_LOG_LEVEL: "trace" });
  old = await attachScripted(plane, helloOf("us-east"));
});
afterAll(async () => {
  old?.cut();
  await agent?.stop();
  await plane?.end("SIGTERM");
  await Promise.all([web?.close(), talker?.close()]);
  await database?.drop();
  rmSync(folder, { recursive: true });
});

async function scrape(
  query: Readonly<Record<string, string>>,
  key = captain,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const search = new URLSearchParams({ region: "eu-west", ...query }).toString();
  const answer = await plane.call(`/api/v4/probe?${search}`, { key, headers });
  answers.push(answer.text);
  return answer;
}

/** Returns a field of the last request that the server has seen. */
function lastHeader(name: string): string | undefined {
  return web.requests.at(-1)?.headers.find(([known]) => known.toLowerCase() === name)?.[1];
}

function errorOf(answer: Answer): unknown {
  const { code, field, reason } = answer.body.error as Record<string, unknown>;
  return { status: answer.status, code, field, reason };
}

describe("a module of the operator's file", () => {
  it("judges a header, and answers with the exporter's metrics and our own", async () => {
    const answer = await scrape({ module: "html", target: web.url }, free);
    expect(answer.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect(answer.text).toMatch(/^probe_success 1$/m);
    expect(answer.text).toMatch(/^probe_http_status_code 200$/m);
    expect(answer.text).toMatch(/^vantage_probe_info\{region="eu-west",probe_id="[^"]+",country="",asn=""\} 1$/m);
    const other = await scrape({ module: "html", target: `${web.url}/bytes/3` }, free);
    expect(other.status).toBe(200);
    expect(other.text).toMatch(/^probe_success 0$/m);
    expect(other.text).toMatch(/^probe_failed_due_to_regex 1$/m);
  });

  it("has a dialogue over TCP, with the scope of ping", async () => {
    const target = `127.0.0.1:${talker.port}`;
    expect((await scrape({ module: "greeting", target })).text).toMatch(/^probe_success 1$/m);
    expect(talker.lines).toEqual(["QUIT"]);
    expect(errorOf(await scrape({ module: "greeting", target }, free))).toMatchObject({
      status: 403,
      code: "insufficient_scope",
    });
    expect(errorOf(await scrape({ module: "greeting", target: "127.0.0.1" }))).toMatchObject({
      field: "target",
      reason: "type",
    });
  });

  it("stands above a built-in one of its name", async () => {
    expect((await scrape({ target: `${web.url}/status/418` }, free)).text).toMatch(/^probe_success 1$/m);
    expect((await scrape({ target: `${web.url}/status/200` }, free)).text).toMatch(/^probe_success 0$/m);
  });

  it("takes the hostname of the query", async () => {
    await scrape({ module: "html", target: `${web.url}/echo`, hostname: "site.example" });
    expect(lastHeader("host")).toBe("site.example");
    expect(errorOf(await scrape({ module: "html", target: web.url, hostname: "a b" }))).toMatchObject({
      status: 400,
      field: "hostname",
    });
  });

  it("ends before Prometheus does, with the metrics until then", async () => {
    const header = { "x-prometheus-scrape-timeout-seconds": "2" };
    const { status, text } = await scrape({ module: "html", target: `${web.url}/silent` }, captain, header);
    expect({ status, isFailure: text.includes("\nprobe_success 0\n") }).toEqual({ status: 200, isFailure: true });
    expect(text).toContain('probe_http_duration_seconds{phase="connect"}');
  });

  it.each(["http://10.0.0.1/", "http://127.0.0.1:25/", "http://localhost.internal/"])(
    "is refused for a target that must not be reached: %s",
    async (target) => {
      expect(errorOf(await scrape({ module: "html", target }))).toMatchObject({ code: "target_not_allowed" });
    },
  );

  it("is not run by an agent of an earlier release, which is our failure", async () => {
    const asked = scrape({ module: "html", target: web.url, region: "us-east" });
    const { jobId, attempt, tool, params } = await old.nextJob();
    old.send({ body: { $case: "declined", value: { jobId, attempt, reason: "incapable" } } });
    expect(errorOf(await asked)).toMatchObject({ status: 503, code: "probe_unavailable" });
    expect({ tool, params: JSON.parse(params) as unknown }).toMatchObject({
      tool: "blackbox-probe",
      params: { options: { prober: "http" }, target: web.url, hostname: "" },
    });
    // Neither the section of another prober, nor a path.
    expect(params).not.toContain(SECRET);
    expect(params).not.toContain(folder);
  });

  it.each(['vantage_probe_info{region="eu-west"} 1\n', "probe_success 1", "<script>\n"])(
    "takes no metrics from an agent but the exporter's: %j",
    async (metrics) => {
      const asked = scrape({ module: "html", target: web.url, region: "us-east" });
      const job = await old.nextJob();
      old.accept(job);
      old.answer(job, { status: "ok", data: { verdict: "success", metrics, elapsed_ms: 1 } });
      expect(errorOf(await asked)).toMatchObject({ status: 503, code: "probe_unavailable" });
    },
  );
});

describe("a module for the operator alone", () => {
  it.each([
    ["token", `Bearer ${SECRET}`],
    ["password", `Basic ${Buffer.from(`me:${PASSWORD}`).toString("base64")}`],
  ])("%s sends its credentials for a captain", async (module, sent) => {
    expect((await scrape({ module, target: `${web.url}/status/200` })).text).toMatch(/^probe_success 1$/m);
    expect(lastHeader("authorization")).toBe(sent);
  });

  it("does not exist for others: the answer is that for an unknown module", async () => {
    const pro = await plane.createKey("pro");
    const before = web.requests.length;
    const messageOf = async (module: string): Promise<unknown> => {
      const answer = await scrape({ module, target: web.url }, pro);
      return [errorOf(answer), (answer.body.error as { message: string }).message];
    };
    const unknown = await messageOf("no_such");
    expect(unknown).toEqual([
      { status: 400, code: "missing_parameter", field: "module", reason: "enum" },
      expect.stringMatching(/html.*greeting/),
    ]);
    for (const module of ["token", "password", "marked", "moved"]) expect(await messageOf(module)).toEqual(unknown);
    expect(JSON.stringify(unknown)).not.toMatch(/token|password|marked|moved/);
    expect(web.requests.length).toBe(before);
  });

  it("leaves the built-in one of its name to others", async () => {
    const pro = await plane.createKey("pro");
    // A probe of ours needs raw sockets, so the answer depends on the host; the job does not.
    const asked = scrape({ module: "icmp", target: "127.0.0.1", region: "us-east" }, pro);
    const job = await old.nextJob();
    old.send({ body: { $case: "declined", value: { jobId: job.jobId, attempt: job.attempt, reason: "incapable" } } });
    await asked;
    expect(job.tool).toBe("ping");
  });

  it("cannot be run while a file that it names is missing, which its answer says without the path", async () => {
    const answer = await scrape({ module: "moved", target: web.url });
    expect(errorOf(answer)).toMatchObject({ status: 503, code: "probe_unavailable", reason: "module" });
    expect(answer.text).toContain("bearer_token_file cannot be used: ENOENT");
    expect(answer.text).not.toContain(folder);
  });

  it("keeps its secrets out of answers, logs and the audit", async () => {
    await scrape({ module: "token", target: "http://127.0.0.1:1/" });
    await scrape({ module: "password", target: `${web.url}/silent` }, captain, {
      "x-prometheus-scrape-timeout-seconds": "1",
    });
    const audit = await callExport(plane, captain, "type=tenant");
    const account = await plane.call("/api/v4/account", { key: captain });
    const said = [...answers, plane.log(), agent.log(), JSON.stringify(exportIn(audit)), account.text].join("\n");
    expect(said).toContain("/api/v4/probe");
    for (const secret of [SECRET, PASSWORD, Buffer.from(`me:${PASSWORD}`).toString("base64")]) {
      expect(said).not.toContain(secret);
    }
  });
});

describe("the job of such a module", () => {
  it("is run for no other surface", async () => {
    const params = { options: { prober: "http" }, target: web.url, hostname: "", timeout_ms: 1000 };
    const search = new URLSearchParams({ target: web.url }).toString();
    expect((await plane.call(`/api/v4/blackbox-probe?${search}`, { key: captain })).status).toBe(404);
    expect((await plane.call(`/api/v3/blackbox-probe?${search}`, { key: captain })).status).toBe(404);
    expect((await plane.call(`/blackbox-probe/${web.url}`)).status).toBe(404);
    for (const [path, body] of [
      ["/api/v4/batch", { tool: "blackbox-probe", urls: [web.url] }],
      ["/api/v4/measurements", { tool: "blackbox-probe", params }],
      ["/api/v4/monitors", { name: "x", type: "blackbox-probe", target: web.url }],
    ] as const) {
      expect((await plane.call(path, { key: captain, body })).status, path).toBe(400);
    }
    const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "blackbox-probe", arguments: params } };
    const headers = { accept: "application/json, text/event-stream" };
    const answer = await plane.call("/mcp", { key: captain, body: call, headers });
    expect(answer.text).not.toContain("probe_success");
    expect(answer.text).toMatch(/error/i);
  });
});

describe("a broken file", () => {
  it("stops the start with file, line and column of each fault", async () => {
    const path = join(folder, "broken.yml");
    writeFileSync(
      path,
      `modules:\n  a:\n    prober: http\n    http:\n      bearer_token: ${SECRET}\n      no_such: 1\n  b: { prober: dns }\n  c: { prober: smoke }\n`,
    );
    const started = startControlPlaneProcess(database.url, { settings: { VANTAGE_BLACKBOX_CONFIG: path } });
    const output = await started.then(
      () => "it started",
      (error: unknown) => String(error),
    );
    expect(output).toContain(`vantage control-plane: ${path}:6:7: a.http.no_such is no option`);
    expect(output).toContain(`vantage control-plane: ${path}:8:8: c.prober has the prober "smoke"`);
    expect(output).not.toContain(SECRET);
    const missing = startControlPlaneProcess(database.url, {
      settings: { VANTAGE_BLACKBOX_CONFIG: join(folder, "x") },
    });
    await expect(missing).rejects.toThrow("x: cannot be read: there is no such file");
  });
});
