import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { ROOT } from "#test/laws/source-files.ts";
import { startHttpServer } from "#test/servers/http.ts";
import { freePort } from "#test/support/free-port.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";
import { until } from "#test/support/until.ts";

const VERSION = "0.1.0+1.gtest";
/** Another user than the one that has unpacked the archive; null: tests do not run as root. */
const NOBODY = process.getuid?.() === 0 ? 65_534 : null;

const folder = mkdtempSync(join(tmpdir(), "vantage-packages-"));
const command = join(folder, `vantage-${VERSION}`, "bin/vantage");
const data = join(folder, "data");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

beforeAll(() => {
  const env = { ...process.env, VANTAGE_BUILD_VERSION: VERSION, SOURCE_DATE_EPOCH: "1700000000" };
  const words = ["--disable-warning=ExperimentalWarning", join(ROOT, "deploy/package/main.ts"), "vantage"];
  const made = spawnSync(process.execPath, [...words, "--no-deb", "--no-image", "--out", folder], {
    env,
    encoding: "utf8",
  });
  const done = spawnSync("tar", ["xzf", join(folder, `vantage-${VERSION}-linux-${process.arch}.tar.gz`), "-C", folder]);
  if (made.status !== 0 || done.status !== 0) throw new Error(made.stderr);
  chmodSync(folder, 0o755);
  mkdirSync(data);
  if (NOBODY !== null) chownSync(data, NOBODY, NOBODY);
});

const site = await stopAfterAll(startHttpServer());
let service: ChildProcess | null = null;
afterEach(() => service?.kill("SIGKILL"));

/** Starts the service with nothing of this installation: no Node.js, no npm, no git on PATH. */
async function start(): Promise<{ readonly url: string; readonly output: () => string; stop(): Promise<unknown> }> {
  const [http, grpc] = [await freePort(), await freePort()];
  const child = spawn(command, ["up"], {
    env: {
      PATH: "/nowhere:/usr/bin:/bin",
      HOME: data,
      VANTAGE_DATA_DIR: data,
      VANTAGE_HTTP_ADDR: `127.0.0.1:${http}`,
      VANTAGE_GRPC_ADDR: `127.0.0.1:${grpc}`,
      VANTAGE_METRICS_ADDR: "off",
      VANTAGE_AGENT_METRICS_ADDR: "off",
      VANTAGE_ALLOW_TARGETS: "127.0.0.0/8",
    },
    ...(NOBODY === null ? {} : { uid: NOBODY, gid: NOBODY }),
    cwd: data,
    stdio: ["ignore", "pipe", "pipe"],
  });
  service = child;
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const exited = once(child, "exit");
  await until(() => output.includes("Ctrl-C stops everything"), "the service is ready");
  return {
    url: `http://127.0.0.1:${http}`,
    output: () => output,
    async stop() {
      child.kill("SIGINT");
      const [status] = (await exited) as [number | null];
      return status;
    },
  };
}

it("the archive serves as it is unpacked, as another user, and again after Ctrl-C", async () => {
  const first = await start();
  const key = /vtg_[0-9A-Za-z]{36}/.exec(first.output())?.[0] ?? "";
  const check = async (url: string) => {
    const target = encodeURIComponent(site.url);
    const answer = await fetch(`${url}/api/v4/check?url=${target}`, { headers: { "x-api-key": key } });
    return answer.status;
  };
  expect(await check(first.url)).toBe(200);
  const document = await fetch(`${first.url}/openapi.json`);
  expect(await document.json()).toMatchObject({ info: { version: VERSION } });
  // Pages and what they read from files.
  for (const path of ["/", "/app", "/docs"])
    expect((await fetch(`${first.url}${path}`, { headers: { accept: "text/html" } })).status, path).toBe(200);
  expect(await first.stop()).toBe(0);

  const second = await start();
  expect(await check(second.url)).toBe(200);
  expect(await second.stop()).toBe(0);
});
