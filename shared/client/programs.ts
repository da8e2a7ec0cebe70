import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { LAUNCHER } from "#shared/settings/launcher.ts";

/** This clone's root directory. */
export const CLONE = fileURLToPath(new URL("../..", import.meta.url));

/** The absolute path of this clone's launcher. */
export const LAUNCHER_PATH = join(CLONE, LAUNCHER);

/** The programs that the command starts, each with its own main.ts. The client imports no code of theirs. */
export const PROGRAMS = {
  controlPlane: fileURLToPath(new URL("../../control-plane/main.ts", import.meta.url)),
  backups: fileURLToPath(new URL("../../control-plane/backups/main.ts", import.meta.url)),
  agent: fileURLToPath(new URL("../../probe-agent/main.ts", import.meta.url)),
  exporter: fileURLToPath(new URL("../../probe-agent/exporter/main.ts", import.meta.url)),
};

/** Says that a program is not here, in one line; null if it is. The package of an agent has no control plane. */
export function explainMissing(entry: string): string | null {
  return existsSync(entry) ? null : "this package is that of an agent: the package vantage has the control plane";
}

/** The file that ends a program with the process that has started it, for `node --import`; it needs an IPC channel. */
export const END_WITH_PARENT = new URL("end-with-parent.ts", import.meta.url).href;
