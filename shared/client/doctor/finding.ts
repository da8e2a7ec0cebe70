import type { Settings } from "#shared/settings/settings.ts";

/** The result of one check. */
export interface Finding {
  readonly level: "ok" | "warn" | "fail";
  readonly subject: string;
  readonly message: string;
  /** The remedy; absent for level "ok". */
  readonly todo?: string;
}

/** Inputs of the checks. */
export interface Patient {
  readonly settings: Settings;
  /** The data directory, absolute. */
  readonly dataDirectory: string;
  /** The base directory of relative paths. */
  readonly directory: string;
  readonly now: () => Date;
  /** The directories in which programs are searched. */
  readonly searchPath: readonly string[];
}

/** Creates a finding for a check that passed. */
export function ok(subject: string, message: string): Finding {
  return { level: "ok", subject, message };
}

/** Creates a finding for something that works with reduced function or safety. */
export function warn(subject: string, message: string, todo: string): Finding {
  return { level: "warn", subject, message, todo };
}

/** Creates a finding for something that does not work. */
export function fail(subject: string, message: string, todo: string): Finding {
  return { level: "fail", subject, message, todo };
}
