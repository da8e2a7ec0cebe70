import { spawnSync } from "node:child_process";
import { cpSync, existsSync, linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";

const SCRIPT = "deploy/native/build-raw-socket.mjs";
const ROOT = resolve(import.meta.dirname, "../..");

let folder: string;
let clone: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "vantage-build-"));
  clone = join(folder, "a clone");
  mkdirSync(join(clone, "node_modules/raw-socket"), { recursive: true });
  mkdirSync(join(clone, "node/include/node"), { recursive: true });
  mkdirSync(join(clone, "node/bin"));
  writeFileSync(join(clone, "node/include/node/node.h"), "");
  cpSync(join(ROOT, SCRIPT), join(clone, SCRIPT), { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the script with a node-gyp that records its arguments and exits with a status. */
function build(status: number) {
  const gyp = join(folder, "gyp.cjs");
  writeFileSync(
    gyp,
    `const { existsSync, writeFileSync } = require("node:fs");
     const nodedir = process.env.npm_config_nodedir;
     const found = existsSync(nodedir + "/include/node/node.h");
     writeFileSync(${JSON.stringify(join(folder, "seen"))}, JSON.stringify({ nodedir, found, words: process.argv.slice(2) }));
     console.error("gyp ERR! stack no compiler");
     process.exit(${status});`,
  );
  const env = { PATH: process.env["PATH"], npm_config_node_gyp: gyp };
  const ran = spawnSync(node(), [join(clone, SCRIPT)], { env, encoding: "utf8" });
  const seen = JSON.parse(readFileSync(join(folder, "seen"), "utf8")) as Seen;
  return { ...ran, seen };
}

interface Seen {
  readonly nodedir: string;
  readonly found: boolean;
  readonly words: readonly string[];
}

/** Links this Node to a path in the clone; its headers are those next to it. */
function node(): string {
  const own = join(clone, "node/bin/node");
  try {
    linkSync(process.execPath, own);
  } catch {
    // On another file system.
    cpSync(process.execPath, own);
  }
  return own;
}

it("the build gets the headers at a path without spaces, which gyp does not quote, and leaves nothing behind", () => {
  const { status, stderr, seen } = build(0);
  expect([status, stderr]).toEqual([0, ""]);
  expect(seen).toMatchObject({ found: true, words: ["rebuild"] });
  expect(seen.nodedir).not.toMatch(/\s/);
  expect(existsSync(dirname(seen.nodedir))).toBe(false);
});

it("a failed build does not stop the installation, and the output says what agents cannot do", () => {
  const { status, stderr } = build(1);
  expect(status).toBe(0);
  expect(stderr).toBe(
    "vantage: raw-socket was not built (gyp ERR! stack no compiler); agents on this machine support TCP ping only\n",
  );
});
