import type { Settings } from "#shared/settings.ts";

/** What one check found. */
export interface Finding {
  readonly level: "ok" | "warn" | "fail";
  readonly subject: string;
  readonly message: string;
  /** What to do about it; absent where all is well. */
  readonly todo?: string;
}

/** What the checks look at. */
export interface Patient {
  readonly settings: Settings;
  /** Lines about settings that are set but not yet in use. */
  readonly notYetUsed: readonly string[];
  /** The data directory, absolute. */
  readonly dataDirectory: string;
  /** What relative paths are relative to. */
  readonly directory: string;
  readonly now: () => Date;
  /** The directories programs are looked for in. */
  readonly searchPath: readonly string[];
}

/** All is well. */
export function ok(subject: string, message: string): Finding {
  return { level: "ok", subject, message };
}

/** It works, but less than it could or not as safely. */
export function warn(subject: string, message: string, todo: string): Finding {
  return { level: "warn", subject, message, todo };
}

/** It will not work. */
export function fail(subject: string, message: string, todo: string): Finding {
  return { level: "fail", subject, message, todo };
}
