import type { MonitorState } from "#control-plane/outages/state/state.ts";
import { isBeingConfirmed } from "#control-plane/outages/state/undecided.ts";

/**
 * What a monitor knows about the one that it depends on. down: its outage is confirmed. failing: a check has failed, and
 * further ones decide. due: it is being checked, or will be in a moment. fine: anything else, also if there is none.
 */
export type Dependency = "down" | "failing" | "due" | "fine";

/** The facts about the monitor that another one depends on. Times are Unix milliseconds. */
interface DependencyFacts {
  readonly state: Pick<MonitorState, "status" | "failing" | "locations">;
  /** Whether a check of it runs now. */
  readonly isChecked: boolean;
  /** When its next check is due; null: none is planned. */
  readonly dueAt: number | null;
}

/** A check that is due within this time can still be waited for, in milliseconds. */
const SOON_MS = 10_000;

/** Judges the monitor that another one depends on. Locations that keep failing alone are known not to decide. */
export function judgeDependency({ state, isChecked, dueAt }: DependencyFacts, now: number): Dependency {
  if (state.status === "down") return "down";
  const isFailing = Array.from(state.locations).some(
    ([location, known]) =>
      known.verdict === "down" && !state.failing.includes(location) && isBeingConfirmed(known, now),
  );
  if (isFailing) return "failing";
  return isChecked || (dueAt !== null && dueAt <= now + SOON_MS) ? "due" : "fine";
}
