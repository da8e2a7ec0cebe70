import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";

/**
 * mkdir -p, every new directory for its owner alone (0700). Node's own recursive mkdir never returns under a file
 * system that cannot make directories, /proc for one; this throws.
 */
export function makeDirectory(path: string): void {
  if (existsSync(path)) return;
  makeDirectory(dirname(path));
  mkdirSync(path, { mode: 0o700 });
}
