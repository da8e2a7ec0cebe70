import { showHiddenInLines } from "#shared/text/hidden-characters.ts";
import { pino, type DestinationStream, type Level, type Logger } from "pino";

/** Options of the log. */
export interface LogOptions {
  /** The least severe level that is written; info, the default, writes one line per request. */
  readonly level?: Level;
  /** The destination of lines; by default standard output, buffered for 100 ms. */
  readonly destination?: DestinationStream;
}

/**
 * Creates the process's log: JSON lines with ISO 8601 times and without credentials in any field. Hidden characters are
 * escaped, because people read the lines in terminals.
 */
export function createLog({ level = "info", destination }: LogOptions = {}): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: (fields) => redact(fields, 0) },
      hooks: { streamWrite: showHiddenInLines },
      serializers: { err: (error: unknown) => describeError(error, 0) },
    },
    destination ?? gather(1),
  );
}

const GATHERED_CHARACTERS = 65_536;
const GATHERED_MS = 100;

/** A destination that can be flushed. */
export interface FlushableStream extends DestinationStream {
  /** Calls `done` when all lines so far were passed to the operating system. */
  flush(done?: (error?: Error) => void): void;
}

/**
 * Buffers lines for a file descriptor or path and writes large pieces, because single writes would slow down requests. A
 * line waits 100 ms at most. No line is lost when the process ends by itself or in flush(). process.exit() alone may
 * lose a piece that is being written: use `flush(() => process.exit())`.
 */
export function gather(dest: number | string): FlushableStream {
  let lines = "";
  let timer: NodeJS.Timeout | null = null;

  function pass(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (lines !== "") output.write(lines);
    lines = "";
  }

  // Runs before pino's own exit handler, which writes the stream's buffer.
  process.on("exit", pass);
  // minLength 1 writes immediately. 0 does so too, but then flush() waits for nothing. If the reader is stuck, lines
  // beyond maxLength are dropped, so that memory stays bounded.
  const output = pino.destination({ dest, sync: false, minLength: 1, maxLength: 16_777_216 });

  return {
    write(line) {
      lines += line;
      if (lines.length >= GATHERED_CHARACTERS) pass();
      else timer ??= setTimeout(pass, GATHERED_MS);
    },
    flush(done) {
      pass();
      output.flush(done);
    },
  };
}

/** Fields that are redacted at any depth: credentials, compared without case, hyphens and underscores. */
const SECRET = new Set([
  "authorization",
  "cookie",
  "setcookie",
  "xapikey",
  "apikey",
  "key",
  "secret",
  "password",
  "token",
  "admintoken",
  "jointoken",
  "masterkey",
  "databaseurl",
]);
const DEEPEST = 5;
/** Cache: whether a field name is in SECRET. Lines repeat a few names. */
const verdicts = new Map<string, boolean>();
const MOST_VERDICTS = 1_000;

// pino's own redaction matches paths instead of names and costs more than a whole request.
function redact(fields: Record<string, unknown>, depth: number): Record<string, unknown> {
  let copy: Record<string, unknown> | null = null;
  for (const name in fields) {
    const value = fields[name];
    let shown = value;
    if (isSecret(name)) shown = "[redacted]";
    else if (typeof value === "object" && value !== null && !(value instanceof Error)) shown = inside(value, depth);
    if (shown === value) continue;
    copy ??= { ...fields };
    copy[name] = shown;
  }
  return copy ?? fields;
}

function inside(value: object, depth: number): unknown {
  if (value instanceof Date) return value;
  if (depth === DEEPEST) return "[deeper]";
  if (Array.isArray(value)) {
    return value.map((item: unknown) => (typeof item === "object" && item !== null ? inside(item, depth + 1) : item));
  }
  return redact(value as Record<string, unknown>, depth + 1);
}

function isSecret(name: string): boolean {
  let verdict = verdicts.get(name);
  if (verdict === undefined) {
    verdict = SECRET.has(name.toLowerCase().replaceAll(/[-_]/g, ""));
    if (verdicts.size < MOST_VERDICTS) verdicts.set(name, verdict);
  }
  return verdict;
}

interface ErrorLine {
  readonly type: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
  readonly cause?: ErrorLine;
}

/** Converts an error without its own fields, in which drivers put statements and parameters. */
function describeError(error: unknown, depth: number): ErrorLine {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) };
  return {
    type: error.name,
    message: error.message,
    ...("code" in error && typeof error.code === "string" ? { code: error.code } : {}),
    ...(error.stack === undefined ? {} : { stack: error.stack }),
    ...(error.cause !== undefined && depth < 3 ? { cause: describeError(error.cause, depth + 1) } : {}),
  };
}
