import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { digestOf, writeArchive } from "#shared/process/archive.ts";
import { AGENT_FILES, BUNDLE_FILE, findBundle } from "#control-plane/surfaces/install/bundle.ts";
import { createInstaller } from "#control-plane/surfaces/install/installer.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const folder = mkdtempSync(join(tmpdir(), "vantage-install-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const place = (path: string, content: string): void => {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), content);
};

const NAME = "vantage-agent-1.2.3+4.gtest";
const FILE = `${NAME}-linux-${process.arch}.tar.gz`;
/** Longer than the name in a header of tar. */
const DEEP = `node_modules/${"deep/".repeat(30)}index.js`;
const BASE = "https://vantage.example/a'b";

// A small package, and the digest of the agent's archive of its release.
const root = join(folder, "package");
place("package/bin/vantage", "#!/bin/sh\n");
chmodSync(join(root, "bin/vantage"), 0o700);
place("package/probe-agent/main.js", "x".repeat(100_000));
place(`package/${DEEP}`, "deep");
symlinkSync("main.js", join(root, "probe-agent/link.js"));
place("package/package.json", '{"name":"vantage"}');
place(`package/${AGENT_FILES}/package.json`, '{"name":"vantage-agent"}');
place("package/control-plane/main.js", "of the service alone");
const described = {
  name: NAME,
  time: 1_700_000_000,
  files: ["bin/vantage", DEEP, "package.json", "probe-agent/link.js", "probe-agent/main.js"],
};
const sourceOf = (path: string) => join(root, path === "package.json" ? `${AGENT_FILES}/${path}` : path);
await writeArchive({ ...described, sourceOf }, join(folder, "release.tar.gz"));
const sha256 = await digestOf(join(folder, "release.tar.gz"));
place(`package/${BUNDLE_FILE}`, JSON.stringify({ ...described, sha256 }));

const dataDir = join(folder, "data");
const plane = await stopAfterAll(startControlPlane({ root, config: { dataDir, baseUrl: BASE } }));
const clone = await stopAfterAll(startControlPlane());

const read = async (path: string, method = "GET") => {
  const answer = await fetch(`${plane.url}/install/${path}`, { method });
  const { status, headers } = answer;
  return { status, headers, bytes: Buffer.from(await answer.arrayBuffer()) };
};
const hash = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

describe("a service that runs from a package", () => {
  it("makes no archive of files that are not those of the release, and says so; then it tries again", async () => {
    place("data/install/vantage-agent-1.0.0-linux-x64.tar.gz", "of an older version");
    place("package/probe-agent/main.js", "changed");
    const refused = await read(FILE);
    expect([refused.status, refused.bytes.toString()]).toEqual([
      503,
      "The archive cannot be made: files of this installation are not those of the release: install it again.\n",
    ]);
    place("package/probe-agent/main.js", "x".repeat(100_000));
    expect((await read(FILE)).status).toBe(200);
    expect(readdirSync(join(dataDir, "install"))).toEqual([FILE]);
  });

  it("gives hosts the archive of its release, made again once where it is gone", async () => {
    rmSync(join(dataDir, "install"), { recursive: true });
    const answers = await Promise.all([1, 2, 3].map(() => read(FILE)));
    expect(answers.map(({ status, bytes }) => [status, hash(bytes)])).toEqual(answers.map(() => [200, sha256]));
    expect(readdirSync(join(dataDir, "install"))).toEqual([FILE]);
    const head = await read(FILE, "HEAD");
    expect(head.headers.get("content-length")).toBe(String(answers[0]?.bytes.length));
    expect(head.bytes).toHaveLength(0);
    expect((await read(`vantage-agent-9-linux-${process.arch}.tar.gz`)).status).toBe(404);
  });

  it("has what the release has in the archive: one owner and time, modes without those of the installation", () => {
    const archive = join(folder, "release.tar.gz");
    const listed = execFileSync("tar", ["tzvf", archive, "--numeric-owner", "--utc"], { encoding: "utf8" });
    const rows = listed.trim().split("\n");
    expect(rows.filter((row) => !/^\S{10} 0\/0 +\d+ 2023-11-14 22:13 vantage-agent-1\.2\.3/.test(row))).toEqual([]);
    expect(listed).toMatch(/^-rwxr-xr-x .*\/bin\/vantage$/m);
    expect(listed).toMatch(/^-rw-r--r-- .*\/main\.js$/m);
    expect(listed).toMatch(/^lrwxrwxrwx .*\/link\.js -> main\.js$/m);
    execFileSync("tar", ["xzf", archive, "-C", folder]);
    expect(readFileSync(join(folder, NAME, DEEP), "utf8")).toBe("deep");
    expect(readFileSync(join(folder, NAME, "package.json"), "utf8")).toBe('{"name":"vantage-agent"}');
    const long = { ...described, files: ["a".repeat(101)], sourceOf: () => join(root, DEEP) };
    return expect(writeArchive(long, join(folder, "long.tar.gz"))).rejects.toThrow("too long for an archive");
  });

  it("makes it once for all who ask meanwhile", async () => {
    const bundle = findBundle(root, join(folder, "other"));
    const [first, second] = await Promise.all([bundle?.open(), bundle?.open()]);
    expect(first).toMatchObject({ ok: true });
    expect(second).toBe(first);
  });

  it("names the digests of script and archive", async () => {
    const script = await read("agent.sh");
    const sums = await read("SHA256SUMS");
    expect(sums.bytes.toString()).toBe(`${hash(script.bytes)}  agent.sh\n${sha256}  ${FILE}\n`);
    expect(script.headers.get("content-type")).toBe("text/x-shellscript; charset=utf-8");
  });

  it("prints the line that joins with a token, for the address that the operator names", async () => {
    const asked = { region: "eu-west", control_plane: "cp.example:50051" };
    const { body } = await plane.operate("POST", "/api/admin/probe-tokens", asked);
    const { token, install } = body.data as Record<string, string>;
    expect(install).toBe(
      `curl -fsS 'https://vantage.example/a'\\''b/install/agent.sh' | VANTAGE_JOIN_TOKEN=${token} VANTAGE_REGION=eu-west VANTAGE_CONTROL_PLANE=cp.example:50051 sh`,
    );
    const odd = await plane.operate("POST", "/api/admin/probe-tokens", { ...asked, control_plane: "cp.example" });
    expect([odd.status, odd.body.error]).toMatchObject([400, { field: "control_plane" }]);
  });

  it("answers one address 30 times a minute", async () => {
    const statuses = await Promise.all(Array.from({ length: 40 }, async () => (await read("SHA256SUMS")).status));
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
    const { status, headers, bytes } = await read("agent.sh");
    expect([status, headers.get("retry-after")]).toEqual([429, expect.stringMatching(/^\d+$/)]);
    expect(bytes.toString()).toMatch(/^Too many requests from your address\. Wait \d+ s\.\n$/);
  });
});

