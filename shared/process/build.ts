import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Gauge, type Registry } from "prom-client";

const CLONE = fileURLToPath(new URL("../..", import.meta.url));
/** A commit hash: SHA-1, or SHA-256 in a repository of that format. */
const COMMIT = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;

/** The running version. */
export interface Build {
  /** Of package.json; that of a package has the number of commits and the commit behind a plus sign. */
  readonly version: string;
  /** The project's page. */
  readonly homepage: string;
  /** The full hash of the commit: that of the package, or the one checked out; "unknown" outside of both. */
  readonly revision: string;
  /** Of the running Node.js, with its leading v. */
  readonly node: string;
}

/** Reads the running version from a few small files; called at the start of a process. */
export function readBuild(clone: string = CLONE): Build {
  const { version, homepage, gitHead } = JSON.parse(readFileSync(join(clone, "package.json"), "utf8")) as {
    version: string;
    homepage: string;
    gitHead?: string;
  };
  return { version, homepage, revision: gitHead ?? readRevision(clone) ?? "unknown", node: process.version };
}

/**
 * Reads the commit of HEAD as gitrepository-layout(5) stores it: HEAD contains a commit, or a reference that is a file or
 * a line of packed-refs. In a linked worktree `.git` is a file with the path of its git directory, and references are in
 * the common one. null if there is none or it is stored in another way.
 */
function readRevision(clone: string): string | null {
  const linked = /^gitdir: (.+)$/.exec(readLine(join(clone, ".git")) ?? "")?.[1];
  const directory = resolve(clone, linked ?? ".git");
  const head = readLine(join(directory, "HEAD")) ?? "";
  const reference = /^ref: (refs\/.+)$/.exec(head)?.[1];
  if (reference === undefined) return COMMIT.test(head) ? head : null;
  const common = resolve(directory, readLine(join(directory, "commondir")) ?? ".");
  const loose = readLine(join(common, reference)) ?? "";
  if (COMMIT.test(loose)) return loose;
  const packed = readText(join(common, "packed-refs")) ?? "";
  const line = packed.split("\n").find((each) => each.endsWith(` ${reference}`));
  const commit = line?.slice(0, line.indexOf(" ")) ?? "";
  return COMMIT.test(commit) ? commit : null;
}

function readLine(path: string): string | null {
  return readText(path)?.split("\n", 1)[0]?.trim() ?? null;
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

/** Registers vantage_build_info: always 1, with the running version in its labels. */
export function registerBuildInfo(registry: Registry, { version, revision, node }: Build): void {
  const gauge = new Gauge({
    name: "vantage_build_info",
    help: "Version of Vantage, its git revision and the version of Node.js as labels; always 1",
    labelNames: ["version", "revision", "node"],
    registers: [registry],
  });
  gauge.set({ version, revision, node }, 1);
}
