const HOUR_MS = 3_600_000;
/** Changes within an hour that are not flapping yet. */
const MOST_CHANGES = 4;

/** Returns the changes of the last hour. Times are Unix milliseconds. */
export function recentChanges(changes: readonly number[], now: number): readonly number[] {
  return changes.every((at) => now - at < HOUR_MS) ? changes : changes.filter((at) => now - at < HOUR_MS);
}

/** Adds a change. More than are needed to see that a monitor is flapping are not kept. */
export function addChange(changes: readonly number[], now: number): readonly number[] {
  return [...changes.slice(-MOST_CHANGES), now];
}

/** Reports whether a monitor with these changes within the last hour is flapping. */
export function areFlapping(changes: readonly number[]): boolean {
  return changes.length > MOST_CHANGES;
}
