import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ROOT } from "#test/laws/source-files.ts";
import { startHttpServer } from "#test/servers/http.ts";
import { tokenFor } from "#test/support/agent-listener.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

// In a bare Debian 12 of its own, made by mmdebstrap: it needs root and Debian's mirror.
const VERSIONS = ["0.1.0+1.gtest", "0.1.0+2.gtest"] as const;
const folder = mkdtempSync(join(tmpdir(), "vantage-debian-"));
const bare = join(folder, "bare");
const settings = join(bare, "etc/vantage/agent.env");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function run(program: string, words: readonly string[], env = process.env): string {
  const { status, stdout, stderr, error } = spawnSync(program, words, { env, encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ${words.join(" ")}: ${error?.message ?? stderr}`);
  return stdout;
}

/** Runs a command in the bare Debian, with the processes of its own namespace alone. */
const inside = (...words: readonly string[]): readonly string[] => [
  "--mount",
  "--pid",
  "--fork",
  "--kill-child",
  `--mount-proc=${join(bare, "proc")}`,
  "chroot",
  bare,
  "env",
  "-i",
  "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
  "DEBIAN_FRONTEND=noninteractive",
  ...words,
];
const debian = (...words: readonly string[]): string => run("unshare", inside(...words));

beforeAll(() => {
  run("mmdebstrap", ["--variant=minbase", "bookworm", bare]);
  const env = { ...process.env, VANTAGE_BUILD_VERSION: VERSIONS[0], SOURCE_DATE_EPOCH: "1700000000" };
  const words = ["--disable-warning=ExperimentalWarning", join(ROOT, "deploy/package/main.ts"), "--no-image"];
  run(process.execPath, [...words, "--out", folder], env);
  const [first, second] = VERSIONS.map((version) => join(folder, `vantage-agent_${version}_amd64.deb`));
  // The next release, in which something else is new too.
  const tree = join(folder, "next");
  run("dpkg-deb", ["-R", first ?? "", tree]);
  const control = readFileSync(join(tree, "DEBIAN/control"), "utf8");
  writeFileSync(join(tree, "DEBIAN/control"), control.replace(VERSIONS[0], VERSIONS[1]));
  const manifest = join(tree, "usr/lib/vantage-agent/package.json");
  writeFileSync(manifest, readFileSync(manifest, "utf8").replace(VERSIONS[0], VERSIONS[1]));
  appendFileSync(join(tree, "etc/vantage/agent.env"), "# A new example\n");
  run("dpkg-deb", ["--root-owner-group", "-Zgzip", "-z1", "--build", tree, second ?? ""]);
  for (const path of [first ?? "", second ?? "", join(folder, `vantage_${VERSIONS[0]}_amd64.deb`)])
    copyFileSync(path, join(bare, "root", path.slice(folder.length + 1)));
});

const plane = await stopAfterAll(startControlPlane());
const site = await stopAfterAll(startHttpServer());

const install = (version: string) =>
  debian("dpkg", "--force-confold", "-i", `/root/vantage-agent_${version}_amd64.deb`);

it("installs into a bare Debian: command, user, units, settings that root alone reads", () => {
  install(VERSIONS[0]);
  expect(debian("vantage", "--version")).toBe(`${VERSIONS[0]}\n`);
  expect(debian("getent", "passwd", "vantage-agent")).toContain(":/nonexistent:/usr/sbin/nologin\n");
  expect(debian("stat", "--format=%a %U", "/etc/vantage/agent.env")).toBe("600 root\n");
  expect(readFileSync(settings, "utf8")).toMatch(/^# VANTAGE_JOIN_TOKEN=/m);
  const unit = readFileSync(join(bare, "usr/lib/systemd/system/vantage-agent.service"), "utf8");
  const [, program = "", entry = ""] = /^ExecStart=(\S+) (\S+)$/m.exec(unit) ?? [];
  expect(existsSync(join(bare, program)) && existsSync(join(bare, entry))).toBe(true);
  expect(unit).toMatch(/^User=vantage-agent$/m);
  expect(unit).not.toContain("DynamicUser");
});

it("runs as its own user with the one capability of its unit, and measures", async () => {
  const user = ["--reuid=vantage-agent", "--regid=vantage-agent", "--clear-groups", "--no-new-privs"];
  const capability = ["--inh-caps=-all,+net_raw", "--ambient-caps=+net_raw", "--bounding-set=-all,+net_raw"];
  const environment = [
    `VANTAGE_CONTROL_PLANE=127.0.0.1:${plane.grpcPort}`,
    `VANTAGE_JOIN_TOKEN=${await tokenFor(plane, "debian", "agt-debian")}`,
    "VANTAGE_REGION=debian",
    "VANTAGE_STATE_DIR=/tmp/state",
    "VANTAGE_AGENT_METRICS_ADDR=off",
    "VANTAGE_ALLOW_TARGETS=127.0.0.0/8",
  ];
  const child = spawn("unshare", inside("setpriv", ...user, ...capability, "env", ...environment, "vantage", "agent"), {
    stdio: ["ignore", "pipe", "pipe"],
    // A group of its own: a process that has changed its user no longer ends with the one that started it (prctl(2)).
    detached: true,
  });
  // Its streams close when the agent has ended too.
  const exited = once(child, "close");
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  try {
    await expect.poll(() => output, { message: "the agent attaches" }).toContain('"attached"');
    const key = await plane.createKey("captain");
    const check = await plane.call(`/api/v4/check?url=${encodeURIComponent(site.url)}`, { key });
    expect(check.status).toBe(200);
    const ping = await plane.call("/api/v4/ping?host=127.0.0.1&count=1", { key });
    expect(ping.text).toContain('"method":"icmp"');
  } finally {
    process.kill(-(child.pid ?? 0), "SIGKILL");
    await exited;
  }
});

it("is upgraded without a change of the operator's settings", () => {
  appendFileSync(settings, "VANTAGE_REGION=mine\n");
  install(VERSIONS[1]);
  expect(debian("vantage", "--version")).toBe(`${VERSIONS[1]}\n`);
  expect(readFileSync(settings, "utf8")).toContain("VANTAGE_REGION=mine\n");
});

it("leaves settings and data when it is removed, and nothing when it is purged", () => {
  debian("install", "-d", "-o", "vantage-agent", "/var/lib/vantage-agent");
  debian("dpkg", "--remove", "vantage-agent");
  expect(existsSync(join(bare, "usr/lib/vantage-agent"))).toBe(false);
  expect(existsSync(settings) && existsSync(join(bare, "var/lib/vantage-agent"))).toBe(true);
  debian("dpkg", "--purge", "vantage-agent");
  const left = debian("find", "/etc", "/usr", "/var", "-name", "*vantage*", "-not", "-path", "/var/log/*");
  expect(left).toBe("");
  expect(spawnSync("unshare", inside("getent", "passwd", "vantage-agent")).status).toBe(2);
});

it("has the service too, whose texts name its command", () => {
  debian("dpkg", "-i", `/root/vantage_${VERSIONS[0]}_amd64.deb`);
  expect(debian("vantage", "--version")).toBe(`${VERSIONS[0]}\n`);
  expect(debian("vantage", "--help")).toMatch(/^Usage: vantage /);
  const unit = readFileSync(join(bare, "usr/lib/systemd/system/vantage-control-plane.service"), "utf8");
  const [, program = "", entry = ""] = /^ExecStart=(\S+) (\S+)$/m.exec(unit) ?? [];
  expect(existsSync(join(bare, program)) && existsSync(join(bare, entry))).toBe(true);
  expect(debian("sh", "-c", "vantage doctor; true")).toContain("ok    node: ");
  debian("dpkg", "--purge", "vantage");
  expect(debian("find", "/etc", "/usr", "/var", "-name", "*vantage*", "-not", "-path", "/var/log/*")).toBe("");
});
