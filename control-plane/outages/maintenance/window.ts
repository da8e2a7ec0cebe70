/** A maintenance window as its user wrote it. */
export interface WindowSettings {
  readonly title: string;
  readonly monitorIds: readonly number[];
  /** It covers the monitors that have one of these tags too. */
  readonly tags: readonly string[];
  /** Start of a window that is open once; the earliest start of a repeated one. */
  readonly startsAt: Date;
  readonly durationSeconds: number;
  /** Recurrence rule (RFC 5545) in upper case; null: once. */
  readonly rrule: string | null;
  /** Name of the time zone in which the rule is read. */
  readonly timezone: string;
  /** Whether status pages show it. */
  readonly isPublic: boolean;
  readonly isCancelled: boolean;
}

/** What a window is at a moment. */
export const STATUSES = ["scheduled", "in_progress", "completed", "cancelled"] as const;
/** One of STATUSES. */
export type Status = (typeof STATUSES)[number];

/** A stored window and what it is now. */
export interface MaintenanceWindow extends WindowSettings {
  readonly id: number;
  readonly status: Status;
  /** The first start after now; null if there is none or the window is cancelled. */
  readonly nextStartsAt: Date | null;
  /** End of the time that it covers now; null if it is not in progress. */
  readonly currentEndsAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Reports whether a window covers a monitor: it names it, or one of the tags that the monitor has now. */
export function covers(
  { monitorIds, tags }: Pick<WindowSettings, "monitorIds" | "tags">,
  monitor: { readonly id: number; readonly tags: readonly string[] },
): boolean {
  return monitorIds.includes(monitor.id) || tags.some((tag) => monitor.tags.includes(tag));
}
