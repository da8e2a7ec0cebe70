import { realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, relative, resolve, sep } from "node:path";
import type { SecretSources } from "#shared/client/apply/read-document.ts";
import { readUpTo } from "#shared/client/input-file.ts";
import { describeError } from "#shared/contracts/error-code.ts";
import { quoted } from "#shared/text/quoted.ts";

/** Maximum size of the file of a secret, in bytes. */
const LARGEST = 1024 * 1024;

/**
 * Returns a reader of the files that a document names: those in its folder and in the folders that its user allows, wherever
 * links lead. Somebody else can have written the document, and what it reads is sent to addresses of its choice. Throws if a
 * folder is not there.
 */
export function createSecretFiles(folder: string, allowed: readonly string[]): SecretSources["readFile"] {
  const own = realpathSync(folder);
  const folders = [own, ...allowed.map((one) => realpathSync(one))];
  const read = (path: string): ReturnType<SecretSources["readFile"]> => {
    const needs = `needs the file ${path}, which`;
    try {
      const file = realpathSync(resolve(own, path));
      if (!folders.some((one) => isInside(one, file))) {
        const option = `--allow-files ${quoted(dirname(file))}`;
        return { ok: false, why: `${needs} is outside of the document's folder; allow it with ${option}` };
      }
      if (!statSync(file).isFile()) return { ok: false, why: `${needs} is no file` };
      const bytes = readUpTo(file, LARGEST + 1);
      if (bytes.length > LARGEST) return { ok: false, why: `${needs} is larger than 1 MB` };
      return { ok: true, text: bytes.toString("utf8"), name: file === resolve(own, path) ? path : `${path} (${file})` };
    } catch (error) {
      return { ok: false, why: `${needs} cannot be read (${describeError(error)})` };
    }
  };
  const known = new Map<string, ReturnType<typeof read>>();
  return (path) => {
    const found = known.get(path) ?? read(path);
    known.set(path, found);
    return found;
  };
}

function isInside(folder: string, file: string): boolean {
  const way = relative(folder, file);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
