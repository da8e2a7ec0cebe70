import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listenMetrics, type MetricsListener } from "#shared/process/metrics-listener.ts";
import { startHttpServer, type HttpServer } from "#test/servers/http.ts";
import { startAgent, type AgentProcess } from "#test/support/agent-process.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";

// Prometheus' own tool checks the metrics of both processes: the format, and the naming rules of its documentation.
function whyNoPromtool(): string | null {
  try {
    execFileSync("promtool", ["--version"], { stdio: "pipe" });
    return null;
  } catch {
    return "skipped: promtool is not installed (Debian: prometheus)";
  }
}

const GUIDE = fileURLToPath(new URL("../../deploy/README.md", import.meta.url));
const SAMPLES = fileURLToPath(new URL("../../deploy/prometheus", import.meta.url));

const missing = whyNoPromtool();
if (missing !== null) console.warn(`promtool.test.ts ${missing}`);

/** The process metrics have the standard names of published dashboards. */
const STANDARD = /^process_cpu_seconds_total [\s\S]+^nodejs_eventloop_lag_seconds /m;

/** Returns promtool's complaints; empty if it accepts everything. */
function complaints(text: string): string {
  const { stdout, stderr } = spawnSync("promtool", ["check", "metrics"], { input: text, encoding: "utf8" });
  return `${stdout}${stderr}`;
}

async function scrape(port: number | string): Promise<string> {
  return (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
}

describe.skipIf(missing !== null)("promtool", () => {
  let plane: TestControlPlane;
  let agent: AgentProcess;
  let web: HttpServer;
  // Those of the process begin with the first scrape.
  let metrics: MetricsListener;

  beforeAll(async () => {
    plane = await startControlPlane();
    metrics = await listenMetrics({ registry: plane.app.metrics.registry, host: "127.0.0.1", port: 0 });
    web = await startHttpServer();
    agent = await startAgent(plane, "eu-west", { VANTAGE_AGENT_METRICS_ADDR: "127.0.0.1:0" });
    const key = await plane.createKey();
    // One event of each kind has happened: a check, a failed one, a refusal, a scrape.
    for (const path of [`check?url=${web.url}`, "check?url=http://127.0.0.1:4/", "check", `probe?target=${web.url}`]) {
      await plane.call(`/api/v4/${path}`, { key });
    }
  });
  afterAll(async () => {
    await agent?.stop();
    await metrics?.close();
    await plane?.stop();
    await web?.close();
  });

  it("accepts the control plane's metrics", async () => {
    const text = await scrape(metrics.port);
    expect(text).toContain("vantage_jobs_total");
    expect(text).toMatch(STANDARD);
    expect(complaints(text)).toBe("");
  });

  it("accepts the metrics of an account's monitors", async () => {
    const key = await plane.createKey("captain");
    for (const body of [{ url: `${web.url}/status/200` }, { check_type: "heartbeat" }]) {
      const { status, body: made } = await plane.call("/api/v4/monitors", { key, body });
      expect(status).toBe(201);
      const { heartbeat_url: url } = made.data as { readonly heartbeat_url: string | null };
      if (url !== null) await plane.call(new URL(url).pathname);
    }
    const read = async (): Promise<string> => (await plane.call("/api/v4/metrics", { key })).text;
    await expect.poll(read).toMatch(/^probe_success\{[^}]*\} 1$/m);
    const text = await read();
    expect(text).toContain("vantage_heartbeat_age_seconds{");
    expect(complaints(text)).toBe("");
  });

  it("accepts the scrape configurations and alert rules of the operator guide", () => {
    const folder = mkdtempSync(join(tmpdir(), "vantage-promtool-"));
    const blocks = Array.from(readFileSync(GUIDE, "utf8").matchAll(/```yaml\n([\s\S]*?)```/g), ([, yaml = ""]) => yaml);
    expect(blocks.map((yaml) => (/^groups:/m.test(yaml) ? "rules" : "config"))).toEqual(["config", "config", "rules"]);
    for (const yaml of blocks) {
      const file = join(folder, "block.yml");
      writeFileSync(file, yaml);
      const kind = /^groups:/m.test(yaml) ? ["rules"] : ["config", "--syntax-only"];
      const { status, stderr, stdout } = spawnSync("promtool", ["check", ...kind, file], { encoding: "utf8" });
      expect(`${stdout}${stderr}`, yaml).toContain("SUCCESS");
      expect(status).toBe(0);
    }
    rmSync(folder, { recursive: true });
  });

  const scrapeAgent = (): Promise<string> => scrape(/"metrics":(\d+)/.exec(agent.log())?.[1] ?? "");

  it("accepts the samples for Prometheus, whose rules do what their tests say, with metrics that exist", async () => {
    const run = (...words: string[]): string => {
      const { status, stdout, stderr } = spawnSync("promtool", words, { cwd: SAMPLES, encoding: "utf8" });
      return `${status} ${stdout}${stderr}`;
    };
    expect(run("check", "config", "prometheus.yml")).toMatch(/^0 /);
    expect(run("test", "rules", "rules.test.yml")).toMatch(/^0 /);
    const named = new Set(readFileSync(join(SAMPLES, "rules.yml"), "utf8").match(/\b(?:vantage|nodejs)_[a-z0-9_]+/g));
    const text = `${await scrape(metrics.port)}\n${await scrapeAgent()}`;
    const missingNames = [...named].filter((name) => !new RegExp(`^(?:# TYPE )?${name}[ {]`, "m").test(text));
    expect(named.size).toBeGreaterThan(5);
    expect(missingNames).toEqual([]);
  });

  it("accepts the agent's metrics", async () => {
    const text = await scrapeAgent();
    expect(text).toContain("vantage_agent_");
    expect(text).toContain("vantage_build_info{");
    expect(text).toMatch(STANDARD);
    expect(complaints(text)).toBe("");
  });

  it("complains about a metric that breaks the rules", () => {
    expect(complaints("# TYPE x counter\nx 1\n")).not.toBe("");
  });
});
