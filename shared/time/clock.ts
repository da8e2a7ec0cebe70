/** The time, passed in from main so that tests can control it. */
export interface Clock {
  /**
   * Returns the wall clock's time. In production it is the database's time, never the host's, because hosts disagree
   * and deadlines must not.
   */
  now(): Date;
  /** Returns milliseconds with a fraction from an arbitrary start. Never jumps. For durations and deadlines. */
  monotonic(): number;
}

/** Cryptographic randomness, passed in from main so that tests can control it. */
export interface Random {
  /** Returns `count` random bytes. */
  bytes(count: number): Uint8Array;
}
