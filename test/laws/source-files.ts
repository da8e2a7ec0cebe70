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
  /** Those of them that are loaded at run time: not by `import type` and `export type`, nor by `{ type A }` alone. */
  readonly loads: readonly string[];
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
  const clauses = Array.from(
    withoutComments.matchAll(
      /(?:^|\s)(?:import|export)\s([^"';]*?)from\s+"([^"]+)"|import\("([^"]+)"\)|^import\s+"([^"]+)"/gm,
    ),
    ([, names = "", from, dynamic, bare]) => ({ names, module: resolve(path, from ?? dynamic ?? bare ?? "") }),
  );
  const imports = clauses.map(({ module }) => module);
  const loads = clauses.filter(({ names }) => !isTypeOnly(names)).map(({ module }) => module);
  const code = withoutComments.replaceAll(/"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g, '""');
  return { path, text, code, lines: text.split("\n").length - 1, imports, loads };
}

/** Whether what stands between `import` and `from` names types alone. */
function isTypeOnly(names: string): boolean {
  if (/^type\s/.test(names)) return true;
  const list = /^\{([^}]*)\}\s*$/.exec(names)?.[1]?.split(",") ?? [];
  return list.length > 0 && list.every((name) => /^\s*(?:type\s|$)/.test(name));
}

function resolve(from: string, specifier: string): string {
  if (specifier.startsWith("#")) return specifier.slice(1);
  if (specifier.startsWith(".")) return relative(ROOT, join(ROOT, dirname(from), specifier));
  return specifier;
}
