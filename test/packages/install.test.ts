import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { digestOf, writeArchive } from "#shared/process/archive.ts";
import { AGENT_FILES, BUNDLE_FILE, findBundle, type Bundle } from "#control-plane/surfaces/install/bundle.ts";
import { createInstaller, type Installer } from "#control-plane/surfaces/install/installer.ts";
import { ROOT } from "#test/laws/source-files.ts";
import { bootDebian, makeDebian, removeDebian, type DebianHost } from "#test/packages/debian-host.ts";
import { startHttpServer } from "#test/servers/http.ts";
import { startControlPlane, type TestControlPlane } from "#test/support/control-plane.ts";
import { freePort } from "#test/support/free-port.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

// In a bare Debian of each release, with its own systemd as PID 1: it needs root and Debian's mirror.
const [FIRST, NEXT, BROKEN] = ["0.1.0+1.gtest", "0.1.0+2.gtest", "0.1.0+3.gtest"] as const;
const folder = mkdtempSync(join(tmpdir(), "vantage-install-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const rootOf = (version: string) => join(folder, `vantage-${version}`);

/** Makes the package of another version from the first one, with other content for some files. */
async function makeRelease(version: string, changes: Readonly<Record<string, string>> = {}): Promise<void> {
  const root = rootOf(version);
  spawnSync("cp", ["-al", rootOf(FIRST), root]);
  const write = (path: string, content: string): void => {
    rmSync(join(root, path));
    writeFileSync(join(root, path), content);
  };
  const manifestFile = `${AGENT_FILES}/package.json`;
  const manifest = readFileSync(join(root, manifestFile), "utf8").replace(FIRST, version);
  for (const [path, content] of Object.entries({ ...changes, [manifestFile]: manifest })) write(path, content);
  const bundle = JSON.parse(readFileSync(join(root, BUNDLE_FILE), "utf8")) as Bundle;
  const name = `vantage-agent-${version}`;
  const sourceOf = (path: string) => {
    const own = join(root, AGENT_FILES, path);
    return existsSync(own) ? own : join(root, path);
  };
  await writeArchive({ ...bundle, name, sourceOf }, join(folder, name));
  write(BUNDLE_FILE, JSON.stringify({ ...bundle, name, sha256: await digestOf(join(folder, name)) }));
}

let plane: TestControlPlane;
/** Another service, with an authority of its own. */
let stranger: TestControlPlane;
beforeAll(async () => {
  const env = { ...process.env, VANTAGE_BUILD_VERSION: FIRST, SOURCE_DATE_EPOCH: "1700000000" };
  const words = ["--disable-warning=ExperimentalWarning", join(ROOT, "deploy/package/main.ts"), "vantage"];
  const made = spawnSync(process.execPath, [...words, "--no-deb", "--no-image", "--out", folder], {
    env,
    encoding: "utf8",
  });
  const archive = join(folder, `vantage-${FIRST}-linux-${process.arch}.tar.gz`);
  const unpacked = spawnSync("tar", ["xzf", archive, "-C", folder], { encoding: "utf8" });
  if (made.status !== 0 || unpacked.status !== 0) throw new Error(made.stderr + unpacked.stderr);
  await makeRelease(NEXT);
  await makeRelease(BROKEN, { "probe-agent/main.js": "throw new Error('broken');\n" });
  const port = await freePort();
  const config = {
    http: { host: "127.0.0.1", port },
    baseUrl: `http://127.0.0.1:${port}`,
    dataDir: join(folder, "data"),
  };
  plane = await startControlPlane({ root: rootOf(FIRST), config });
  stranger = await startControlPlane();
});
afterAll(async () => {
  await plane.stop();
  await stranger.stop();
});
const site = await stopAfterAll(startHttpServer());

/** What is wrong with an answer of the download server. */
type Fault = "none" | "changed" | "cut" | "clock" | "refused";
let fault: Fault = "none";
let served: Installer;
/** Serves the archives of other versions, and spoils them. */
const downloads = await stopAfterAll(
  startHttpServer({
    handler(request, response) {
      if (request.url === "/install/agent.sh") {
        response.end(served.script.text);
        return true;
      }
      if (fault === "refused") {
        response.writeHead(503).end("The archive cannot be made: the disk is full.\n");
        return true;
      }
      void served.bundle.open().then((opened) => {
        if (!opened.ok) return response.destroy();
        const bytes = readFileSync(opened.path);
        if (fault === "changed") bytes[1_000_000] = (bytes[1_000_000] ?? 0) ^ 1;
        if (fault === "clock") response.setHeader("date", "Mon, 02 Jan 2040 00:00:00 GMT");
        response.setHeader("content-length", bytes.length);
        if (fault !== "cut") return response.end(bytes);
        return response.write(bytes.subarray(0, 1_000_000), () => response.destroy());
      });
      return true;
    },
  }),
);

/** Serves a version from now on, and returns the line that upgrades to it. */
function serve(version: string, spoiled: Fault = "none"): string {
  const bundle = findBundle(rootOf(version), join(folder, `data-${version}`));
  if (bundle === null) throw new Error(`${version} has no archive`);
  served = createInstaller(bundle, downloads.url);
  fault = spoiled;
  return `curl -fsS ${downloads.url}/install/agent.sh | sh`;
}

/** Creates a token at a service and returns the line that it prints, for an agent of `plane`. */
async function joinLine(region: string, at: TestControlPlane = plane): Promise<string> {
  const body = { region, control_plane: `127.0.0.1:${plane.grpcPort}` };
  const { body: came } = await plane.operate("POST", "/api/admin/probe-tokens", body);
  const { token: ours, install } = came.data as { token: string; install: string };
  if (at === plane) return install;
  const other = await at.operate("POST", "/api/admin/probe-tokens", { region });
  return install.replace(ours, (other.body.data as { token: string }).token);
}

/** Asks for a check from a region. */
async function measure(region: string): Promise<number> {
  const key = await plane.createKey("captain");
  return (await plane.call(`/api/v4/check?url=${encodeURIComponent(site.url)}&location=${region}`, { key })).status;
}

const SETTINGS = "VANTAGE_ALLOW_TARGETS=127.0.0.0/8\nVANTAGE_AGENT_METRICS_ADDR=off\n";
/** Everything that an installation could leave, but for the file that makeDebian has put there. */
const LEFT =
  "find / -xdev -name '*vantage*' -not -path '/var/log/*' -not -name vantage-agent.service.d; getent passwd vantage-agent";

describe.each(["bookworm", "trixie"])("%s", (suite) => {
  let host: DebianHost;
  beforeAll(async () => {
    host = await bootDebian(makeDebian(suite), "systemd");
  });
  afterAll(async () => {
    await host.stop();
    removeDebian(host.root);
  });
  const said = async (line: string) => (await host.sh(line)).stdout;
  const complaint = async (line: string) => {
    const { status, stderr } = await host.sh(line);
    return { status, stderr };
  };
  const version = async () => (await said("vantage --version")).trim();
  const writeSettings = () => host.sh(`mkdir -p /etc/vantage && printf '${SETTINGS}' >/etc/vantage/agent.env`);
  const left = () => said(LEFT);

  it("says in one line why it cannot be, and leaves nothing", async () => {
    const refuse = async (line: string | Promise<string>, why: string | RegExp) => {
      expect(await complaint(await line)).toEqual({ status: 1, stderr: expect.stringMatching(why) as string });
      expect(await left()).toBe("");
    };
    const one = (why: string) => new RegExp(`^vantage: ${why}\n$`);
    const environment = `VANTAGE_JOIN_TOKEN=vjt_x VANTAGE_REGION=${suite} VANTAGE_CONTROL_PLANE=127.0.0.1:1`;
    const spoil = (spoiled: Fault) => serve(NEXT, spoiled).replace("| sh", `| ${environment} sh`);
    await refuse(serve(NEXT), one("set VANTAGE_JOIN_TOKEN, .*vantage probes token"));
    await refuse(spoil("changed"), one(".*the one of this release, as its SHA-256 differs: nothing is changed"));
    await refuse(spoil("cut"), one("cannot download the archive, nothing is changed: curl: \\(18\\) .*"));
    await refuse(spoil("refused"), one(".*: The archive cannot be made: the disk is full\\."));
    await refuse(spoil("clock"), one("the clock of this host is -\\d+ s away .*: set it first, nothing is changed"));
    const full = "mount -t tmpfs -o size=50m tmpfs /opt";
    expect((await complaint(full)).status).toBe(0);
    expect((await complaint(spoil("none"))).stderr).toMatch(
      one("/opt/vantage-agent needs 300 MB, and has 5[0-9] MB free"),
    );
    await host.sh("umount /opt");
    const libc = (says: string) =>
      `mkdir -p /tmp/bin; printf '#!/bin/sh\\n${says}\\n' >/tmp/bin/getconf; chmod +x /tmp/bin/getconf; PATH=/tmp/bin:$PATH; ${spoil("none")}`;
    await refuse(libc("echo glibc 2.31"), one("the agent needs glibc 2.36 .*, and this host has 2\\.31"));
    await refuse(libc("exit 1"), one("the agent needs glibc 2.36 .* another C library, such as musl"));
    const asNobody = spoil("none").replace(/\| (.*) sh$/, "| setpriv --reuid=65534 --clear-groups env $1 sh");
    await refuse(asNobody, one("run this as root: sudo -i, then the same line"));
    await refuse(joinLine(suite, stranger), /^vantage: version .* cannot attach: the join token was refused\. .*\n$/);
    const old = await joinLine(suite);
    await plane.app.sql`update join_tokens set expires_at = now() - interval '1 second'`;
    await refuse(old, /^vantage: version .* cannot attach: the join token was refused\. .*\n$/);
  });

  it("joins by its line, as its unit says, and measures; the same line again changes nothing", async () => {
    await writeSettings();
    const line = await joinLine(suite);
    const secret = /vjt_\S+/.exec(line)?.[0] ?? "";
    expect(await complaint(line)).toEqual({ status: 0, stderr: "" });
    expect(await measure(suite)).toBe(200);
    expect(await version()).toBe(FIRST);
    expect(await said("stat -c '%a %U' /etc/vantage/agent.env")).toBe("600 root\n");
    const settings = await said("cat /etc/vantage/agent.env");
    expect(settings).toContain(SETTINGS);
    expect(settings).not.toContain("VANTAGE_JOIN_TOKEN");
    expect(await said(`grep -rlF ${secret} /etc /opt /var /run`)).toBe("");
    const running =
      "ps=$(systemctl show -p MainPID --value vantage-agent); stat -c %U /proc/$ps; systemctl is-enabled vantage-agent";
    expect(await said(running)).toBe("vantage-agent\nenabled\n");
    expect(await complaint(line)).toEqual({ status: 0, stderr: "" });
    expect(await measure(suite)).toBe(200);
  });

  it("is upgraded without a token, and keeps the version before", async () => {
    expect(await complaint(serve(NEXT))).toEqual({ status: 0, stderr: "" });
    expect(await version()).toBe(NEXT);
    expect(await measure(suite)).toBe(200);
    expect(await said("ls /opt/vantage-agent")).toBe(`${FIRST}\n${NEXT}\ncurrent\nprevious\n`);
  });

  it("gives way to the version before if it does not attach", async () => {
    const { status, stderr } = await complaint(serve(BROKEN));
    expect([status, stderr]).toEqual([
      1,
      `vantage: version ${BROKEN} has not attached within 60 s\nvantage: version ${NEXT} is back\n`,
    ]);
    expect(await version()).toBe(NEXT);
    expect(await said("ls /opt/vantage-agent")).toBe(`${FIRST}\n${NEXT}\ncurrent\nprevious\n`);
    await expect.poll(() => measure(suite)).toBe(200);
  });

  it("puts back the version before if it is ended while it waits", async () => {
    const line = serve(BROKEN).replace("| sh", ">/tmp/script && timeout --signal=TERM 15 sh /tmp/script");
    expect((await complaint(line)).stderr).toContain(`vantage: version ${NEXT} is back\n`);
    expect(await version()).toBe(NEXT);
    await expect.poll(() => measure(suite)).toBe(200);
  });

  it("leaves a version alone whose successor is spoiled", async () => {
    expect((await complaint(serve(BROKEN, "changed"))).status).toBe(1);
    expect(await measure(suite)).toBe(200);
  });

  it("leaves nothing when it is removed", async () => {
    const { status, stdout } = await host.sh(serve(NEXT).replace("| sh", "| sh -s -- --remove"));
    expect([status, stdout]).toEqual([
      0,
      expect.stringMatching(/^The agent is removed\. It is still enrolled: vantage probes revoke \S+\n$/),
    ]);
    expect(await left()).toBe("");
  });

  it("leaves a Debian package to apt", async () => {
    const entry = "Package: vantage-agent\\nStatus: install ok installed\\nVersion: 1\\nArchitecture: all\\n";
    await host.sh(`cp /var/lib/dpkg/status /tmp/status; printf '\\n${entry}' >>/var/lib/dpkg/status`);
    expect((await complaint(serve(NEXT))).stderr).toBe(
      "vantage: the Debian package vantage-agent is installed: apt manages it\n",
    );
    await host.sh("cp /tmp/status /var/lib/dpkg/status");
  });

  it("is installed without systemd too, with the line that starts it", async () => {
    await host.stop();
    host = await bootDebian(host.root, "nothing");
    await writeSettings();
    const { status, stdout } = await host.sh(await joinLine(`${suite}-plain`));
    expect([status, stdout]).toEqual([0, expect.stringContaining("@reboot /opt/vantage-agent/start\n")]);
    await host.sh("/opt/vantage-agent/start </dev/null >/dev/null 2>&1 &");
    await expect.poll(() => measure(`${suite}-plain`)).toBe(200);
    expect((await complaint(serve(NEXT).replace("| sh", "| sh -s -- --remove"))).status).toBe(0);
    expect(await left()).toBe("");
    expect(existsSync(join(host.root, "var/lib/vantage-agent"))).toBe(false);
  });
});
