import { whyImpure } from "#test/laws/pure-files.ts";
import { isStore, roomOf, type SourceFile } from "#test/laws/source-files.ts";

/** A file with fewer lines is small. */
const SMALL = 50;
/** The largest file that a merge may make: its importer's lines and its own. */
const FULL = 230;
/** A file that takes so many others of its folder, or alone takes so many, is a list of them: each entry has a file. */
const LISTED = 4;

/**
 * Small files that one file of the product alone imports, a file of their own room that has space for them. A reader
 * crosses two files there for one thought. Apart stay, however small: a store, an entry of a list, and what a test
 * loads without its importer's sockets, processes and clocks or without starting its importer's process. Pure.
 */
export function findSmallFiles(product: readonly SourceFile[], tests: readonly SourceFile[]): readonly string[] {
  const importers = importersOf(product);
  const tested = new Set(tests.flatMap(({ imports }) => imports));
  const impure = findImpure([...product, ...tests]);
  const isList = ({ path, imports }: SourceFile): boolean => {
    const own = [...new Set(imports)].filter((name) => importers.has(name));
    const alone = own.filter((name) => importers.get(name)?.length === 1);
    const beside = own.filter((name) => folderOf(name) === folderOf(path));
    return Math.max(alone.length, beside.length) >= LISTED;
  };
  const staysForTests = (path: string, importer: string): boolean =>
    tested.has(path) && ((!impure.has(path) && impure.has(importer)) || !importers.has(importer));
  const belongsToImporter = ({ path, lines }: SourceFile): boolean => {
    const [importer, ...others] = importers.get(path) ?? [];
    if (importer === undefined || others.length > 0 || isStore(path)) return false;
    if (lines >= SMALL || lines + importer.lines > FULL || roomOf(importer.path) !== roomOf(path)) return false;
    return !isList(importer) && !staysForTests(path, importer.path);
  };
  return product.filter(belongsToImporter).map(({ path }) => path);
}

function importersOf(files: readonly SourceFile[]): ReadonlyMap<string, readonly SourceFile[]> {
  const importers = new Map<string, SourceFile[]>();
  for (const file of files)
    for (const name of new Set(file.imports)) importers.set(name, [...(importers.get(name) ?? []), file]);
  return importers;
}

/** The files that open sockets, start processes or change global state, themselves or over what they load. */
function findImpure(files: readonly SourceFile[]): ReadonlySet<string> {
  const loaders = new Map<string, string[]>();
  for (const { path, loads } of files)
    for (const name of loads) loaders.set(name, [...(loaders.get(name) ?? []), path]);
  const impure = new Set(files.filter((file) => whyImpure(file) !== null).map(({ path }) => path));
  for (const path of impure) for (const loader of loaders.get(path) ?? []) impure.add(loader);
  return impure;
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}
