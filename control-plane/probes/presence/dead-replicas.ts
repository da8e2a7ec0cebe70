/** Milliseconds: a replica whose sign of life is older than this, by the database's time, is dead. */
export const DEAD_MS = 5_000;

/** Replicas last seen before this are dead. */
export function deadBefore(now: Date): Date {
  return new Date(now.getTime() - DEAD_MS);
}
