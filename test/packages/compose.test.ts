import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { LAUNCHER_PATH } from "#shared/client/programs.ts";
import { ROOT } from "#test/laws/source-files.ts";
import { hasPeers, runPeer } from "#test/peers/run-peer.ts";
import { ADMIN_TOKEN } from "#test/support/control-plane.ts";
import { startControlPlaneProcess, type ControlPlaneProcess } from "#test/support/control-plane-process.ts";
import { createTestDatabase, type TestDatabase } from "#test/support/postgres.ts";
import { openShell, type Shell } from "#test/support/shell.ts";

// deploy/compose.yaml without Docker: the schema of the Compose Specification, which dclint has, and the steps at its head.
const PATH = join(ROOT, "deploy/compose.yaml");
const BASE = "https://vantage.example";
const text = readFileSync(PATH, "utf8");

const folder = mkdtempSync(join(tmpdir(), "vantage-compose-"));
let database: TestDatabase;
let plane: ControlPlaneProcess;
let shell: Shell;
beforeAll(async () => {
  database = await createTestDatabase();
  plane = await startControlPlaneProcess(database.url, { settings: { VANTAGE_BASE_URL: BASE } });
  shell = openShell(folder, { VANTAGE_HTTP_ADDR: new URL(plane.url).host, VANTAGE_ADMIN_TOKEN: ADMIN_TOKEN });
});
afterAll(async () => {
  shell?.close();
  await plane?.end("SIGTERM");
  await database?.drop();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs the checker. The proxy is there to be reached from everywhere. */
function check(path: string) {
  expect(hasPeers(), "dclint is missing: npm ci --prefix test/peers/programs").toBe(true);
  return runPeer("dclint", ["--quiet", "--disable-rule", "no-unbound-port-interfaces", "--formatter", "json", path]);
}

it("is valid by the Compose Specification", async () => {
  const { status, output } = await check(PATH);
  expect(status, output).toBe(0);
});

it("would not be with a member of another name", async () => {
  const path = join(folder, "compose.yaml");
  writeFileSync(path, text.replaceAll("cap_drop:", "cap_drops:"));
  const { status, output } = await check(path);
  expect(status).toBe(1);
  expect(output).toContain("must NOT have additional properties");
});

/** Returns the steps at the head of the file as a script without Docker: commands of a container run here. */
function readSteps(): string {
  const [, steps = ""] = /^#\n((?:# {3}.*\n)+)/m.exec(text) ?? [];
  return steps
    .replaceAll(/^# {3}/gm, "")
    .replaceAll(/docker compose exec (?:-T )?control-plane vantage/g, LAUNCHER_PATH)
    .replaceAll(/^docker (?:load|compose up) .*/gm, "");
}

it("is made ready by the steps at its head, and no log has what they print", async () => {
  const steps = readSteps();
  expect(steps).toContain("umask");
  expect(steps).not.toContain("docker compose");
  const { status, stdout, stderr } = await shell.run(`set -e\n${steps}`);
  expect(status, stderr).toBe(0);
  expect(stdout).toContain(`${BASE}/start/`);
  const [, link = ""] = /\/start\/(\w{32})\n/.exec(stdout) ?? [];

  const names = readdirSync(join(folder, "secrets"));
  expect(names.toSorted()).toEqual(["ap-south", "eu-west", "monitors-key", "us-east"]);
  const secrets = names.map((name) => readFileSync(join(folder, "secrets", name), "utf8").trim());
  for (const secret of secrets) expect(secret).toMatch(/^(?:vtg|vjt)_\S+$/);
  const key = secrets[names.indexOf("monitors-key")] ?? "";
  expect((await plane.call("/api/v4/metrics", { key })).status).toBe(200);
  expect(statSync(join(folder, "secrets")).mode & 0o777).toBe(0o700);
  expect(statSync(join(folder, ".env")).mode & 0o777).toBe(0o600);
  const variables = readFileSync(join(folder, ".env"), "utf8");
  for (const [, name] of text.matchAll(/\$\{(\w+):\?/g)) expect(variables).toMatch(new RegExp(`^${name}=\\S+$`, "m"));
  for (const word of [...secrets, link]) expect(plane.log()).not.toContain(word);
});
