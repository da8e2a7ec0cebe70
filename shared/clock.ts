/** The time, passed in from main so that tests can control it. */
export interface Clock {
  /** Wall clock. In production the database's time, never the host's: hosts disagree, and deadlines must not. */
  now(): Date;
  /** Milliseconds with a fraction, from an arbitrary start; never jumps. For durations and deadlines. */
  monotonic(): number;
}

/** Cryptographic randomness, passed in from main so that tests can control it. */
export interface Random {
  /** Returns `count` random bytes. */
  bytes(count: number): Uint8Array;
}
