import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOMS, ruleExpressions, type Gathered } from "#test/laws/expressions/gather.ts";
import { keyOf, parseExpressions, type Expression } from "#test/laws/expressions/parse.ts";
import { ROOT } from "#test/laws/source-files.ts";

/** A change is not longer: `npm run test:expressions -- --all` checks what is older. */
const COMMITS = 50;
const RULES = "probe-agent/data/tech";
const MOST_BYTES = 256 * 1024 * 1024;

/**
 * Returns the expressions that the newest commits add, and the files that are not committed yet: those of files with new
 * content, without those that a file with old content had. Each is in the result once. Null: this is no clone with git.
 */
export function addedExpressions({ expressions }: Gathered): readonly Expression[] | null {
  const base = findBase();
  if (base === null) return null;
  const old = readTree(base);
  const paths = [...new Set(expressions.filter((one) => !isRule(one)).map(({ place }) => pathOf(place)))];
  const ids = git(["hash-object", "--stdin-paths"], paths.join("\n")).trim().split("\n");
  const oldIds = new Set(old.values());
  const isChanged = new Set(paths.filter((_, index) => !oldIds.has(ids[index] ?? "")));
  const gone = [...old].filter(([path, id]) => /\.(?:ts|mjs|js)$/.test(path) && !ids.includes(id));
  const known = new Set(
    expressionsAt(
      base,
      gone.map(([path]) => path),
    ).map(keyOf),
  );
  const added = expressions.filter(
    (one) => (isRule(one) || isChanged.has(pathOf(one.place))) && !known.has(keyOf(one)),
  );
  return [...new Map(added.map((one) => [keyOf(one), one])).values()];
}

/** The commit before the newest ones, or the oldest that is here. */
function findBase(): string | null {
  try {
    const newest = git(["rev-list", `--max-count=${COMMITS + 1}`, "HEAD"])
      .trim()
      .split("\n");
    return newest.at(-1) ?? null;
  } catch {
    return null;
  }
}

/** Paths of the product at a commit, with the ids of their contents. */
function readTree(commit: string): ReadonlyMap<string, string> {
  const lines = git(["ls-tree", "-r", commit, "--", ...ROOMS])
    .trim()
    .split("\n");
  return new Map(lines.map((line) => [line.split("\t")[1] ?? "", line.split(/\s/)[2] ?? ""]));
}

/** The expressions of files at a commit, and of its technology rules as the present code compiles them. */
function expressionsAt(commit: string, paths: readonly string[]): readonly Expression[] {
  const folder = mkdtempSync(join(tmpdir(), "vantage-expressions-"));
  try {
    const archive = execFileSync("git", ["archive", commit, ...ROOMS], { cwd: ROOT, maxBuffer: MOST_BYTES });
    execFileSync("tar", ["-x", "-C", folder], { input: archive });
    const texts = paths.map((path) => [path, readFileSync(join(folder, path), "utf8")] as const);
    return [
      ...texts.flatMap(([path, text]) => parseExpressions(path, text).expressions),
      ...ruleExpressions(join(folder, RULES)),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const isRule = ({ place }: Expression): boolean => place.startsWith("technology rule");
const pathOf = (place: string): string => place.replace(/:\d+$/, "");

function git(words: readonly string[], input = ""): string {
  return execFileSync("git", words, { cwd: ROOT, input, encoding: "utf8", maxBuffer: MOST_BYTES });
}
