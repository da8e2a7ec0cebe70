/** Age in milliseconds, by the database's time, after which a replica's sign of life means that the replica is dead. */
export const DEAD_MS = 5_000;

/** Returns the time before which a replica must have been last seen to be dead. */
export function deadBefore(now: Date): Date {
  return new Date(now.getTime() - DEAD_MS);
}
