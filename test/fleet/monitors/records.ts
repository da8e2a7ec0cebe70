/** Verdict of a check, and status of a monitor. */
export type Verdict = "up" | "down" | "unknown";

/** A row with the transaction that wrote it. All times in this file are Unix milliseconds. */
interface Written {
  /** Transaction id: rows with the same one were committed together. */
  readonly tx: number;
  /** Commit time, exact to the microsecond: rows of one monitor were committed in this order. */
  readonly committedAt: number;
}

/** A recorded check. */
export interface CheckRow extends Written {
  readonly monitorId: number;
  readonly location: string;
  readonly checkedAt: number;
  readonly status: Verdict;
  /** The number of the answer it was recorded from (Answer.sending); null: it came without one. */
  readonly sending: number | null;
  readonly lagMs: number;
  readonly missed: number;
  readonly isRecheck: boolean;
}

/** A recorded change of a monitor's status. */
export interface ChangeRow extends Written {
  readonly monitorId: number;
  readonly at: number;
  readonly status: Verdict;
}

/** An incident. */
export interface IncidentRow {
  readonly id: number;
  readonly monitorId: number;
  readonly startedAt: number;
  readonly confirmedAt: number;
  readonly resolvedAt: number | null;
}

/** A line of an incident's timeline. */
export interface EntryRow extends Written {
  readonly id: number;
  readonly incidentId: number;
  readonly kind: string;
}

/** An event. */
export interface EventRow extends Written {
  readonly id: string;
  readonly type: string;
  readonly monitorId: number;
  readonly incidentId: number | null;
}

/** A delivery of an event by mail. */
export interface DeliveryRow {
  readonly id: number;
  readonly eventId: string;
  readonly recipient: string;
  readonly status: string;
  /** It waits on purpose, because its monitor is flapping. */
  readonly isHeld: boolean;
  /** The delivery with which it travels as one mail; null if it is the first or only one. */
  readonly leaderId: number | null;
  /** Attempts whose outcome is not known, because their replica ended. */
  readonly lostAttempts: number;
}

/** A monitor, deleted ones included. */
export interface MonitorRow {
  readonly id: number;
  /** Its number in the script of answers. */
  readonly number: number;
  readonly isActive: boolean;
  readonly locations: readonly string[];
  readonly quorum: "majority" | number;
  readonly retries: number;
  readonly recovery: number;
  readonly intervalMs: number;
  readonly timeoutMs: number;
  /** Addresses that are mailed, until an action names others. */
  readonly recipients: readonly string[];
  /** Status in the present state; null: the monitor was deleted. */
  readonly status: Verdict | null;
  /** When its deletion was certain; null if it was not deleted. */
  readonly deletedAt: number | null;
}

/** The present schedule of a monitor at one location. */
export interface ScheduleEntryRow {
  readonly monitorId: number;
  readonly location: string;
  readonly intervalMs: number;
  readonly phaseMs: number;
  readonly plannedAt: number;
}

/** A write of the runner through the API. `answeredAt` is null if no answer arrived. */
export interface Action {
  readonly kind: "create" | "pause" | "resume" | "retarget" | "rename" | "readdress" | "delete";
  readonly monitorId: number;
  readonly askedAt: number;
  readonly answeredAt: number | null;
  /** Version of the target from then on. */
  readonly version: number;
  /** Addresses that are mailed from then on, if they change. */
  readonly recipients?: readonly string[];
}

/** What a scripted agent was asked and answered. */
export interface Answer {
  /** Number of the answer, unique in the run. */
  readonly sending: number;
  /** Number of the monitor in the script, and version of its target. */
  readonly number: number;
  readonly version: number;
  readonly location: string;
  readonly verdict: Verdict;
}

/** A mail as the mail server received it. */
export interface MailSeen {
  readonly deliveryId: number;
}

/** Everything that a run left behind. */
export interface MonitorHistory {
  readonly monitors: readonly MonitorRow[];
  readonly scheduleEntries: readonly ScheduleEntryRow[];
  readonly checks: readonly CheckRow[];
  readonly changes: readonly ChangeRow[];
  readonly incidents: readonly IncidentRow[];
  readonly entries: readonly EntryRow[];
  readonly events: readonly EventRow[];
  readonly deliveries: readonly DeliveryRow[];
  readonly mails: readonly MailSeen[];
  readonly actions: readonly Action[];
  readonly answers: readonly Answer[];
  /** Verdict that every location of a monitor gave for at least an interval at the end; missing: it was mixed. */
  readonly truth: ReadonlyMap<number, Verdict>;
  /** What the database server logged about each deadlock that it ended: the processes, their statements. */
  readonly deadlocks: readonly string[];
  readonly readAt: number;
}

/** Something that must not have happened. */
export interface Finding {
  readonly rule: string;
  readonly about: unknown;
}
