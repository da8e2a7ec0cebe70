/**
 * An analysis of untrusted data that can take long: a pure function from one plain value to another. A thread of the
 * agent runs it by its name (probe-agent/threads/analyses/list.ts lists them), so input and output contain neither
 * functions nor instances of classes.
 */
export interface Analysis<Input, Report> {
  readonly name: string;
  readonly analyse: (input: Input) => Report;
}

/** Gives an analysis the name by which threads find it. */
export function defineAnalysis<Input, Report>(
  name: string,
  analyse: (input: Input) => Report,
): Analysis<Input, Report> {
  return { name, analyse };
}
