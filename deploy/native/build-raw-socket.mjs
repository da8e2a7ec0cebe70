// Builds the raw-socket addon (ICMP) against the headers of the Node that will run it.
//
// npm itself may run on an older Node. npm scripts find the pinned Node 24 first on PATH (node_modules/.bin), so
// process.execPath is the runtime and its prefix contains the headers. Without compiler or headers the agent still works,
// with TCP ping only. This file must parse on old versions of Node.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const addon = join(root, "node_modules", "raw-socket");

/** Prints the consequence in one line and ends without failing the installation. */
function warn(reason) {
  console.warn(`vantage: raw-socket was not built (${reason}); agents on this machine support TCP ping only`);
  process.exit(0);
}

const prefix = dirname(dirname(realpathSync(process.execPath)));
if (!existsSync(addon)) warn("the package is missing");
if (!existsSync(join(prefix, "include", "node", "node.h"))) warn("the running Node has no headers");
const nodeGyp = process.env.npm_config_node_gyp;
if (!nodeGyp) warn("npm did not name its node-gyp");

// gyp writes the path of the headers into a makefile without quotes, so a path with spaces needs a symbolic link.
const folder = mkdtempSync(join(tmpdir(), "vantage-headers-"));
const headers = join(folder, "node");
symlinkSync(prefix, headers);
const build = spawnSync(process.execPath, [nodeGyp, "rebuild"], {
  cwd: addon,
  // Overrides --nodedir: npm passes a nodedir of the user's own configuration in this variable.
  env: { ...process.env, npm_config_nodedir: headers },
  encoding: "utf8",
});
rmSync(folder, { recursive: true });
if (build.status !== 0) {
  const lines = String(build.stderr ?? build.error ?? "")
    .trim()
    .split("\n");
  warn(lines.find((line) => /ERR! stack|not found|error:/.test(line)) || "the compiler failed");
}
