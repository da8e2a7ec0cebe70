import { pino, type DestinationStream, type Logger } from "pino";

/** What a log line may never hold, wherever in the line's object it stands: credentials of callers and of ours. */
const SECRETS = [
  "authorization",
  "cookie",
  "set-cookie",
  "x-api-key",
  "api_key",
  "apiKey",
  "key",
  "secret",
  "password",
  "token",
  "adminToken",
  "masterKey",
];

// pino matches paths, not names: the name itself and up to two levels down.
const REDACTED = SECRETS.flatMap((name) => {
  const segment = /^[a-z_]+$/i.test(name) ? name : `["${name}"]`;
  const dotted = segment.startsWith("[") ? segment : `.${segment}`;
  return [segment, `*${dotted}`, `*.*${dotted}`];
});

/** How the log is written. */
export interface LogOptions {
  /** pino's level; info shows one line per request. */
  readonly level?: string;
  /** Where lines go; standard output by default, gathered for up to a second. */
  readonly destination?: DestinationStream;
}

/** The process's log: JSON lines with the time in ISO 8601. */
export function createLog({ level = "info", destination }: LogOptions = {}): Logger {
  // Requests are answered faster than lines are written: gather a few kilobytes, but no longer than a second.
  const stream = destination ?? pino.destination({ dest: 1, sync: false, minLength: 4_096, periodicFlush: 1_000 });
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: REDACTED, censor: "[redacted]" },
      serializers: { err: describeError },
    },
    stream,
  );
}

interface ErrorLine {
  readonly type: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
  readonly cause?: ErrorLine;
}

/** An error without its own fields: drivers put statements and parameters there. */
function describeError(error: unknown, depth = 0): ErrorLine {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) };
  return {
    type: error.name,
    message: error.message,
    ...("code" in error && typeof error.code === "string" ? { code: error.code } : {}),
    ...(error.stack === undefined ? {} : { stack: error.stack }),
    ...(error.cause !== undefined && depth < 3 ? { cause: describeError(error.cause, depth + 1) } : {}),
  };
}
