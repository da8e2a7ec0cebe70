import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");
const LAUNCHER = join(ROOT, "deploy/vantage");
/** Directories of sh, readlink and other helpers, without our Node. */
const SYSTEM = "/usr/bin:/bin";

let place: string;
let clone: string;
beforeEach(() => {
  place = realpathSync(mkdtempSync(join(tmpdir(), "vantage-launcher-")));
  clone = join(place, "a clone's place");
  mkdirSync(join(clone, "deploy"), { recursive: true });
  for (const name of ["vantage", "ensure-install.sh"]) cpSync(join(ROOT, "deploy", name), join(clone, "deploy", name));
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

function program(path: string, ...lines: readonly string[]): void {
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, ["#!/bin/sh", ...lines, ""].join("\n"));
  chmodSync(path, 0o755);
}

/** Creates a fake Node that prints its version, or else its arguments. */
function node(path: string, version: string): void {
  program(
    path,
    `[ "$1" = --version ] && echo ${version} && exit`,
    `echo "${version} in $(pwd):"`,
    'printf "%s\\n" "$@"',
  );
}

function install(version = "v24.1.0"): void {
  node(join(clone, "node_modules/.bin/node"), version);
  writeFileSync(join(clone, "node_modules/.package-lock.json"), "{}");
}

interface Run {
  readonly path?: string;
  readonly cwd?: string;
  readonly uid?: number;
}

function run(file: string, words: readonly string[], { path = SYSTEM, cwd = place, uid }: Run = {}) {
  const given = {
    cwd,
    encoding: "utf8",
    env: { PATH: path },
    ...(uid === undefined ? {} : { uid, gid: uid }),
  } as const;
  const { status, stdout, stderr } = spawnSync(file, words, given);
  return { status, stdout, stderr };
}

describe("the launcher of this clone", () => {
  it("shows every command, from any directory", () => {
    const { stdout } = run(LAUNCHER, ["--help"], { cwd: "/" });
    expect(stdout).toMatch(/^Usage: deploy\/vantage /);
    for (const name of ["up", "control-plane", "agent", "migrate", "doctor", "keys", "accounts", "probes", "ssl"]) {
      expect(stdout).toMatch(new RegExp(`^  ${name} `, "m"));
    }
  });

  it("exits with the status of the program", () => {
    expect(run(LAUNCHER, ["nonsense"])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("unknown command"),
    });
  });

  it("uses the data of `npm start` in the clone, not in the caller's directory", () => {
    const ran = spawnSync(LAUNCHER, ["doctor", "--dns-servers", "127.0.0.1:1"], { cwd: "/", encoding: "utf8" });
    expect(ran.stdout).toContain(`data directory: ${join(ROOT, ".vantage")} will be created`);
  });

  it("is the command of the package", () => {
    const { bin } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { bin: unknown };
    expect(bin).toEqual({ vantage: "deploy/vantage" });
  });
});

describe("finding the clone", () => {
  const ran = (cwd: string, ...words: readonly string[]) =>
    `v24.1.0 in ${cwd}:\n${[join(clone, "shared/client/main.ts"), ...words].join("\n")}\n`;
  beforeEach(() => install());

  it("runs the clone's program in the caller's directory, with unchanged arguments", () => {
    const words = ["ssl", "two words", "*", "", "$HOME"];
    expect(run(join(clone, "deploy/vantage"), words).stdout).toBe(ran(place, ...words));
    expect(run("./deploy/vantage", ["ip"], { cwd: clone }).stdout).toBe(ran(clone, "ip"));
  });

  it.each(["dash", "bash", "sh"])("works as a script of %s", (shell) => {
    const { status, stdout } = run(shell, ["deploy/vantage", "ip"], { cwd: clone });
    expect([status, stdout]).toEqual([0, ran(clone, "ip")]);
  });

  it("works through absolute, relative and chained links, and through PATH", () => {
    mkdirSync(join(place, "bin"));
    symlinkSync(join(clone, "deploy/vantage"), join(place, "bin/absolute"));
    symlinkSync("../a clone's place/deploy/vantage", join(place, "bin/vantage"));
    symlinkSync("bin/vantage", join(place, "chained"));
    symlinkSync(clone, join(place, "current"));
    for (const file of ["bin/absolute", "bin/vantage", "chained", "current/deploy/vantage"]) {
      expect(run(join(place, file), ["ip"]).stdout, file).toBe(ran(place, "ip"));
      expect(run(`./${file}`, ["ip"]).stdout, file).toBe(ran(place, "ip"));
    }
    expect(run("vantage", ["ip"], { path: `${place}/bin:${SYSTEM}`, cwd: "/" }).stdout).toBe(ran("/", "ip"));
  });

  it.skipIf(process.getuid?.() !== 0)("works for a user who is not the clone's owner", () => {
    chmodSync(place, 0o755);
    expect(run(join(clone, "deploy/vantage"), ["ip"], { uid: 65_534 }).stdout).toBe(ran(place, "ip"));
  });
});

