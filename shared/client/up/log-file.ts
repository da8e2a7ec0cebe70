import { closeSync, copyFileSync, openSync, readSync, renameSync, statSync, truncateSync } from "node:fs";

/** The size above which a log is rotated, octets; one earlier part is kept. */
const MAX_BYTES = 50 * 1024 * 1024;
const CHECK_EVERY_MS = 10_000;

/** Renames an earlier run's log to `<file>.1`. */
export function rotateLog(file: string): void {
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0) renameSync(file, `${file}.1`);
}

/** Opens a log for a child, in append mode: after a truncation the child continues at offset 0. */
export function openLog(file: string): number {
  return openSync(file, "a", 0o600);
}

/** Keeps logs below `maxBytes` while children write to them; returns a function that stops this. */
export function boundLogs(files: readonly string[], maxBytes = MAX_BYTES, everyMs = CHECK_EVERY_MS): () => void {
  const timer = setInterval(() => {
    for (const file of files) {
      if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) <= maxBytes) continue;
      copyFileSync(file, `${file}.1`);
      truncateSync(file);
    }
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}

/** Returns a log's last line: plain text, or the message of a JSON line. At most 500 characters. */
export function readLastLine(file: string): string {
  const tail = Buffer.alloc(8_192);
  let length = 0;
  try {
    const log = openSync(file, "r");
    length = readSync(log, tail, 0, tail.length, Math.max(0, statSync(file).size - tail.length));
    closeSync(log);
  } catch {
    return "";
  }
  const lines = tail.toString("utf8", 0, length).trim().split("\n");
  // An uncaught exception ends with Node's own version; its message is above the stack.
  const crashed = lines.at(-1)?.startsWith("Node.js v");
  const line = (crashed && lines.findLast((each) => /^(?:Uncaught )?\w*Error\b/.test(each))) || (lines.at(-1) ?? "");
  return messageOf(line).slice(0, 500);
}

function messageOf(line: string): string {
  if (!line.startsWith("{")) return line;
  try {
    const { msg, err } = JSON.parse(line) as { msg?: unknown; err?: { message?: unknown } };
    return [msg, err?.message].filter((part) => typeof part === "string").join(": ");
  } catch {
    return line;
  }
}
