import { accessSync, constants, readFileSync, statSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { describeError } from "#shared/contracts/error-code.ts";
import { readModules, type ReadModules } from "#shared/blackbox/read-modules.ts";

/** The modules in use, or the lines that say what is wrong with the file. */
export type LoadedModules =
  | (Extract<ReadModules, { ok: true }> & { readonly ok: true })
  | { readonly ok: false; readonly lines: readonly string[] };

/** Maximum size of a file of modules in octets. */
const MOST_OCTETS = 8 * 1024 * 1024;

/** Reads the modules of a file. Each fault is a line that begins with file, line and column. */
export function loadModulesFile(file: string): LoadedModules {
  let source: string;
  try {
    if (statSync(file).size > MOST_OCTETS) return { ok: false, lines: [`${file}: has more than 8 MB`] };
    source = readFileSync(file, "utf8");
  } catch (error) {
    return { ok: false, lines: [`${file}: cannot be read: ${whyUnreadable(file) ?? describeError(error)}`] };
  }
  const read = readModules(source, whyUnreadable);
  if (read.ok) return read;
  const lines = read.problems.map(({ place, message }) => {
    return `${file}${place === null ? "" : `:${place.line}:${place.column}`}: ${message}`;
  });
  return { ok: false, lines };
}

/** Returns why a file cannot be read, as the end of a sentence; null if it can. */
export function whyUnreadable(file: string): string | null {
  try {
    accessSync(file, constants.R_OK);
    return statSync(file).isDirectory() ? "it is a directory" : null;
  } catch (error) {
    const code = describeError(error);
    return code === "ENOENT" ? "there is no such file" : code === "EACCES" ? "this user may not read it" : code;
  }
}

/** Maximum size of a file that an option names, in octets, if its content is sent to agents. */
const MOST_SENT_OCTETS = 256 * 1024;

/** Returns the content of a file that an option names; or why it cannot be sent, without path and content. */
export async function readOptionFile(file: string): Promise<{ readonly text: string } | { readonly fault: string }> {
  try {
    const { size } = await stat(file);
    if (size > MOST_SENT_OCTETS) return { fault: "it has more than 256 KB" };
    return { text: await readFile(file, "utf8") };
  } catch (error) {
    return { fault: describeError(error) };
  }
}
