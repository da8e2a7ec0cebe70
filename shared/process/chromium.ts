import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";

const PROGRAMS = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];

/**
 * Finds the browser to run: the configured program, else the first of the usual names in `searchPath` (directories).
 * null if none is executable. Checks a few file names and starts no program.
 */
export function findChromium(configured: string | null, searchPath: readonly string[]): string | null {
  const candidates =
    configured === null ? searchPath.flatMap((folder) => PROGRAMS.map((name) => join(folder, name))) : [configured];
  return candidates.find(isProgram) ?? null;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** Returns the absolute directories of a PATH. */
export function searchPathOf(path: string | undefined): readonly string[] {
  return (path ?? "").split(delimiter).filter((folder) => folder.startsWith("/"));
}
