/** Lines that strangers cause. */
export interface SparingLog {
  warn(fields: object, message: string): void;
  close(): void;
}

/** Where the lines go: pino's own shape. */
interface Target {
  warn(fields: object, message: string): void;
}

/**
 * A log that does not grow at a stranger's will: `most` lines in a window of `windowMs`, and at its end one that says how
 * many more there were.
 */
export function spareLog(log: Target, most = 100, windowMs = 60_000): SparingLog {
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
