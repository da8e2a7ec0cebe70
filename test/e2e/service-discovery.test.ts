import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { enrol } from "#test/support/enrol.ts";

const hasPromtool = spawnSync("promtool", ["--version"]).status === 0;
let plane: TestControlPlane;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "vantage-sd-"));
  plane = await startControlPlane();
  await enrol(plane, "eu-west");
  await enrol(plane, "eu-west");
  await enrol(plane, "us-east");
});
afterAll(async () => {
  await plane.stop();
  rmSync(folder, { recursive: true });
});

interface Target {
  readonly discoveredLabels: Record<string, string>;
  readonly labels: Record<string, string>;
}

/** Returns what Prometheus reads from our answer: the labels of each target before and after relabelling. */
async function discover(token: string): Promise<Target[]> {
  const config = `
scrape_configs:
  - job_name: regions
    params: { module: [http_2xx], target: ["https://example.com"] }
    http_sd_configs:
      - url: ${plane.url}/api/admin/sd/probes
        authorization: { type: Bearer, credentials: ${token} }
    relabel_configs:
      - { source_labels: [__meta_vantage_region], target_label: region }
`;
  const file = join(folder, "prometheus.yml");
  writeFileSync(file, config);
  const words = ["check", "service-discovery", "--timeout=3s", file, "regions"];
  const { stdout } = await promisify(execFile)("promtool", words);
  return JSON.parse(stdout) as Target[];
}

it.skipIf(!hasPromtool)("Prometheus accepts the answer and creates a target for each region", async () => {
  const found = await discover(plane.app.adminToken);
  expect(found.map(({ discoveredLabels }) => discoveredLabels["__meta_vantage_status"])).toEqual([
    "offline",
    "offline",
    "offline",
  ]);
  const labels = new Set(found.map((target) => JSON.stringify(target.labels)));
  expect(labels.size).toBe(2);
  for (const { discoveredLabels, labels: kept } of found) {
    expect(discoveredLabels).toMatchObject({
      __metrics_path__: "/api/v4/probe",
      __param_module: "http_2xx",
      __param_target: "https://example.com",
    });
    expect(kept).toMatchObject({ region: discoveredLabels["__param_region"], job: "regions" });
  }
});