describe("finding Node", () => {
  const own = () => join(place, "bin/node");
  const path = () => `${place}/bin:${SYSTEM}`;

  it("prefers the clone's own", () => {
    install("v24.1.0");
    node(own(), "v26.0.0");
    expect(run(join(clone, "deploy/vantage"), [], { path: path() }).stdout).toMatch(/^v24\.1\.0 /);
  });

  it.each(["v24.0.0", "v25.3.1", "v100.0.0"])("uses %s on PATH if the clone's cannot run", (version) => {
    install("v24.1.0");
    program(join(clone, "node_modules/.bin/node"), "exit 127");
    node(own(), version);
    expect(run(join(clone, "deploy/vantage"), [], { path: path() }).stdout).toMatch(new RegExp(`^${version} `));
  });

  it.each(["v20.20.2", "v9.0.0", "nonsense"])("refuses %s, and says in one line what is needed", (version) => {
    install("v24.1.0");
    rmSync(join(clone, "node_modules/.bin/node"));
    node(own(), version);
    const { status, stdout, stderr } = run(join(clone, "deploy/vantage"), ["ip"], { path: path() });
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^vantage: Node\.js 24 or newer is required, but [^\n]+ run 'npm ci' in [^\n]+\n$/);
  });
});

describe("a clone that is not installed", () => {
  const path = () => `${place}/bin:${SYSTEM}`;

  it("is installed first, with npm's output on stderr, and only once", () => {
    node(join(place, "ready"), "v24.1.0");
    program(
      join(place, "bin/npm"),
      'echo "npm $* in $(pwd)"',
      'mkdir -p node_modules/.bin && cp ../ready node_modules/.bin/node && echo "{}" > node_modules/.package-lock.json',
    );
    const first = run(join(clone, "deploy/vantage"), ["ip"], { path: path() });
    expect(first.stderr).toBe(`vantage: installing the dependencies of ${clone}\nnpm ci in ${clone}\n`);
    expect(first.stdout).toMatch(/^v24\.1\.0 in .*main\.ts\nip\n$/s);
    // The lockfile is newer than the installation, which other processes can be using: it stays unchanged.
    writeFileSync(join(clone, "package-lock.json"), "{}");
    expect(run(join(clone, "deploy/vantage"), ["ip"], { path: path() })).toEqual({ ...first, stderr: "" });
  });

  it("says what to run if the installation fails", () => {
    program(join(place, "bin/npm"), "echo no network >&2; exit 1");
    const { status, stdout, stderr } = run(join(clone, "deploy/vantage"), ["ip"], { path: path() });
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toContain(`no network\nvantage: the installation failed: run 'npm ci' in ${clone} `);
  });

  it("says what is missing if there is no npm", () => {
    const tools = join(place, "tools");
    mkdirSync(tools);
    for (const name of ["sh", "readlink"]) symlinkSync(join("/bin", name), join(tools, name));
    const { status, stderr } = run(join(clone, "deploy/vantage"), ["ip"], { path: tools });
    expect(status).toBe(1);
    expect(stderr).toMatch(/^vantage: .* has no dependencies installed and npm is not on PATH: [^\n]+\n$/);
  });

  it("tells a user without write permission who can install it", () => {
    chmodSync(place, 0o755);
    program(join(place, "bin/npm"), "exit 9");
    chmodSync(clone, 0o555);
    // Root can write everywhere.
    const user = process.getuid?.() === 0 ? { uid: 65_534 } : {};
    const { status, stderr } = run(join(clone, "deploy/vantage"), ["ip"], { path: path(), ...user });
    chmodSync(clone, 0o755);
    expect(status).toBe(1);
    expect(stderr).toBe(
      `vantage: ${clone} has no dependencies installed: run 'npm ci' there as a user who can write to it\n`,
    );
  });
});
