import type { StateEvent } from "#control-plane/outages/state/events.ts";
import type { MonitorState, Unwatched } from "#control-plane/outages/state/state.ts";

/** Time for which a monitor must lack results before people are notified, in milliseconds. */
const PATIENCE_MS = 600_000;
/** Time between two looks at a monitor whose notice is held back, in milliseconds. */
const HELD_MS = 30_000;

/** Whether a monitor has results, after a transition. */
interface WatchedFacts {
  /** Whether enough of its results are fresh to judge it. */
  readonly isWatched: boolean;
  /** The locations without a fresh result. */
  readonly silent: readonly string[];
}

/** What a transition says about the lack of results. */
interface UnwatchedChange {
  readonly unwatched: Unwatched | null;
  /** null: none. */
  readonly event: StateEvent | null;
}

/**
 * Returns since when a monitor lacks results, and the event that is due. The event of a lack is due until somebody was
 * told (hold-notices.ts), and the event of its end only if somebody was.
 */
export function nextUnwatched(
  { unwatched: before }: Pick<MonitorState, "unwatched">,
  { isWatched, silent }: WatchedFacts,
  now: number,
): UnwatchedChange {
  if (isWatched) {
    const event: StateEvent | null = before?.isTold === true ? { kind: "watched", at: now, since: before.since } : null;
    return { unwatched: null, event };
  }
  const unwatched = before ?? { since: now, isTold: false };
  const { since, isTold } = unwatched;
  const isDue = !isTold && now - since >= PATIENCE_MS;
  return { unwatched, event: isDue ? { kind: "unwatched", at: now, since, silent } : null };
}

/** Returns when the notice of a lack of results is due, Unix milliseconds; null: none is to come. */
export function unwatchedDueAt({ unwatched }: Pick<MonitorState, "unwatched">, now: number): number | null {
  if (unwatched === null || unwatched.isTold) return null;
  const dueAt = unwatched.since + PATIENCE_MS;
  return dueAt > now ? dueAt : now + HELD_MS;
}
