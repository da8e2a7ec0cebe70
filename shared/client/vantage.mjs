#!/usr/bin/env node
// The `vantage` command. Parses on old Nodes: where the Node at hand is older than ours, the one that npm installed
// (package node-linux-*) runs the same file again.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { constants } from "node:os";
import { fileURLToPath } from "node:url";

const NEEDED = 24;

if (Number(process.versions.node.split(".")[0]) >= NEEDED) {
  await import("./main.ts");
} else {
  const node = fileURLToPath(new URL("../../node_modules/.bin/node", import.meta.url));
  if (!existsSync(node)) {
    console.error(
      `vantage: Node ${NEEDED} is needed, this is ${process.versions.node}: run npm ci, or install Node ${NEEDED}`,
    );
    process.exit(1);
  }
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("error", (error) => {
    console.error(`vantage: ${node} cannot be run: ${error.message}`);
    process.exit(1);
  });
  child.on("exit", (code, signal) => process.exit(code === null ? 128 + constants.signals[signal] : code));
}
