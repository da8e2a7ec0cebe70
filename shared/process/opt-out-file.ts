import { readFileSync, statSync } from "node:fs";
import { stat, readFile } from "node:fs/promises";
import type { Denials } from "#shared/internet/egress.ts";
import { NO_OPT_OUTS, parseOptOut, type ReadOptOut } from "#shared/internet/opt-out.ts";

const CHECK_EVERY_MS = 10_000;
const MAX_FILE_BYTES = 16 * 1024 * 1024;

/** The opt-out list of a process, kept equal to the file. */
export interface OptOutFile extends Denials {
  close(): void;
}

/** An open list, or the line to print before exiting. */
type OpenOptOutFile =
  | { readonly ok: true; readonly optOut: OptOutFile }
  | { readonly ok: false; readonly line: string };

/**
 * Reads VANTAGE_OPT_OUT_FILE; null denies no target. Checks every 10 s whether it changed and reads it again. If the
 * new content is unusable, calls `warn` and keeps the previous list.
 */
export function openOptOutFile(path: string | null, warn: (line: string) => void): OpenOptOutFile {
  if (path === null) return { ok: true, optOut: { ...NO_OPT_OUTS, close: () => {} } };
  let current: Denials;
  let seen: string;
  try {
    const facts = statSync(path);
    seen = stampOf(facts);
    const read = facts.size > MAX_FILE_BYTES ? TOO_LARGE : parseOptOut(readFileSync(path, "utf8"));
    if (!read.ok) return { ok: false, line: formatProblem(path, read) };
    current = read.denials;
  } catch (error) {
    return { ok: false, line: `VANTAGE_OPT_OUT_FILE ${path} cannot be read: ${String(error)}` };
  }

  async function reloadIfChanged(file: string): Promise<void> {
    const facts = await stat(file);
    const stamp = stampOf(facts);
    if (stamp === seen) return;
    const read = facts.size > MAX_FILE_BYTES ? TOO_LARGE : parseOptOut(await readFile(file, "utf8"));
    seen = stamp;
    if (read.ok) current = read.denials;
    else warn(`${formatProblem(file, read)}; the previous list stays in effect`);
  }

  const timer = setInterval(() => {
    reloadIfChanged(path).catch((error: unknown) => {
      warn(`VANTAGE_OPT_OUT_FILE ${path} cannot be read: ${String(error)}; the previous list stays in effect`);
    });
  }, CHECK_EVERY_MS);
  timer.unref();
  return {
    ok: true,
    optOut: {
      deniesAddress: (ip) => current.deniesAddress(ip),
      deniesName: (name) => current.deniesName(name),
      close: () => clearInterval(timer),
    },
  };
}

const TOO_LARGE: ReadOptOut = { ok: false, line: 1, message: `the file is over ${MAX_FILE_BYTES / 1024 / 1024} MB` };

function formatProblem(path: string, { line, message }: Extract<ReadOptOut, { ok: false }>): string {
  return `VANTAGE_OPT_OUT_FILE ${path}, line ${line}: ${message}`;
}

/** Identifies a version of a file. Editors may replace a file within one clock tick, so size and inode count too. */
function stampOf({ mtimeMs, size, ino }: { mtimeMs: number; size: number; ino: number }): string {
  return `${mtimeMs}/${size}/${ino}`;
}
