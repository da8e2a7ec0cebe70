import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LAUNCHER_PATH } from "#shared/client/programs.ts";
import { startHttpServer, type HttpServer } from "#test/servers/http.ts";
import { spawnAgent } from "#test/support/agent-process.ts";
import { COMPILED_CODE } from "#test/support/compiled-code.ts";
import { freePort } from "#test/support/free-port.ts";
import { until } from "#test/support/until.ts";

// The exporter as a process: the command of its own, and an agent that serves it beside its jobs.
let folder: string;
let target: HttpServer;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "vantage-exporter-"));
  target = await startHttpServer();
});
afterAll(async () => {
  await target.close();
  rmSync(folder, { recursive: true });
});

function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

async function ask(
  port: number,
  path: string,
  init?: RequestInit,
): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, init);
  return { status: response.status, text: await response.text() };
}

/** Waits until an exporter answers. */
async function answers(port: number): Promise<void> {
  await until(async () => (await ask(port, "/-/healthy")).status === 200, "the exporter answers");
}

const ENVIRONMENT = { PATH: process.env["PATH"], HOME: process.env["HOME"], ...COMPILED_CODE };

describe("the command exporter", () => {
  it("serves the modules of a file with the flags of blackbox_exporter, and reads them again at SIGHUP", async () => {
    const file = write("blackbox.yml", "modules:\n  site: {prober: http}\n");
    const port = await freePort();
    const flags = [`--config.file=${file}`, `--web.listen-address=127.0.0.1:${port}`, "--timeout-offset=0.25"];
    const child = spawn(LAUNCHER_PATH, ["exporter", ...flags], { env: ENVIRONMENT, stdio: "ignore" });
    const exited = once(child, "exit");
    try {
      await answers(port);
      const query = new URLSearchParams({ module: "site", target: target.url }).toString();
      const probe = await ask(port, `/probe?${query}&debug=true`, {
        headers: { "x-prometheus-scrape-timeout-seconds": "5" },
      });
      expect(probe.text).toContain("timeout_seconds=4.75");
      expect(probe.text).toContain("\nprobe_success 1\n");
      writeFileSync(file, "modules:\n  other: {prober: http}\n");
      child.kill("SIGHUP");
      await until(async () => (await ask(port, `/probe?${query}`)).status === 400, "the module is gone");
    } finally {
      child.kill("SIGTERM");
      await exited;
    }
    expect(child.exitCode).toBe(0);
  });

  it("says what is wrong with a file, and what it has", () => {
    const bad = write("bad.yml", "modules:\n  site: {prober: http, http: {metod: GET}}\n");
    const run = (...flags: string[]) =>
      spawnSync(LAUNCHER_PATH, ["exporter", ...flags], { env: ENVIRONMENT, encoding: "utf8" });
    const refused = run(`--config.file=${bad}`);
    expect([refused.status, refused.stderr]).toEqual([
      1,
      `vantage exporter: ${bad}:2:31: site.http.metod is no option: did you mean method?\n`,
    ]);
    const good = write("good.yml", "modules: {site: {prober: http}}");
    const checked = run("--config.check", `--config.file=${good}`);
    expect([checked.status, checked.stdout]).toEqual([0, `${good}: 1 modules can be used\n`]);
    const unknown = run("--web.listen-adress=:1");
    expect([unknown.status, unknown.stderr]).toEqual([2, expect.stringContaining("unknown option")]);
  });
});

it("an agent serves the exporter beside its jobs, and before a control plane can be reached", async () => {
  const port = await freePort();
  const agent = spawnAgent({
    VANTAGE_CONTROL_PLANE: `127.0.0.1:${await freePort()}`,
    VANTAGE_JOIN_TOKEN: `vjt_${"s".repeat(43)}_${"0".repeat(64)}`,
    VANTAGE_EXPORTER: `127.0.0.1:${port}`,
  });
  try {
    await answers(port);
    const query = new URLSearchParams({ module: "http_2xx", target: target.url }).toString();
    expect((await ask(port, `/probe?${query}`)).text).toContain("\nprobe_success 1\n");
  } finally {
    await agent.stop();
  }
});
