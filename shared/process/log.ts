import { pino, type DestinationStream, type Level, type Logger } from "pino";

/** How the log is written. */
export interface LogOptions {
  /** The least severe level that is written; info, the default, has one line per request. */
  readonly level?: Level;
  /** Where lines go; standard output by default, gathered for a tenth of a second. */
  readonly destination?: DestinationStream;
}

/** The process's log: JSON lines with the time in ISO 8601, and no credentials in any field. */
export function createLog({ level = "info", destination }: LogOptions = {}): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: (fields) => redact(fields, 0) },
      serializers: { err: (error: unknown) => describeError(error, 0) },
    },
    destination ?? gather(1),
  );
}

const GATHERED_CHARACTERS = 65_536;
const GATHERED_MS = 100;

/** A destination that can be waited for. */
export interface FlushableStream extends DestinationStream {
  /** Calls back when everything so far has been handed to the system. */
  flush(done?: (error?: Error) => void): void;
}

/**
 * Writes to a file descriptor or path in large pieces: requests are answered faster than their lines could be written
 * one by one. A line waits a tenth of a second at most. None is lost when the process ends by itself or in flush();
 * process.exit() alone may overtake a piece that is being written: end by `flush(() => process.exit())`.
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

  // Before pino's own exit handler, which writes what the stream holds.
  process.on("exit", pass);
  // minLength 1 writes at once; 0 would do so too, but then flush() waits for nothing. A reader that is stuck costs
  // lines beyond maxLength, not memory without end.
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

/** Fields a line may never show, at any depth: credentials of callers and of ours, whatever their case and hyphens. */
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
/** Whether a field's name is one of the secrets', remembered: lines have few names, and many of each. */
const verdicts = new Map<string, boolean>();
const MOST_VERDICTS = 1_000;

// pino's own redaction matches paths instead of names and costs more than answering the request.
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

/** An error without its own fields: drivers put statements and parameters there. */
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
