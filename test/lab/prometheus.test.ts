import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { replaceIn, startPrometheus, whyNoPrometheus, type Prometheus } from "#test/lab/prometheus.ts";
import { freePort } from "#test/support/free-port.ts";
import { startHttpServer, type HttpServer } from "#test/servers/http.ts";
import { startAgent, type AgentProcess } from "#test/support/agent-process.ts";
import { ADMIN_TOKEN, startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";

// Runs the operator guide's own scrape configuration in a real Prometheus. Only addresses, paths and the target are replaced,
// and the scrape interval is shortened.
const GUIDE = fileURLToPath(new URL("../../deploy/README.md", import.meta.url));

const missing = whyNoPrometheus();
if (missing !== null) console.warn(`prometheus.test.ts ${missing}`);

interface Target {
  readonly health: string;
  readonly lastError: string;
  readonly labels: Readonly<Record<string, string>>;
}

describe.skipIf(missing !== null)("a Prometheus with the operator guide's scrape configuration", () => {
  let plane: TestControlPlane;
  let agents: readonly AgentProcess[];
  let web: HttpServer;
  let folder: string;
  let prometheus: Prometheus;

  async function targets(): Promise<readonly Target[]> {
    return (
      (await prometheus.ask<{ readonly activeTargets: readonly Target[] }>("targets?state=active"))?.activeTargets ?? []
    );
  }

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "vantage-prometheus-"));
    const port = await freePort();
    const address = `127.0.0.1:${port}`;
    plane = await startControlPlane({
      config: { http: { host: "127.0.0.1", port }, baseUrl: `http://${address}` },
    });
    web = await startHttpServer();
    // Two probes in one region, which must be kept apart.
    agents = await Promise.all(["eu-west", "eu-west", "us-east"].map((region) => startAgent(plane, region)));
    writeFileSync(join(folder, "vantage-key"), await plane.createKey());
    writeFileSync(join(folder, "vantage-operator-token"), ADMIN_TOKEN);
    const [, yaml = ""] = /```yaml\n(scrape_configs:[\s\S]*?)```/.exec(readFileSync(GUIDE, "utf8")) ?? [];
    const changed = replaceIn(yaml, [
      ["/etc/prometheus", folder],
      ["127.0.0.1:8080", address],
      ["https://example.com", `${web.url}/status/200`],
    ]);
    writeFileSync(join(folder, "prometheus.yml"), `global: { scrape_interval: 1s }\n${changed}`);
    prometheus = await startPrometheus(folder);
  });
  afterAll(async () => {
    await prometheus?.stop();
    await Promise.all((agents ?? []).map((agent) => agent.stop()));
    await plane?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it("scrapes one target of the list and one of each probe, and all are up", async () => {
    const states = async () => (await targets()).map(({ health, lastError }) => `${health}${lastError}`);
    await expect.poll(states, { interval: 200 }).toEqual(["up", "up", "up", "up"]);
    const labels = (await targets()).map((target) => target.labels);
    const fromList = labels.filter(({ job }) => job === "website");
    expect(fromList).toEqual([{ job: "website", instance: `${web.url}/status/200` }]);
    const fromProbes = labels.filter(({ job }) => job === "website-from-every-probe");
    expect(fromProbes.map(({ region }) => String(region)).toSorted((one, other) => one.localeCompare(other))).toEqual([
      "eu-west",
      "eu-west",
      "us-east",
    ]);
    expect(new Set(fromProbes.map(({ instance }) => instance)).size).toBe(3);
  });

  it("has probe_success of every probe under its own instance", async () => {
    // The first probe of an agent also loads its code, which can take longer than the half second of these scrapes.
    const values = async () => (await prometheus.query("probe_success")).map(({ value: [, value] }) => value);
    await expect.poll(values, { interval: 200 }).toEqual(["1", "1", "1", "1"]);
    const told = await prometheus.query('vantage_probe_info{job="website-from-every-probe"}');
    for (const { metric } of told) {
      expect(metric["probe_id"]).toBe(metric["instance"]);
      // The target's label has priority; the metric's own label keeps its value under another name.
      expect(metric["exported_region"]).toBe(metric["region"]);
      expect(metric["target"]).toBe(`${web.url}/status/200`);
    }
  });

  it("reports from every probe why a site that stops fails", async () => {
    await web.close();
    const reasons = async () =>
      (await prometheus.query("vantage_probe_failure_info")).map(({ metric }) => metric["reason"]);
    await expect.poll(reasons, { interval: 200 }).toEqual(["refused", "refused", "refused", "refused"]);
  });
});
