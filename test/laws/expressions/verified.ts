import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "#test/laws/source-files.ts";

const FILE = join(ROOT, "test/laws/expressions/verified.json");

/** Digests of the expressions that were found linear. */
export function readVerified(): ReadonlySet<string> {
  return new Set(JSON.parse(readFileSync(FILE, "utf8")) as string[]);
}

/** Keeps them, sorted. */
export function writeVerified(digests: Iterable<string>): void {
  writeFileSync(FILE, `${JSON.stringify([...digests].toSorted(), null, 2)}\n`);
}
