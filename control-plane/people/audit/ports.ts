import type { PublicMeasurement } from "#control-plane/checks/measurements/public.ts";
import type { DayTimes } from "#control-plane/outages/history/read/days.ts";
import type { NewestStatusChanges } from "#control-plane/outages/history/read/status-changes.ts";
import type { Point } from "#control-plane/outages/history/points.ts";
import type { MonitorView } from "#control-plane/monitors/serialize.ts";
import type { PlanName } from "#control-plane/core/plans.ts";

/** A part of a list. */
export interface Slice {
  readonly limit: number;
  readonly offset: number;
}

/** Rows of a slice as the API shows them, newest first, and the length of the whole list. */
interface Rows {
  readonly rows: readonly unknown[];
  readonly total: number;
}

/** Lists of the inventory, in the order in which its pages run through them. */
export const INVENTORY = ["monitors", "webhooks", "keys", "status_pages", "changes"] as const;

/** What an export tells about a monitor. */
export interface MonitorFacts {
  readonly view: MonitorView;
  readonly stateChanges: NewestStatusChanges;
  readonly incidents: Rows;
  /** The last UTC days, oldest first, today last. */
  readonly times: DayTimes;
  /** Beginning of the last of these days, Unix milliseconds. */
  readonly today: number;
  /** Checks of these days by location. */
  readonly points: readonly Point[];
}

/** What exports read. Everything belongs to the account: of another account's ids nothing is found. */
export interface AuditSources {
  account(accountId: number): Promise<{ readonly plan: PlanName; readonly email: string | null } | null>;
  monitor(accountId: number, id: number): Promise<MonitorFacts | null>;
  /** Finds a shared check by the id of its public page. */
  check(accountId: number, shareId: string): Promise<PublicMeasurement | null>;
  readonly inventory: Readonly<Record<(typeof INVENTORY)[number], (accountId: number, slice: Slice) => Promise<Rows>>>;
}
