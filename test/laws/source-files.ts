import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

/** The clone's own root. */
export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** One source file of the project. */
export interface SourceFile {
  /** Relative to the root, with forward slashes. */
  readonly path: string;
  readonly text: string;
  /** The text without comments and the contents of strings and templates. */
  readonly code: string;
  readonly lines: number;
  /** Modules it names in import and export clauses and dynamic imports: ours as paths from the root, others as written. */
  readonly imports: readonly string[];
}

const OURS = ["control-plane", "probe-agent", "shared", "deploy", "test"];

/** Every TypeScript file of the project but the generated protocol. */
export function readSourceFiles(rooms: readonly string[] = OURS): readonly SourceFile[] {
  return rooms.flatMap((room) =>
    readdirSync(join(ROOT, room), { recursive: true, encoding: "utf8" })
      .filter((name) => /(?<!\.d)\.ts$/.test(name) && !name.startsWith("protocol/") && !name.includes("node_modules"))
      .map((name) => readSourceFile(join(room, name))),
  );
}

function readSourceFile(path: string): SourceFile {
  const text = readFileSync(join(ROOT, path), "utf8");
  const withoutComments = text.replaceAll(/^\s*\/\*\*?[\s\S]*?\*\/|^\s*\/\/.*$|\s\/\/ .*$/gm, "");
  const imports = Array.from(
    withoutComments.matchAll(
      /(?:^|\s)(?:import|export)\s[^"';]*?from\s+"([^"]+)"|import\("([^"]+)"\)|^import\s+"([^"]+)"/gm,
    ),
    (match) => resolve(path, match[1] ?? match[2] ?? match[3] ?? ""),
  );
  const code = withoutComments.replaceAll(/"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g, '""');
  return { path, text, code, lines: text.split("\n").length - 1, imports };
}

function resolve(from: string, specifier: string): string {
  if (specifier.startsWith("#")) return specifier.slice(1);
  if (specifier.startsWith(".")) return relative(ROOT, join(ROOT, dirname(from), specifier));
  return specifier;
}
