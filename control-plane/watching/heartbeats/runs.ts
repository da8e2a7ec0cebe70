/** A run that has started and not ended. */
export interface OpenRun {
  /** Id that its start named; null: none. */
  readonly rid: string | null;
  /** Unix milliseconds. */
  readonly startedAt: number;
}

/** Maximum number of open runs of a heartbeat. A further start replaces the oldest. */
const MOST_OPEN = 20;

/** Adds the start of a run. A second start with the same id, or without one, begins the run again. */
export function startRun(runs: readonly OpenRun[], run: OpenRun): readonly OpenRun[] {
  return [...runs.filter(({ rid }) => rid !== run.rid), run].slice(-MOST_OPEN);
}

/**
 * Ends a run. Returns the runs that are still open, and when the run had started; null if its start is not known.
 *
 * A ping with an id ends the run of that id. If there is none, and also if the ping has no id, it ends the run without
 * an id. A ping without an id ends every run if there is no such run: a job that reports its start by id and its end
 * without one must not be late for ever.
 */
export function endRun(
  runs: readonly OpenRun[],
  rid: string | null,
): { readonly runs: readonly OpenRun[]; readonly startedAt: number | null } {
  const ended = runs.find((run) => run.rid === rid) ?? runs.find((run) => run.rid === null);
  if (ended !== undefined) return { runs: runs.filter((run) => run !== ended), startedAt: ended.startedAt };
  if (rid !== null) return { runs, startedAt: null };
  const [only, ...others] = runs;
  return { runs: [], startedAt: others.length === 0 ? (only?.startedAt ?? null) : null };
}

/** Returns open runs as JSON. */
export function encodeRuns(runs: readonly OpenRun[]): string {
  return JSON.stringify(runs.map(({ rid, startedAt }) => [rid, startedAt]));
}

/** Reads what encodeRuns wrote. */
export function decodeRuns(text: string): readonly OpenRun[] {
  if (text === "[]") return [];
  const stored = JSON.parse(text) as readonly (readonly [string | null, number])[];
  return stored.map(([rid, startedAt]) => ({ rid, startedAt }));
}
