/** What one look at a connection finds. */
export interface WriteSample {
  /** Whether octets wait that the client has not taken. */
  readonly isWaiting: boolean;
  /** Octets that the kernel has taken of this connection's answers, from its begin. */
  readonly taken: number;
}

/** How long a connection has had octets waiting without taking one. */
export interface WriteProgress {
  readonly taken: number;
  /** Looks in a row, after the first, that found no octet taken. */
  readonly quietLooks: number;
}

/**
 * The progress of a connection after another look; undefined where nothing waits. Time is counted in looks and not by a
 * clock: a process that was suspended has given its clients no time, and must not cut them off when it goes on.
 */
export function followWrites(before: WriteProgress | undefined, sample: WriteSample): WriteProgress | undefined {
  if (!sample.isWaiting) return undefined;
  const isQuiet = before !== undefined && before.taken === sample.taken;
  return { taken: sample.taken, quietLooks: isQuiet ? before.quietLooks + 1 : 0 };
}
