/** A problem that the operator must solve: one line with the cause and the remedy. */
export interface Problem {
  readonly ok: false;
  readonly line: string;
}

/** Creates a problem. */
export function problem(line: string): Problem {
  return { ok: false, line };
}
