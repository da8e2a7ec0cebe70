/** Something a person has to put right: one line that says what and how. */
export interface Problem {
  readonly ok: false;
  readonly line: string;
}

/** A problem as data. */
export function problem(line: string): Problem {
  return { ok: false, line };
}
