import type { Source, Stage } from "#shared/contracts/outcome.ts";

/** Status of an incident; resolved is the last one. */
export const STATUSES = ["investigating", "identified", "monitoring", "resolved"] as const;
/** One of STATUSES. */
export type Status = (typeof STATUSES)[number];

/** How much the users of a service notice, least first; maintenance: it is planned work. */
export const IMPACTS = ["none", "minor", "major", "critical", "maintenance"] as const;
/** One of IMPACTS. */
export type Impact = (typeof IMPACTS)[number];

/** Why a check failed. */
export interface Fault {
  readonly stage: Stage;
  readonly source: Source;
  /** A stable snake_case word. */
  readonly reason: string;
  /** For people. Can contain text of the target. */
  readonly message: string;
}

/** A location from which the target fails. */
export interface FailingLocation {
  readonly location: string;
  /** The newest fault; null if it is not known. */
  readonly fault: Fault | null;
  /** Present: it is the only one of the monitor's locations that can check. */
  readonly isSole?: true;
}

/** What a monitor checks, as its causes name it. */
export interface MonitorTarget {
  /** Target as its user wrote it. */
  readonly url: string;
  readonly checkType: string;
  readonly settings: {
    readonly timeout_seconds: number;
    readonly port: number | null;
    readonly locations: readonly string[];
  };
}

/** A monitor whose outage becomes an incident. */
export interface IncidentMonitor extends MonitorTarget {
  readonly id: number;
  readonly accountId: number;
  readonly name: string;
}

/** Why a monitor is down. */
export interface Cause {
  /** A stable snake_case word, of the most frequent cause. */
  readonly code: string;
  /** One line of at most 300 characters. */
  readonly message: string;
}

/** A location that failed during an outage, as the API shows it and the database stores it. */
export interface AffectedLocation {
  readonly location: string;
  /** up: it has recovered during the outage. */
  readonly status: "down" | "up";
  /** The newest fault during the outage. */
  readonly error: Fault | null;
}

/** An outage of a monitor, or an incident that a user opened. */
export interface Incident {
  readonly id: number;
  readonly accountId: number;
  /** The monitor as it was when the outage began; null if a user opened the incident. */
  readonly monitor: {
    readonly id: number;
    readonly name: string;
    readonly url: string | null;
    readonly checkType: string;
  } | null;
  /** The monitors that it concerns. */
  readonly monitorIds: readonly number[];
  /** The status pages that it concerns in addition to those of its monitors. */
  readonly pageIds: readonly number[];
  readonly title: string;
  readonly status: Status;
  readonly impact: Impact;
  readonly isPublic: boolean;
  /** The first failing check, or when a user opened it. */
  readonly startedAt: Date;
  /** Never before startedAt. */
  readonly confirmedAt: Date;
  /** The first good check of the recovery; null if the monitor did not recover, and for incidents opened by hand. */
  readonly recoveredAt: Date | null;
  /** Never before confirmedAt; null while it is open. */
  readonly resolvedAt: Date | null;
  /** The first cause of the outage; null if a user opened the incident. */
  readonly cause: Cause | null;
  /** The newest cause of the outage, as it was last seen; equal to `cause` if that has not changed. */
  readonly causeNow: Cause | null;
  readonly locations: readonly AffectedLocation[];
  /** The monitor whose outage holds the notices of this one back; null if none did. */
  readonly suppressedBy: number | null;
  readonly acknowledged: { readonly at: Date; readonly by: string } | null;
  /** Number of its entries. */
  readonly entryCount: number;
}
