import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** The parts of package-lock.json that say which packages a package needs. */
interface LockedPackage {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** Files of packages that no program reads: types, source maps, documents, sources of native addons, tests. */
const LEFT_OUT =
  /\.(?:[cm]?ts|tsx|flow|map|md|markdown|tsbuildinfo|gypi?|cc|[ch]|o|d|mk|Makefile)$|(?:^|\/)(?:Makefile|\.deps|\.github|\.bin|example|examples|test|tests|obj\.target)(?:\/|$)/;
/** Licences are kept, whatever their names end with. */
const LICENCE = /(?:^|\/)(?:licen[cs]e|notice|copying)[^/]*$/i;

/**
 * Lists the folders in node_modules of packages and of all that they need, sorted. A package of another platform is not
 * installed, and is left out.
 */
export function listPackages(root: string, names: readonly string[]): readonly string[] {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
    packages: Readonly<Record<string, LockedPackage>>;
  };
  const found = new Set<string>();
  const add = (from: string, name: string): void => {
    const folder = resolvePackage(packages, from, name);
    if (folder === null || found.has(folder) || !existsSync(join(root, folder))) return;
    found.add(folder);
    const { dependencies, optionalDependencies, peerDependencies } = packages[folder] ?? {};
    for (const needed of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
      add(folder, needed);
    }
  };
  for (const name of names) add("", name);
  return [...found].toSorted();
}

/** Finds a package as Node does: in the folder's own node_modules, then in those above it. */
function resolvePackage(packages: Readonly<Record<string, LockedPackage>>, from: string, name: string): string | null {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("/node_modules/")))) {
    const candidate = `${folder === "" ? "" : `${folder}/`}node_modules/${name}`;
    if (Object.hasOwn(packages, candidate)) return candidate;
    if (folder === "") return null;
  }
}

/** Lists the files of a package that belong into an archive, by their paths in the package, without nested packages. */
export function listPackageFiles(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() || entry.isSymbolicLink())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((path) => !path.startsWith("node_modules/"))
    .filter((path) => LICENCE.test(path) || !LEFT_OUT.test(path));
}
