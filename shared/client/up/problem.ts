/** Something a person has to put right: one line that says what and how. */
export interface Problem {
  readonly ok: false;
  readonly line: string;
}

/** A problem as data. */
export function problem(line: string): Problem {
  return { ok: false, line };
}

/** The operating system's name for what went wrong ("EACCES"), or the error's own words. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return "code" in error && typeof error.code === "string" ? error.code : error.message;
}
