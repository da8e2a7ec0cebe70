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
  /** The names that it loads of each of those, as exported there; `*` where it takes the whole module. */
  readonly loadedNames: ReadonlyMap<string, readonly string[]>;
}

const OURS = ["control-plane", "probe-agent", "shared", "deploy", "test"];

/** A wing of the control plane, or a room of the agent or of shared: what lies right under one of these folders. */
export function wingOf(path: string): string {
  return path.split("/").slice(0, 2).join("/");
}

/** A room: a folder of a wing, or the wing itself for its own files; elsewhere what wingOf says. */
export function roomOf(path: string): string {
  const parts = path.split("/");
  return parts[0] === "control-plane" && parts.length > 3 ? parts.slice(0, 3).join("/") : wingOf(path);
}

/** Reports whether a file is one of statements: a noun's store, or a part of it (`events-store.ts`). */
export function isStore(path: string): boolean {
  return /(^|\/)([a-z-]+-)?store\.ts$/.test(path);
}

/** The files of each room. They are read once in a process, because reading all takes half a second. */
const known = new Map<string, readonly SourceFile[]>();

/** Every TypeScript file of the project but the generated protocol. */
export function readSourceFiles(rooms: readonly string[] = OURS): readonly SourceFile[] {
  return rooms.flatMap((room) => {
    const files = known.get(room) ?? readRoom(room);
    known.set(room, files);
    return files;
  });
}

function readRoom(room: string): readonly SourceFile[] {
  return readdirSync(join(ROOT, room), { recursive: true, encoding: "utf8" })
    .filter((name) => /(?<!\.d)\.ts$/.test(name) && name !== "protocol/probe.ts" && !name.includes("node_modules"))
    .map((name) => readSourceFile(join(room, name)));
}

function readSourceFile(path: string): SourceFile {
  return parseSourceFile(path, readFileSync(join(ROOT, path), "utf8"));
}

/** Reads the text of a source file at this path, relative to the root. Pure. */
export function parseSourceFile(path: string, text: string): SourceFile {
  const withoutComments = text.replaceAll(/^\s*\/\*\*?[\s\S]*?\*\/|^\s*\/\/.*$|\s\/\/ .*$/gm, "");
  const clauses = Array.from(
    withoutComments.matchAll(
      /(?:^|\s)(?:import|export)\s([^"';]*?)from\s+"([^"]+)"|import\("([^"]+)"\)|^import\s+"([^"]+)"/gm,
    ),
    ([, names = "", from, dynamic, bare]) => ({ names, module: resolve(path, from ?? dynamic ?? bare ?? "") }),
  );
  const imports = clauses.map(({ module }) => module);
  const loaded = clauses.filter(({ names }) => !isTypeOnly(names));
  const loads = loaded.map(({ module }) => module);
  const loadedNames = new Map<string, readonly string[]>();
  for (const { names, module } of loaded)
    loadedNames.set(module, [...(loadedNames.get(module) ?? []), ...namesOf(names)]);
  // An attribute in a template of HTML has quotes too, and its value is code.
  const code = withoutComments.replaceAll(/"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g, (quoted) =>
    quoted.includes("${") ? quoted : '""',
  );
  return { path, text, code, lines: text.split("\n").length - 1, imports, loads, loadedNames };
}

/** Reports whether the clause between `import` and `from` names only types. */
function isTypeOnly(names: string): boolean {
  if (/^type\s/.test(names)) return true;
  const list = /^\{([^}]*)\}\s*$/.exec(names)?.[1]?.split(",") ?? [];
  return list.length > 0 && list.every((name) => /^\s*(?:type\s|$)/.test(name));
}

/** The exported names that a clause loads: `*` for the whole module. */
function namesOf(clause: string): readonly string[] {
  const list = /^\{([^}]*)\}\s*$/.exec(clause)?.[1];
  if (list === undefined) return ["*"];
  const names = list.split(",").map((name) => name.trim());
  return names.filter((name) => name !== "" && !name.startsWith("type ")).map((name) => name.split(" ")[0] ?? name);
}

function resolve(from: string, specifier: string): string {
  if (specifier.startsWith("#")) return specifier.slice(1);
  if (specifier.startsWith(".")) return relative(ROOT, join(ROOT, dirname(from), specifier));
  return specifier;
}
