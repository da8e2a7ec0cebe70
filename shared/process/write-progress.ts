/** The result of one check of a connection. */
export interface WriteSample {
  /** Whether octets wait for the client. */
  readonly isWaiting: boolean;
  /** Octets of this connection's responses that the kernel has taken since its start. */
  readonly taken: number;
}

/** For how many checks a connection has had octets waiting without taking one. */
export interface WriteProgress {
  readonly taken: number;
  /** Consecutive checks, after the first, in which no octet was taken. */
  readonly quietChecks: number;
}

/**
 * Updates the progress of a connection after a check; undefined if nothing waits. Time is counted in checks instead of
 * by a clock: a process that was suspended gave its clients no time and must not disconnect them when it resumes.
 */
export function followWrites(before: WriteProgress | undefined, sample: WriteSample): WriteProgress | undefined {
  if (!sample.isWaiting) return undefined;
  const isQuiet = before !== undefined && before.taken === sample.taken;
  return { taken: sample.taken, quietChecks: isQuiet ? before.quietChecks + 1 : 0 };
}
