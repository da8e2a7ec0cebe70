import type { StateSettings } from "#control-plane/state/settings.ts";
import type { MonitorState, Status } from "#control-plane/state/state.ts";

/** The next reminder of an outage. */
interface Reminder {
  /** Unix milliseconds; null: none. */
  readonly remindAt: number | null;
  /** Whether one is due now. */
  readonly isDue: boolean;
}

const NO_REMINDER: Reminder = { remindAt: null, isDue: false };

/**
 * Returns the next reminder after a transition to `status`. Reminders follow the notice of the outage at equal pauses.
 * Those that were due while nothing was observed are not made up for. None is sent while the status is unknown.
 */
export function nextReminder(
  { repeatMs }: StateSettings,
  { lastKnown: lastKnownBefore, remindAt }: Pick<MonitorState, "lastKnown" | "remindAt">,
  { status, lastKnown }: { readonly status: Status; readonly lastKnown: MonitorState["lastKnown"] },
  now: number,
): Reminder {
  if (repeatMs === null || lastKnown !== "down") return NO_REMINDER;
  const isNew = lastKnownBefore !== "down";
  // The pause may have become shorter, or the clock may have been set back.
  const dueAt = isNew ? now + repeatMs : Math.min(remindAt ?? Infinity, now + repeatMs);
  if (status !== "down" || now < dueAt) return { remindAt: dueAt, isDue: false };
  const missed = Math.floor((now - dueAt) / repeatMs);
  return { remindAt: dueAt + (missed + 1) * repeatMs, isDue: true };
}
