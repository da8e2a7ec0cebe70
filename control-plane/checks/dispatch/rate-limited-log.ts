/** A log for lines that unauthenticated clients cause. */
export interface RateLimitedLog {
  warn(fields: object, message: string): void;
  close(): void;
}

/** Target of the lines, with pino's signature. */
interface Target {
  warn(fields: object, message: string): void;
}

/**
 * Creates a rate-limited log: at most `most` lines in a window of `windowMs` milliseconds, and at its end one line with
 * the number of suppressed lines.
 */
export function createRateLimitedLog(log: Target, most = 100, windowMs = 60_000): RateLimitedLog {
  let lines = 0;
  const timer = setInterval(() => {
    if (lines > most) log.warn({ left_out: lines - most }, "further lines of this kind were not logged");
    lines = 0;
  }, windowMs);
  timer.unref();
  return {
    warn(fields, message) {
      lines += 1;
      if (lines <= most) log.warn(fields, message);
    },
    close: () => clearInterval(timer),
  };
}