describe("the script", () => {
  const open = () => Promise.resolve({ ok: false as const, line: "not made" });
  const installer = (baseUrl: string) => createInstaller({ version: "1.2.3", file: FILE, sha256, open }, baseUrl);
  const script = installer(BASE).script.text;
  const runs = (text: string) =>
    spawnSync("/bin/sh", ["-s"], { input: text, env: { PATH: "/nowhere" }, encoding: "utf8" });

  it("has values in place of all names, quoted", () => {
    expect(script).not.toMatch(/'@\w+@'/);
    expect(script).toContain("\nbase='https://vantage.example/a'\\''b'\n");
  });

  it("does nothing if its end is missing", () => {
    // Without a PATH it sees no root, and ends there.
    expect(runs(script).stderr).toContain("\nvantage: run this as root: sudo -i, then the same line\n");
    const end = script.lastIndexOf("{ main");
    for (let length = end - 5; length < script.trimEnd().length; length += 1)
      expect(runs(script.slice(0, length)).stderr, script.slice(0, length)).not.toContain("root");
  });

  it("is verified by its line where nothing protects it on its way", () => {
    const joining = { token: "vjt_x", region: "eu", controlPlane: "[::1]:5" };
    const environment = "VANTAGE_JOIN_TOKEN=vjt_x VANTAGE_REGION=eu VANTAGE_CONTROL_PLANE='[::1]:5'";
    for (const base of ["https://a.example", "http://localhost:8080", "http://127.0.0.1:8080", "http://[::1]:8080"])
      expect(installer(base).lineFor(joining)).toContain(
        `/install/agent.sh | ${environment} sh`.replace(" | ", base.includes("[") ? "' | " : " | "),
      );
    const plain = installer("http://a.example");
    const line = plain.lineFor(joining);
    expect(line).toContain(` ${environment} sh agent.sh)`);
    // curl is one that brings the script, or another one.
    const bin = join(folder, "bin");
    const bring = (text: string) => {
      place("bin/script", text);
      place("bin/curl", `#!/bin/sh\ncp ${join(bin, "script")} agent.sh\n`);
      chmodSync(join(bin, "curl"), 0o755);
      return spawnSync("sh", ["-c", line], { env: { PATH: `${bin}:/usr/bin:/bin` }, encoding: "utf8" });
    };
    const changed = bring(`${plain.script.text}\n`);
    expect([changed.status, changed.stdout]).toEqual([1, "agent.sh: FAILED\n"]);
  });
});

it("a service that runs from a clone says how to make packages, and prints no line", async () => {
  for (const path of ["agent.sh", "SHA256SUMS", FILE]) {
    const { status, headers, text } = await clone.call(`/install/${path}`);
    expect([status, headers.get("content-type")]).toEqual([404, "text/plain; charset=utf-8"]);
    expect(text).toContain("Make packages and run the service from one: npm run package\n");
  }
  const { body } = await clone.operate("POST", "/api/admin/probe-tokens", { region: "eu-west" });
  expect((body.data as { install: null }).install).toBeNull();
});
