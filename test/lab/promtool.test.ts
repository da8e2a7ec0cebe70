import { execFileSync, spawnSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
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

const missing = whyNoPromtool();
if (missing !== null) console.warn(`promtool.test.ts ${missing}`);

/** The process metrics have the standard names of published dashboards. */
const STANDARD = /^process_cpu_seconds_total [\s\S]+^nodejs_eventloop_lag_seconds /m;

/** Returns promtool's complaints; empty if it accepts everything. */
function complaints(text: string): string {
  const { stdout, stderr } = spawnSync("promtool", ["check", "metrics"], { input: text, encoding: "utf8" });
  return `${stdout}${stderr}`;
}

describe.skipIf(missing !== null)("promtool", () => {
  let plane: TestControlPlane;
  let agent: AgentProcess;
  let web: HttpServer;

  beforeAll(async () => {
    plane = await startControlPlane();
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
    await plane?.stop();
    await web?.close();
  });

  it("accepts the control plane's metrics", async () => {
    const text = await plane.app.metrics.registry.metrics();
    expect(text).toContain("vantage_jobs_total");
    expect(text).toMatch(STANDARD);
    expect(complaints(text)).toBe("");
  });

  it("accepts the agent's metrics", async () => {
    const [, port] = /"metrics":(\d+)/.exec(agent.log()) ?? [];
    const response = await fetch(`http://127.0.0.1:${port}/metrics`);
    const text = await response.text();
    expect(text).toContain("vantage_agent_");
    expect(text).toContain("vantage_build_info{");
    expect(text).toMatch(STANDARD);
    expect(complaints(text)).toBe("");
  });

  it("complains about a metric that breaks the rules", () => {
    expect(complaints("# TYPE x counter\nx 1\n")).not.toBe("");
  });
});
